import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { startModelServer, STREAMS, type Behaviour, type ModelServer, type ReceivedRequest } from "../fakes/model-server/index.ts";
import { enter } from "../harness/device-client.ts";
import { makePlace, type Place } from "../harness/gateway-process.ts";

vi.setConfig({ testTimeout: 300_000 });

const API = "openai-completions";
const TOKEN = "token-of-this-test-0123456789";
const SUMMARY = "## Goal\nTo plan the garden.\n\n## Progress\nBeds are dug.\n\n## Next Steps\nSow the beans.";
/** 300 in `OPENCLAW_TEST_TURNS=300 npm test -- test/e2e/small-window.test.ts`. */
const TURNS = Number(process.env["OPENCLAW_TEST_TURNS"] ?? 60);

const words = (count: number, seed: number): string =>
  Array.from({ length: count }, (_, n) => ["garden", "beans", "water", "spade", "morning", "compost", "fence", "slowly"][(n * 7 + seed * 3) % 8]).join(" ");

/** As a provider counts: the whole request, a little more than a token for four characters. */
const tokensOf = ({ body }: ReceivedRequest): number => Math.ceil(body.length / 3.7);
const isSummary = ({ body }: ReceivedRequest): boolean => !body.includes('"tools":');

function overflow(tokens: number, window: number): Behaviour {
  const message = `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens.`;
  return { kind: "status", status: 400, body: { error: { message, type: "invalid_request_error", code: "context_length_exceeded" } } };
}

interface Counts {
  refused: number;
  summaries: number;
  largest: number;
}

/** A model with a window that it enforces. Every fourth question is answered after a look into a file. */
async function startBoundedModel(window: number, counts: Counts): Promise<ModelServer> {
  let call = 0;
  return startModelServer((request) => {
    const tokens = tokensOf(request);
    if (tokens > window) {
      counts.refused += 1;
      return overflow(tokens, window);
    }
    counts.largest = Math.max(counts.largest, tokens);
    const usage = { input: tokens, output: 200, cacheRead: 0 };
    if (isSummary(request)) {
      counts.summaries += 1;
      return { kind: "stream", frames: STREAMS[API]!({ text: [SUMMARY], usage }) };
    }
    const last = (JSON.parse(request.body) as { messages: { role: string; content: unknown }[] }).messages.at(-1)!;
    if (last.role === "user" && JSON.stringify(last.content).includes("look into the notes")) {
      call += 1;
      return { kind: "stream", frames: STREAMS[API]!({ toolCalls: [{ id: `call_${call}`, name: "read", arguments: ['{"path":"notes.txt"}'] }], usage }) };
    }
    return { kind: "stream", frames: STREAMS[API]!({ text: [words(120, call)], usage }) };
  });
}

function placeWith(server: ModelServer, claimed: number): Place {
  const place = makePlace();
  const workspace = join(place.home, "work");
  mkdirSync(workspace);
  writeFileSync(join(workspace, "notes.txt"), words(900, 1));
  const model = { id: "small", name: "Small", contextWindow: claimed, maxTokens: 4_000, input: ["text"], reasoning: false };
  place.configure(
    JSON.stringify({
      gateway: { mode: "local", auth: { mode: "token", token: TOKEN } },
      agents: { defaults: { model: { primary: "acme/small" }, workspace } },
      models: { providers: { acme: { baseUrl: server.url, apiKey: "sk-example-0123456789abcdef", api: API, models: [model] } } },
    }),
  );
  return place;
}

type Client = Awaited<ReturnType<typeof enter>>;

async function ask(client: Client, message: string): Promise<Record<string, unknown>> {
  const runId = crypto.randomUUID();
  const sent = await client.request("chat.send", { sessionKey: "agent:main:main", message, idempotencyKey: runId });
  if (!sent.ok) throw new Error(JSON.stringify(sent.error));
  const final = await client.next(
    ({ event, payload }) => event === "chat" && payload?.["runId"] === runId && ["final", "error"].includes(String(payload?.["state"])),
  );
  return final.payload!;
}

function compactions(place: Place): number {
  const folder = join(place.stateDir, "agents/main/sessions");
  const files = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  return files.reduce((sum, name) => sum + readFileSync(join(folder, name), "utf8").split('"type":"compaction"').length - 1, 0);
}

test(`${TURNS} turns in a window of 32,000 tokens take few compactions and requests, and none is refused`, async () => {
  const counts: Counts = { refused: 0, summaries: 0, largest: 0 };
  await using server = await startBoundedModel(32_000, counts);
  const place = placeWith(server, 32_000);
  await using gateway = await place.gateway();
  await using client = await enter(gateway.url!, { token: TOKEN, scopes: ["operator.read", "operator.write"] });
  let looks = 0;
  for (let turn = 0; turn < TURNS; turn += 1) {
    const look = turn % 4 === 3;
    if (look) looks += 1;
    const end = await ask(client, `Turn ${turn}: ${look ? "look into the notes " : ""}${words(60, turn)}`);
    expect(end["state"], JSON.stringify(end)).toBe("final");
  }
  const found = { turns: TURNS, requests: server.requests.length, compactions: compactions(place), ...counts };
  if (process.env["OPENCLAW_TEST_TURNS"] !== undefined) console.log(JSON.stringify(found));
  expect(found.refused).toBe(0);
  expect(found.compactions).toBeGreaterThan(0);
  expect(found.compactions).toBeLessThanOrEqual(TURNS / 5);
  // One for each turn and each look into the notes; the rest is for summaries and for notes before them.
  expect(found.requests - TURNS - looks).toBeLessThanOrEqual(TURNS / 2);
});

test("a window that is a third of what the configuration claims: every turn is answered, the user is shown what was left out, and the next turn works", async () => {
  const counts: Counts = { refused: 0, summaries: 0, largest: 0 };
  await using server = await startBoundedModel(24_000, counts);
  const place = placeWith(server, 72_000);
  await using gateway = await place.gateway();
  await using client = await enter(gateway.url!, { token: TOKEN, scopes: ["operator.read", "operator.write"] });
  for (let turn = 0; turn < 8; turn += 1) expect(await ask(client, `Turn ${turn}: ${words(1_200, turn)}`)).toMatchObject({ state: "final" });
  expect(counts.refused).toBeGreaterThan(0);
  // A message that is larger than any window.
  expect(await ask(client, `What is this? ${words(60_000, 1)}`)).toMatchObject({ state: "final" });
  const notices = client.frames.flatMap(({ event, payload }) =>
    event === "agent" && payload?.["stream"] === "compaction" ? [JSON.stringify(payload["data"])] : [],
  );
  expect(notices.join("\n")).toContain("did not fit the model's context window");
  const before = counts.refused;
  expect(await ask(client, "And now?")).toMatchObject({ state: "final" });
  expect(counts.refused - before).toBeLessThanOrEqual(3);
  expect(counts.largest).toBeLessThanOrEqual(24_000);
});
