import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { startModelServer, STREAMS, type ModelServer } from "../fakes/model-server/index.ts";
import { makePlace, type Place } from "../harness/gateway-process.ts";
import { enter } from "../harness/device-client.ts";

const API = "openai-completions";
const KEY = "sk-example-0123456789abcdef";
const TOKEN = "token-of-this-test-0123456789";
const FRAMES = [": keep-alive\n\n", ...STREAMS[API]!({ text: ["all ", `well ${KEY}`] })];

/** A gateway's home whose only model is the scripted server. */
function placeWith(server: ModelServer): Place {
  const place = makePlace();
  const model = { id: "large", name: "Large", contextWindow: 100_000, maxTokens: 1_000, input: ["text"], reasoning: false };
  place.configure(
    JSON.stringify({
      gateway: { mode: "local", auth: { mode: "token", token: TOKEN } },
      agents: { defaults: { model: { primary: "acme/large" } } },
      models: { providers: { acme: { baseUrl: server.url, apiKey: KEY, api: API, models: [model] } } },
    }),
  );
  return place;
}

/** Sends a message, waits for the answer, and ends the gateway regularly. Gives the run's id. */
async function askOnce(place: Place, args: readonly string[], env: Record<string, string> = {}): Promise<{ readonly runId: string; readonly text: string }> {
  await using gateway = await place.gateway({ args, env });
  if (gateway.url === undefined) throw new Error(gateway.output());
  await using client = await enter(gateway.url, { token: TOKEN, scopes: ["operator.read", "operator.write"] });
  const runId = crypto.randomUUID();
  const sent = await client.request("chat.send", { sessionKey: "agent:main:main", message: "hello", idempotencyKey: runId });
  if (!sent.ok) throw new Error(JSON.stringify(sent.error));
  const final = await client.next((frame) => frame.event === "chat" && ["final", "error"].includes(String(frame.payload?.["state"])));
  gateway.child.kill("SIGTERM");
  await gateway.exited;
  return { runId, text: JSON.stringify(final.payload) };
}

const linesOf = (file: string): readonly Record<string, unknown>[] =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test("--raw-stream keeps every event of the provider, in order, with the run it belongs to, for the owner's eyes only and without the key", async () => {
  await using server = await startModelServer({ kind: "stream", frames: FRAMES, bytes: 50 });
  const place = placeWith(server);
  const { runId, text } = await askOnce(place, ["--raw-stream"]);
  expect(text).toContain("all well");
  const file = join(place.stateDir, "logs/raw-stream.jsonl");
  const lines = linesOf(file);
  const sent = FRAMES.flatMap((frame) => /^data: (.*)$/m.exec(frame)?.[1] ?? []);
  expect(lines.map(({ data }) => data)).toEqual(
    sent.map((data) => (data.includes(KEY) ? expect.stringMatching(/^(?!.*sk-example-0123456789abcdef).*well /) : data)),
  );
  for (const line of lines) expect(line).toMatchObject({ ts: expect.any(Number) as number, runId, provider: "acme", model: "large", api: API, event: "" });
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("--raw-stream-path says where, is enough by itself, and what is there already stays and becomes private", async () => {
  await using server = await startModelServer({ kind: "stream", frames: FRAMES });
  const place = placeWith(server);
  const file = join(place.home, "here/raw.jsonl");
  mkdirSync(dirname(file));
  writeFileSync(file, '{"before":true}\n', { mode: 0o644 });
  await askOnce(place, ["--raw-stream-path", "here/raw.jsonl"]);
  expect(linesOf(file)[0]).toEqual({ before: true });
  expect(linesOf(file).at(-1)).toMatchObject({ data: "[DONE]" });
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("without the flag nothing is kept; a service asks for it with variables", async () => {
  await using server = await startModelServer({ kind: "stream", frames: FRAMES });
  const place = placeWith(server);
  const file = join(place.home, "raw.jsonl");
  const path = { OPENCLAW_RAW_STREAM_PATH: file };
  await askOnce(place, [], path);
  expect(() => statSync(file)).toThrow("ENOENT");
  expect(() => statSync(join(place.stateDir, "logs/raw-stream.jsonl"))).toThrow("ENOENT");
  await askOnce(place, [], { ...path, OPENCLAW_RAW_STREAM: "1" });
  expect(linesOf(file).at(-1)).toMatchObject({ data: "[DONE]" });
});
