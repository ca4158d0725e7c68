import { manualClock, type Clock, type ManualClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { createLogger, type LogRecord } from "../../src/base/log/logger.ts";
import { seededRandom, type Random } from "../../src/base/random.ts";
import { createRedactor } from "../../src/base/redaction.ts";
import { callModel, type CallEvent, type CallResult } from "../../src/models/call/call.ts";
import type { CredentialCandidate, Credentials } from "../../src/models/call/credentials.ts";
import { createDrivers } from "../../src/models/call/driver.ts";
import type { ModelEntry } from "../../src/models/entry.ts";
import { WIRE_APIS } from "../../src/models/wire/index.ts";
import { startModelServer, type Behaviour, type ReceivedRequest } from "../fakes/model-server/index.ts";
import { FAULTS, WHOLE, type Fault } from "./model-faults.ts";

export interface FaultReport {
  readonly runs: number;
  readonly answered: number;
  readonly attempts: number;
  /** How attempts ended, and how often. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly broken: readonly string[];
}

export interface FaultCampaign {
  readonly runs: number;
  readonly seed: number;
  readonly onProgress?: (run: number) => void;
}

/** Calls of models over real sockets, each with a chain of faults of its own, and what was promised about every one of them. */
export async function faultCampaign({ runs, seed, onProgress }: FaultCampaign): Promise<FaultReport> {
  const broken: string[] = [];
  const outcomes: Record<string, number> = {};
  let [answered, attempts] = [0, 0];
  const onRejection = (reason: unknown): void => void broken.push(`unhandled rejection: ${String(reason)}`);
  process.on("unhandledRejection", onRejection);
  try {
    for (let run = 0; run < runs; run += 1) {
      const finished = await oneRun(seededRandom(seed + run * 7919));
      for (const problem of judge(finished)) broken.push(`run ${run}: ${problem} (${finished.story.map(({ name }) => name).join(", ")})`);
      for (const { outcome } of finished.result?.attempts ?? []) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      attempts += finished.result?.attempts.length ?? 0;
      if (finished.result?.ok) answered += 1;
      onProgress?.(run + 1);
    }
    // An unhandled rejection is reported after the tick it happened in.
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off("unhandledRejection", onRejection);
  }
  return { runs, answered, attempts, outcomes, broken };
}

/** What one run was and what came of it. */
interface Run {
  readonly events: readonly CallEvent[];
  readonly result: CallResult | undefined;
  readonly thrown: string | undefined;
  readonly logs: string;
  readonly secrets: readonly string[];
  readonly requests: readonly { readonly model: string; readonly key: string }[];
  /** What was done to each request, in order. */
  readonly story: readonly Fault[];
  /** Attempts that ended before there was a request. */
  readonly withoutRequest: number;
  readonly aborted: boolean;
}

/** Longest pause between attempts: such a timer is due at once. Longer ones are budgets, due when the server hangs. */
const LONGEST_PAUSE_MS = 10_000;
const BUDGET_MS = 120_000;

/** Pauses are over at once, budgets never by themselves: no run depends on how busy the machine is. */
function hurriedClock(clock: ManualClock): Clock {
  return {
    ...clock,
    after(ms, fn) {
      if (ms > LONGEST_PAUSE_MS) return clock.after(ms, fn);
      const timer = setImmediate(fn);
      return { [Symbol.dispose]: () => clearImmediate(timer) };
    },
  };
}

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random.float() * from.length)]!;
const upTo = (random: Random, most: number): number => 1 + Math.floor(random.float() * most);

async function oneRun(random: Random): Promise<Run> {
  const time = manualClock();
  const controller = new AbortController();
  const abortsAtHang = random.float() < 0.2;
  const story: Fault[] = [];
  await using server = await startModelServer(undefined, {
    // The head and the pieces that were sent get a moment to arrive; a caller that sees none of them must come to the same end.
    onHang: () => void setTimeout(() => (abortsAtHang ? controller.abort() : time.advance(BUDGET_MS)), 3),
  });
  const models = Array.from({ length: upTo(random, 3) }, (_, at) => entry(server.url, pick(random, WIRE_APIS), `model-${at}`));
  const secrets = Array.from({ length: upTo(random, 3) }, (_, at) => `secret-${at}-${random.bytes(12).toString("hex")}`);
  const asked = (request: ReceivedRequest): { model: ModelEntry; key: string } => ({
    model: models.find(({ id }) => nameIn(request) === id)!,
    key: keyOf(request),
  });
  server.play((request) => {
    const { model, key } = asked(request);
    const { fault, behaviour } = nextFault(random, model.api, key);
    story.push(fault);
    return behaviour;
  });
  const accounts = createAccounts(random, secrets);
  const records: LogRecord[] = [];
  const redactor = createRedactor();
  for (const secret of secrets) redactor.register(secret);
  const log = createLogger({
    clock: time,
    redactor,
    outputs: [{ level: "trace", sink: { write: (record) => records.push(record), flush: () => Promise.resolve() } }],
  });
  const drivers = createDrivers({ other: () => Promise.reject(new Error("none")) });
  const deps = { clock: hurriedClock(time), ids: createIds(random), random, log, credentials: accounts.credentials, drivers, redact: redactor.text };
  const events: CallEvent[] = [];
  let thrown: string | undefined;
  try {
    const messages = [{ role: "user" as const, content: "hello", timestamp: 1 }];
    for await (const event of callModel(deps, { runId: "run", models, messages, thinking: "low", signal: controller.signal })) events.push(event);
  } catch (error) {
    thrown = String(error);
  }
  const last = events.at(-1);
  return {
    events,
    result: last?.type === "done" ? last.result : undefined,
    thrown,
    logs: JSON.stringify(records),
    secrets,
    requests: server.requests.map((request) => ({ model: nameIn(request), key: keyOf(request) })),
    story,
    withoutRequest: accounts.refused(),
    aborted: controller.signal.aborted,
  };
}

/** A fault that this wire format can have. */
function nextFault(random: Random, api: string, key: string): { readonly fault: Fault; readonly behaviour: Behaviour } {
  for (;;) {
    const fault = pick(random, FAULTS);
    const behaviour = fault.behaviour(api, key);
    if (behaviour) return { fault, behaviour };
  }
}

/** Accounts that sometimes cannot be renewed, and whose state sometimes cannot be written. */
function createAccounts(random: Random, secrets: readonly string[]): { readonly credentials: Credentials; refused(): number } {
  let refused = 0;
  const write = (): Promise<void> => (random.float() < 0.1 ? Promise.reject(new Error(`the disk is full (${secrets[0]})`)) : Promise.resolve());
  const candidates = secrets.map((apiKey, at): CredentialCandidate => ({
    profileId: `test:${at}`,
    credential() {
      if (random.float() >= 0.1) return Promise.resolve({ apiKey });
      refused += 1;
      return Promise.reject(new Error(`the token has expired: ${apiKey}`));
    },
  }));
  return {
    credentials: { candidates: () => Promise.resolve(candidates), succeeded: write, failed: write, missing: () => ({ kind: "auth", text: "no key" }) },
    refused: () => refused,
  };
}

const entry = (baseUrl: string, api: string, id: string): ModelEntry => ({
  provider: "test",
  id,
  name: id,
  api,
  baseUrl,
  reasoning: true,
  input: ["text"],
  cost: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 100_000,
  maxTokens: 1_000,
  source: "config",
});

const nameIn = ({ path, body }: ReceivedRequest): string => /models\/(model-\d)/.exec(path)?.[1] ?? (JSON.parse(body) as { model: string }).model;
const keyOf = ({ headers }: ReceivedRequest): string =>
  String(headers["x-api-key"] ?? headers["x-goog-api-key"] ?? headers["authorization"]).replace(/^Bearer /, "");

/** What of the promises does not hold. */
function* judge(run: Run): Generator<string, void, void> {
  const { events, result, requests, story, secrets } = run;
  if (run.thrown !== undefined) yield `the call threw: ${run.thrown}`;
  if (events.filter(({ type }) => type === "done").length !== 1 || !result) {
    yield "there is not exactly one result, at the end";
    return;
  }
  const { attempts } = result;
  const said = JSON.stringify(events) + run.logs;
  if (secrets.some((secret) => said.includes(secret))) yield "a secret was leaked";
  if (attempts.length !== requests.length + run.withoutRequest)
    yield `${attempts.length} attempts, but ${requests.length} requests and ${run.withoutRequest} refusals`;
  yield* judgeAttempts(run, attempts);
  const oks = attempts.filter(({ outcome }) => outcome === "ok");
  if (result.ok !== (oks.length === 1 && attempts.at(-1)?.outcome === "ok")) yield "the result and the attempts do not agree";
  if (result.ok) yield* judgeAnswer(run, result);
  else yield* judgeFailure(run, result);
  if (story.some(({ outcome }) => outcome === "ok") !== result.ok) yield "an answer was lost, or one was made up";
}

/** Each request is an attempt of the same model and account, and ended as the fault demands. */
function* judgeAttempts({ requests, story, secrets, aborted }: Run, attempts: CallResult["attempts"]): Generator<string, void, void> {
  let at = 0;
  for (const attempt of attempts) {
    const request = requests[at];
    // An account that could not be renewed: nothing was asked.
    if (attempt.error?.includes("the token has expired")) continue;
    const key = `test:${secrets.indexOf(request?.key ?? "")}`;
    if (request?.model !== attempt.model || key !== attempt.profileId)
      yield `attempt of ${attempt.model} by ${attempt.profileId}, request for ${request?.model} by ${key}`;
    const expected = story[at]?.outcome;
    if (attempt.outcome !== expected && !(aborted && attempt.outcome === "aborted" && expected === "timeout"))
      yield `"${story[at]?.name}" was taken for ${attempt.outcome} (${attempt.error ?? ""})`;
    at += 1;
  }
}

function* judgeAnswer({ events }: Run, result: Extract<CallResult, { ok: true }>): Generator<string, void, void> {
  const text = result.message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  if (!text.startsWith(WHOLE)) yield `the answer is not the one that was given: ${text.slice(0, 50)}`;
  const valid = events.slice(events.findLastIndex(({ type }) => type === "discard") + 1);
  for (const kind of ["text", "thinking"] as const) {
    const shown = valid.flatMap((event) => (event.type === kind ? [event.delta] : [])).join("");
    const given = result.message.content.flatMap((part) => (part.type !== kind ? [] : part.type === "text" ? [part.text] : [part.thinking])).join("");
    if (shown !== given) yield `the ${kind} that was shown is not the answer's: ${shown.slice(0, 50)}`;
  }
  if (valid.filter(({ type }) => type === "end").length !== 1 || events.filter(({ type }) => type === "end").length !== 1) yield "there is not exactly one end";
}

function* judgeFailure({ aborted }: Run, result: Extract<CallResult, { ok: false }>): Generator<string, void, void> {
  const last = result.attempts.at(-1);
  if (result.kind !== last?.outcome) yield `the result is ${result.kind}, the last attempt ${last?.outcome}`;
  if ((result.kind === "aborted") !== aborted) yield "an abort that was none, or one that was not reported";
  if (result.kind !== "aborted" && !result.text.includes(last?.error ?? "?")) yield `the text does not say what happened: ${result.text}`;
  if (result.message.errorMessage !== result.text || result.message.content.length > 0) yield "the message for the transcript says something else";
}
