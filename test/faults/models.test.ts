import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { createLogger, type LogRecord } from "../../src/base/log/logger.ts";
import { seededRandom } from "../../src/base/random.ts";
import { createRedactor } from "../../src/base/redaction.ts";
import { callModel, type CallEvent, type CallRequest, type CallResult } from "../../src/models/call/call.ts";
import type { CredentialCandidate, Credentials } from "../../src/models/call/credentials.ts";
import { createDrivers } from "../../src/models/call/driver.ts";
import type { ModelEntry } from "../../src/models/entry.ts";
import type { FailureClass } from "../../src/models/failover/classify.ts";
import { startModelServer, STREAMS, type Behaviour, type ModelServer } from "../fakes/model-server/index.ts";

const API = "openai-completions";
const OK: Behaviour = { kind: "stream", frames: STREAMS[API]!({ text: ["all ", "well"] }) };
const SECRETS = ["secret-key-number-one", "secret-key-number-two"];
const chunk = (delta: object, finish: string | null = null): string => `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

const entry = (server: ModelServer, id: string): ModelEntry => ({
  provider: "test",
  id,
  name: id,
  api: API,
  baseUrl: server.url,
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 100_000,
  maxTokens: 1_000,
  source: "config",
});

interface Outcome {
  readonly result: CallResult;
  readonly events: readonly CallEvent[];
  readonly rested: readonly (readonly [string, string, FailureClass])[];
  readonly logs: string;
}

/** One call through everything but the network of others: two profiles, two models, real sockets, short budgets. */
async function ask(
  server: ModelServer,
  options: { models?: readonly string[]; profiles?: readonly string[]; signal?: AbortSignal; budgetMs?: number } = {},
): Promise<Outcome> {
  const rested: (readonly [string, string, FailureClass])[] = [];
  const records: LogRecord[] = [];
  const redactor = createRedactor();
  for (const secret of SECRETS) redactor.register(secret);
  const profiles = options.profiles ?? SECRETS;
  const credentials: Credentials = {
    candidates: () =>
      Promise.resolve(profiles.map((apiKey, at): CredentialCandidate => ({ profileId: `test:${at + 1}`, credential: () => Promise.resolve({ apiKey }) }))),
    succeeded: () => Promise.resolve(),
    failed(candidate, model, kind) {
      rested.push([candidate.profileId ?? "", model.id, kind]);
      return Promise.resolve();
    },
    missing: (model) => ({ kind: "auth", text: `No API key found for provider "${model.provider}".` }),
  };
  const log = createLogger({
    clock: systemClock,
    redactor,
    outputs: [{ level: "trace", sink: { write: (record) => records.push(record), flush: () => Promise.resolve() } }],
  });
  const random = seededRandom(1);
  const request: CallRequest = {
    runId: "run",
    models: (options.models ?? ["first", "second"]).map((id) => entry(server, id)),
    messages: [{ role: "user", content: "hello", timestamp: 1 }],
    thinking: "off",
    ...(options.signal ? { signal: options.signal } : {}),
  };
  const drivers = createDrivers({ other: () => Promise.reject(new Error("none")) });
  const events: CallEvent[] = [];
  const deps = {
    clock: systemClock,
    ids: createIds(random),
    random,
    log,
    credentials,
    drivers,
    redact: redactor.text,
    headersMs: options.budgetMs ?? 20_000,
    progressMs: options.budgetMs ?? 20_000,
  };
  for await (const event of callModel(deps, request)) events.push(event);
  const last = events.at(-1);
  if (last?.type !== "done") throw new Error("the call did not say how it ended");
  return { result: last.result, events, rested, logs: JSON.stringify(records) };
}

const modelsAsked = (server: ModelServer): readonly string[] => server.requests.map(({ body }) => (JSON.parse(body) as { model: string }).model);
const keysUsed = (server: ModelServer): readonly string[] =>
  server.requests.map(({ headers }) => String(headers["authorization"]).replace("Bearer secret-key-number-", ""));

test.each<{ what: string; play: readonly Behaviour[]; keys: readonly string[]; rested?: readonly FailureClass[]; discards?: number; budgetMs?: number }>([
  { what: "429 without a hint goes to the next key", play: [{ kind: "status", status: 429 }, OK], keys: ["one", "two"], rested: ["rate_limit"] },
  {
    what: "429 with retry-after goes to the next key at once",
    play: [{ kind: "status", status: 429, headers: { "retry-after": "30" } }, OK],
    keys: ["one", "two"],
    rested: ["rate_limit"],
  },
  {
    what: "401 goes to the next key",
    play: [{ kind: "status", status: 401, body: { error: { message: "invalid api key" } } }, OK],
    keys: ["one", "two"],
    rested: ["auth"],
  },
  { what: "402 goes to the next key", play: [{ kind: "status", status: 402 }, OK], keys: ["one", "two"], rested: ["billing"] },
  {
    what: "too low a balance goes to the next key",
    play: [{ kind: "status", status: 400, body: { error: { message: "credit balance too low" } } }, OK],
    keys: ["one", "two"],
    rested: ["billing"],
  },
  { what: "500 is tried again with the same key, and nothing rests", play: [{ kind: "status", status: 500 }, OK], keys: ["one", "one"] },
  { what: "503 overloaded is tried again", play: [{ kind: "status", status: 503, body: "overloaded" }, OK], keys: ["one", "one"] },
  { what: "a reset before the headers is tried again", play: [{ kind: "reset" }, OK], keys: ["one", "one"] },
  {
    what: "a reset in the middle is tried again and what came is void",
    play: [{ kind: "reset", after: [chunk({ content: "half" })] }, OK],
    keys: ["one", "one"],
    discards: 1,
  },
  { what: "a stream that never begins is asked for again", play: [{ kind: "silent" }, OK], keys: ["one", "one"], budgetMs: 1_000 },
  {
    what: "a stall with keep-alives is hung",
    play: [{ kind: "stall", after: [chunk({ content: "half" })] }, OK],
    keys: ["one", "one"],
    discards: 1,
    budgetMs: 1_000,
  },
  {
    what: "a truncated stream is asked for again",
    play: [{ kind: "cut", after: [chunk({ content: "half" })] }, OK],
    keys: ["one", "one"],
    discards: 1,
  },
  {
    what: "garbled JSON inside an event is asked for again",
    play: [{ kind: "cut", after: ["data: {garbled\n\n"] }, OK],
    keys: ["one", "one"],
  },
  {
    what: "an event of a shape that the format does not have is asked for again",
    play: [{ kind: "cut", after: [chunk({ tool_calls: 5 })] }, OK],
    keys: ["one", "one"],
  },
  {
    what: "a page instead of a stream is asked for again",
    play: [{ kind: "stream", frames: ["<html>"], contentType: "text/html" }, OK],
    keys: ["one", "one"],
  },
  {
    // What a model says, or does not say, is not the fault of the key: anybody who writes to it could lock it away.
    what: "an empty answer is asked for again, and the key does not rest",
    play: [{ kind: "stream", frames: STREAMS[API]!({}) }, OK],
    keys: ["one", "one"],
    discards: 0,
  },
  {
    what: "a call without a name is asked for again, and the key does not rest",
    play: [{ kind: "stream", frames: STREAMS[API]!({ toolCalls: [{ id: "c", name: "", arguments: ["{}"] }] }) }, OK],
    keys: ["one", "one"],
    discards: 1,
  },
  {
    what: "a token that expires during the stream goes to the next key when nothing was shown",
    play: [{ kind: "cut", after: ['data: {"error":{"message":"token expired","code":401}}\n\n'] }, OK],
    keys: ["one", "two"],
    rested: ["auth"],
  },
])("$what", async ({ play, keys, rested = [], discards = 0, budgetMs }) => {
  await using server = await startModelServer();
  server.play(...play);
  const outcome = await ask(server, budgetMs === undefined ? {} : { budgetMs });
  expect(outcome.result).toMatchObject({ ok: true, message: { content: [{ type: "text", text: "all well" }] } });
  expect(keysUsed(server)).toEqual(keys);
  expect(outcome.rested.map(([, , kind]) => kind)).toEqual(rested);
  expect(outcome.events.filter((event) => event.type === "discard")).toHaveLength(discards);
  expect(outcome.result.attempts).toHaveLength(2);
  for (const secret of SECRETS) expect(JSON.stringify(outcome.result) + outcome.logs).not.toContain(secret);
});

test("a tool call that never closes is an answer: the model is shown what is wrong with it", async () => {
  await using server = await startModelServer();
  server.play({ kind: "stream", frames: STREAMS[API]!({ toolCalls: [{ id: "c", name: "read", arguments: ['{"path": "a'] }] }) });
  const outcome = await ask(server, {});
  const error = 'the arguments are not a JSON object: {"path": "a';
  expect(outcome.result).toMatchObject({ ok: true, message: { content: [{ type: "toolCall", name: "read", arguments: {}, argumentsError: error }] } });
  expect(outcome.rested).toEqual([]);
});

test("when all keys of a model fail, the next model answers, and the attempts tell the story", async () => {
  await using server = await startModelServer();
  server.play({ kind: "status", status: 429, body: { error: { message: "slow down secret-key-number-one" } } }, { kind: "status", status: 401 }, OK);
  const { result, logs } = await ask(server);
  expect(result.ok).toBe(true);
  expect(modelsAsked(server)).toEqual(["first", "first", "second"]);
  expect(result.attempts.map(({ model, outcome, profileId }) => [model, outcome, profileId])).toEqual([
    ["first", "rate_limit", "test:1"],
    ["first", "auth", "test:2"],
    ["second", "ok", "test:1"],
  ]);
  expect(JSON.stringify(result) + logs).not.toContain("secret-key-number-one");
});

test("an event that cannot be read is not reported as a failure of the network", async () => {
  await using server = await startModelServer({ kind: "stream", frames: [chunk({ tool_calls: 5 })] });
  const { result } = await ask(server, { models: ["first"] });
  expect(result).toMatchObject({ ok: false, kind: "format", text: expect.stringContaining("unexpected shape") as string });
  expect(JSON.stringify(result)).not.toMatch(/network|connection failed/);
});

test("when every model fails there is one truthful text with the reason of each", async () => {
  await using server = await startModelServer({ kind: "status", status: 402, body: { error: { message: "no credit" } } });
  const { result } = await ask(server);
  expect(result).toMatchObject({
    ok: false,
    kind: "billing",
    text: "All models failed (2): test/first: HTTP 402: no credit (billing) | test/second: HTTP 402: no credit (billing)",
    message: { stopReason: "error", content: [] },
  });
});

test.each<[string, Behaviour, FailureClass]>([
  ["too long a conversation", { kind: "status", status: 400, body: { error: { message: "prompt is too long: 300000 tokens" } } }, "context_overflow"],
  ["a wrong order of roles", { kind: "status", status: 400, body: { error: { message: "roles must alternate" } } }, "role_order"],
  ["too large an image", { kind: "status", status: 400, body: { error: { message: "image exceeds 5 MB maximum" } } }, "image_size"],
])("%s is reported at once: neither another key nor another model would help", async (_, behaviour, kind) => {
  await using server = await startModelServer(behaviour);
  const { result, rested } = await ask(server);
  expect(result).toMatchObject({ ok: false, kind });
  expect(server.requests).toHaveLength(1);
  expect(rested).toEqual([]);
});

test("an answer that would not fit beside the conversation is asked for shorter, and nothing rests", async () => {
  await using server = await startModelServer();
  const message = "input length and `max_tokens` exceed context limit: 97000 + 32000 > 100000, decrease input length or `max_tokens` and try again";
  server.play({ kind: "status", status: 400, body: { error: { message, type: "invalid_request_error" } } }, OK);
  const { result, rested } = await ask(server, { models: ["first"] });
  expect(result.ok).toBe(true);
  expect(rested).toEqual([]);
  expect(server.requests[1]!.body).toMatch(/"max_(?:completion_)?tokens":2936\b/);
});

test("an abort ends the call as aborted, and nothing else is tried", async () => {
  await using server = await startModelServer({ kind: "stall", after: [chunk({ content: "half" })] });
  const controller = new AbortController();
  const asked = ask(server, { signal: controller.signal });
  await expect.poll(() => server.requests.length).toBe(1);
  controller.abort();
  const { result, rested } = await asked;
  expect(result).toMatchObject({ ok: false, kind: "aborted", message: { stopReason: "aborted" } });
  expect(rested).toEqual([]);
});

test("an abort ends the pause between two attempts at once", async () => {
  await using server = await startModelServer({ kind: "status", status: 503, headers: { "retry-after": "50" } });
  const controller = new AbortController();
  const asked = ask(server, { signal: controller.signal, models: ["first"], profiles: SECRETS.slice(0, 1) });
  await expect.poll(() => server.requests.length).toBe(1);
  controller.abort();
  expect((await asked).result).toMatchObject({ ok: false, kind: "aborted" });
  expect(server.requests).toHaveLength(1);
});

test("a model nobody has a key for says what is missing and the next one is asked", async () => {
  await using server = await startModelServer(OK);
  expect((await ask(server, { profiles: [] })).result).toMatchObject({
    ok: false,
    kind: "auth",
    text: expect.stringContaining('No API key found for provider "test"') as string,
  });
});

test("an answer of 30 MB arrives whole", async () => {
  const piece = "x".repeat(64 * 1024);
  await using server = await startModelServer({ kind: "stream", frames: STREAMS[API]!({ text: Array.from({ length: 480 }, () => piece) }) });
  const { result } = await ask(server);
  expect(result.ok && result.message.content[0]).toMatchObject({ type: "text" });
  expect(result.ok && result.message.content[0]?.type === "text" && result.message.content[0].text.length).toBe(480 * piece.length);
});

test("two calls of the same id are distinguished, and usage that is missing counts as none", async () => {
  const frames = STREAMS[API]!({
    toolCalls: [
      { id: "same", name: "read", arguments: ["{}"] },
      { id: "same", name: "read", arguments: ["{}"] },
    ],
  }).filter((frame) => !frame.includes('"usage"'));
  await using server = await startModelServer({ kind: "stream", frames });
  const { result } = await ask(server);
  expect(result.ok && result.message.content.map((part) => part.type === "toolCall" && part.id)).toEqual(["same", "same_2"]);
  expect(result.ok && result.message.usage.totalTokens).toBe(0);
});
