import { existsSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Random } from "../../src/base/random.ts";
import { createDevice, type TestDevice } from "../harness/auth.ts";
import { visit } from "../harness/device-client.ts";
import type { RawClient } from "../harness/gateway-client.ts";
import { makePlace, type GatewayProcess, type Place } from "../harness/gateway-process.ts";
import { slowness } from "../harness/slowness.ts";

/** Places on the way of a turn where the process is killed exactly. */
const PLACES = [
  "inbox.committed",
  "ack.sent",
  "turn.started",
  "model.result.committed",
  "tool.intent.committed",
  "tool.done",
  "outbox.committed",
  "store.group.begun",
  "store.group.applied",
  "store.group.committed",
  "store.group.acknowledged",
  "projection.appended",
] as const;

/** Longest time after a restart in which every turn must have been resumed or reported, on a quiet machine. */
const RESUME_MS = 10_000;
const MESSAGES = 6;
const SESSIONS = 3;

export interface TurnCampaignOptions {
  readonly kills: number;
  readonly random: Random;
  /** Ends early, between two kills, when this says so. */
  readonly stop?: () => boolean;
  readonly onRound?: (round: number, facts: { readonly place: string; readonly accepted: number; readonly unknown: number }) => void;
}

export interface TurnCampaignReport {
  readonly kills: number;
  readonly accepted: number;
  /** Calls that may or may not have run; the model was notified. */
  readonly unknown: number;
  readonly broken: readonly string[];
  /** Kept when something is broken. */
  readonly home: string;
}

interface ChatMessage {
  readonly role: string;
  readonly content: unknown;
}

const textOf = (content: unknown): string =>
  typeof content === "string" ? content : Array.isArray(content) ? content.map((part) => (part as { text?: string }).text ?? "").join("") : "";

/** A provider over HTTP: a message `do <word>` makes it call `exec` once to write the word down, and then say how that went. */
async function startModel(ledger: string): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => {
      const { messages } = JSON.parse(body) as { messages: readonly ChatMessage[] };
      const at = messages.findLastIndex(({ role }) => role === "user");
      const word = /do (\S+)/.exec(textOf(messages[at]!.content))?.[1] ?? "nothing";
      const result = messages.slice(at).findLast(({ role }) => role === "tool");
      const command = `echo ${word} >> ${ledger}`;
      const call = { index: 0, id: `call_${word}`, type: "function", function: { name: "exec", arguments: JSON.stringify({ command }) } };
      const how = result && (/Interrupted|Not run/.test(textOf(result.content)) ? `unknown ${word}` : `done ${word}`);
      const delta = how === undefined ? { role: "assistant", tool_calls: [call] } : { role: "assistant", content: how };
      const base = { id: "c", object: "chat.completion.chunk", created: 1, model: "m1" };
      const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`);
      response.write(
        `data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta: {}, finish_reason: how === undefined ? "tool_calls" : "stop" }], usage })}\n\n`,
      );
      response.end("data: [DONE]\n\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

function configure(place: Place, modelUrl: string): void {
  const models = [{ id: "m1", name: "m1", contextWindow: 200_000, maxTokens: 8192 }];
  place.configure(
    JSON.stringify({
      gateway: { mode: "local", auth: { token: "chaos" } },
      agents: { defaults: { model: { primary: "mock/m1" }, skipBootstrap: true, workspace: join(place.home, "workspace") } },
      models: { providers: { mock: { baseUrl: modelUrl, apiKey: "k", api: "openai-completions", models } } },
      tools: { exec: { host: "gateway", security: "full", ask: "off" } },
    }),
  );
}

export async function connect(gateway: GatewayProcess, device: TestDevice, now?: () => number): Promise<RawClient> {
  const client = await visit(gateway.url!, { ...(now ? { now } : {}), device, token: "chaos", scopes: ["operator.admin", "operator.read", "operator.write"] });
  if (!client.answer.ok) throw new Error(`not let in: ${JSON.stringify(client.answer)}`);
  return client;
}

/** Sends messages until the process is gone. Gives the keys of those that were acknowledged. */
async function sendUntilDead(gateway: GatewayProcess, device: TestDevice, round: number, accepted: Set<string>): Promise<void> {
  const client = await connect(gateway, device).catch(() => undefined);
  if (!client) return;
  const answers = Array.from({ length: MESSAGES }, (_, n) => {
    const idempotencyKey = `k${round}-${n}`;
    const params = { sessionKey: `s${n % SESSIONS}`, message: `do w${round}-${n}`, idempotencyKey };
    return client.request("chat.send", params).then(
      (frame) => void (frame.ok && accepted.add(idempotencyKey)),
      () => undefined,
    );
  });
  await Promise.all(answers);
  await client[Symbol.asyncDispose]();
}

const lines = (ledger: string): readonly string[] => (existsSync(ledger) ? readFileSync(ledger, "utf8").trim().split("\n") : []);

/** Every accepted message has an end soon after the restart; no call was made twice; what is called done was done. */
async function findBroken(
  gateway: GatewayProcess,
  device: TestDevice,
  { ledger, accepted }: { readonly ledger: string; readonly accepted: readonly string[] },
): Promise<{ broken: string[]; unknown: number }> {
  const client = await connect(gateway, device);
  const broken: string[] = [];
  let unknown = 0;
  const timeoutMs = Math.round(RESUME_MS * slowness());
  const ends = await Promise.all(accepted.map((runId) => client.request("agent.wait", { runId, timeoutMs })));
  const written = lines(ledger);
  for (const word of new Set(written)) {
    const times = written.filter((line) => line === word).length;
    if (times > 1) broken.push(`the call for ${word} was made ${times} times`);
  }
  for (const [index, runId] of accepted.entries()) {
    const status = ends[index]!.payload?.["status"];
    const word = runId.replace("k", "w");
    if (status !== "ok" && status !== "error") broken.push(`${runId} was accepted and has no end: ${JSON.stringify(ends[index])}`);
    const { ok } = ends[index]!;
    if (!ok) broken.push(`agent.wait for ${runId} failed: ${JSON.stringify(ends[index])}`);
    const answer = await answerTo(client, runId, word);
    if (answer === undefined) broken.push(`${runId} has ended and its session does not tell how`);
    if (answer === "unknown") unknown += 1;
    if (answer === "done" && !written.includes(word)) broken.push(`${runId} is called done, and ${word} was never written`);
  }
  await client[Symbol.asyncDispose]();
  return { broken, unknown };
}

async function answerTo(client: RawClient, runId: string, word: string): Promise<"done" | "unknown" | undefined> {
  const n = Number(runId.split("-")[1]);
  const history = await client.request("chat.history", { sessionKey: `s${n % SESSIONS}`, limit: 1000 });
  const text = JSON.stringify(history.payload?.["messages"]);
  if (text.includes(`done ${word}"`)) return "done";
  return text.includes(`unknown ${word}"`) ? "unknown" : undefined;
}

/** Kills a gateway in the middle of turns with tools, again and again over one state, and checks every promise after each kill. */
export async function turnCampaign(options: TurnCampaignOptions): Promise<TurnCampaignReport> {
  const { random } = options;
  const place = makePlace();
  const ledger = join(place.home, "ledger");
  const { server, url } = await startModel(ledger);
  configure(place, url);
  const device = createDevice();
  const broken: string[] = [];
  let kills = 0;
  let total = 0;
  let unknown = 0;
  while (kills < options.kills && broken.length === 0 && !options.stop?.()) {
    const timed = kills % PLACES.length === PLACES.length - 1 && random.float() < 0.5;
    const name = PLACES[kills % PLACES.length]!;
    const nth = 1 + Math.floor(random.float() * (name.startsWith("store") || name.startsWith("projection") ? 20 : MESSAGES));
    const accepted = new Set<string>();
    const dying = await place.gateway({ build: "dist-test", ...(timed ? {} : { env: { OPENCLAW_FAILPOINT: `${name}:${nth}` } }) });
    const timer = setTimeout(() => dying.child.kill("SIGKILL"), timed ? 100 + random.float() * 400 : 4000);
    if (dying.url !== undefined) await sendUntilDead(dying, device, kills, accepted);
    await dying.exited;
    clearTimeout(timer);
    kills += 1;
    await using next = await place.gateway({ build: "dist-test" });
    if (next.url === undefined) broken.push(`after kill ${kills} the gateway did not start: ${next.output()}`);
    else {
      const found = await findBroken(next, device, { ledger, accepted: [...accepted] });
      broken.push(...found.broken.map((text) => `after kill ${kills} at ${timed ? "a random time" : `${name}:${nth}`}: ${text}`));
      unknown += found.unknown;
    }
    total += accepted.size;
    options.onRound?.(kills, { place: timed ? "time" : `${name}:${nth}`, accepted: accepted.size, unknown });
  }
  server.close();
  server.closeAllConnections();
  return { kills, accepted: total, unknown, broken, home: place.home };
}
