import { createHash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import { messageOf, systemCode } from "../../base/errors.ts";
import type { Ids } from "../../base/ids.ts";
import type { Random } from "../../base/random.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Hooks } from "../../hooks/index.ts";
import type { AssistantMessage, ModelMessage, ThinkingLevel, ToolSchema, Usage } from "../../protocol/index.ts";
import type { ModelEntry } from "../entry.ts";
import { failureOf, modelFailed, type ModelFailure } from "../failure.ts";
import { classify, troubleOf, type FailureClass, type Trouble } from "../failover/classify.ts";
import { decide, fittingOutput, isRegion, retryLimit, startsCooldown, type Situation, type Step } from "../failover/decide.ts";
import { failedText, type Attempt } from "../failover/attempts.ts";
import type { ResponseFacts } from "../transport/index.ts";
import type { EncodedConversation, ModelEvent, WireRequest } from "../wire/index.ts";
import type { Credential } from "../auth/profiles.ts";
import type { CredentialCandidate, Credentials } from "./credentials.ts";
import type { Drivers, EncodedPrompts } from "./driver.ts";

/** One request to a model, with its fallbacks. */
export interface CallRequest {
  readonly runId: string;
  /** In the order they are tried; the first was chosen. */
  readonly models: readonly ModelEntry[];
  readonly systemPrompt?: string;
  readonly messages: readonly ModelMessage[];
  readonly tools?: readonly ToolSchema[];
  readonly thinking: ThinkingLevel;
  readonly maxTokens?: number;
  readonly temperature?: number;
  /** How long supporting providers cache the start of a conversation; they decide when absent. */
  readonly cacheRetention?: "none" | "short" | "long";
  /** By `provider/model`. */
  readonly params?: (model: ModelEntry) => Readonly<Record<string, unknown>> | undefined;
  readonly signal?: AbortSignal;
  readonly agentId?: string;
  readonly sessionKey?: string;
  readonly sessionId?: string;
  /** Calls with the same key begin alike: providers that ask for one look for what they know under it. The session's id when absent. */
  readonly cacheKey?: string;
  /** What the session's calls have encoded so far, so that its history is not encoded again. */
  readonly encoded?: EncodedConversation;
  /** Profile that is preferred, or the only one allowed. */
  readonly pin?: { readonly profileId: string; readonly locked: boolean };
  /** Called before each model is tried: why it may not be called now, as a message for the user. A provider's budget stops only its own models. */
  readonly permit?: (model: ModelEntry) => Promise<string | undefined>;
}

/** How it went, whatever happened. */
export type CallResult =
  | { readonly ok: true; readonly message: AssistantMessage; readonly model: ModelEntry; readonly profileId?: string; readonly attempts: readonly Attempt[] }
  /** `message` goes into the transcript: no content, the error as text. */
  | {
      readonly ok: false;
      readonly kind: FailureClass;
      readonly text: string;
      readonly message: AssistantMessage;
      readonly attempts: readonly Attempt[];
      /** Of the last failure: the provider's HTTP status. */
      readonly status?: number;
      /** What it was, where the name of its class would be misleading. */
      readonly trouble?: Trouble;
      /** When trying again makes sense: after a credential's cooldown, else the provider's hint. */
      readonly retryAfterMs?: number;
    };

export type CallEvent =
  | ModelEvent
  /** The text streamed so far is void: another attempt starts. */
  | { readonly type: "discard"; readonly after: FailureClass }
  /** Always last. */
  | { readonly type: "done"; readonly result: CallResult };

export interface CallsDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly log: Logger;
  readonly credentials: Credentials;
  readonly drivers: Drivers;
  readonly hooks?: Pick<Hooks, "has" | "run">;
  /** Masks secrets in providers' messages. */
  readonly redact: (text: string) => string;
  /** Longest time to the response headers, and without progress after them. */
  readonly headersMs?: number;
  readonly progressMs?: number;
}

const HEADERS_MS = 120_000;
const PROGRESS_MS = 60_000;
const MAX_ERROR_CHARS = 600;
const NO_USAGE: Usage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

/** Calls models until one answers or none is left. Never throws: failure is the last event. Stopping the iteration aborts the call. */
export async function* callModel(deps: CallsDeps, request: CallRequest): AsyncGenerator<CallEvent, void, void> {
  const attempts: Attempt[] = [];
  let last: { readonly failure: ModelFailure; readonly kind: FailureClass; readonly model: ModelEntry } | undefined;
  for (const [at, model] of request.models.entries()) {
    const outcome = yield* tryModel(deps, request, model, { attempts, moreModels: at < request.models.length - 1 });
    if (outcome.ok) {
      yield { type: "done", result: { ...outcome, model, attempts } };
      return;
    }
    last = { ...outcome, model };
    if (outcome.step.do !== "next-model") break;
    deps.log.warn(`${model.provider}/${model.id} failed (${outcome.kind}); trying the next model`, { runId: request.runId });
  }
  yield { type: "done", result: failed(deps, request, attempts, last, await waitAfter(deps, request.models)) };
}

type ModelOutcome =
  | { readonly ok: true; readonly message: AssistantMessage; readonly profileId?: string }
  | { readonly ok: false; readonly failure: ModelFailure; readonly kind: FailureClass; readonly step: Step };

interface Progress {
  readonly attempts: Attempt[];
  readonly moreModels: boolean;
}

async function* tryModel(deps: CallsDeps, request: CallRequest, model: ModelEntry, progress: Progress): AsyncGenerator<CallEvent, ModelOutcome, void> {
  const forbidden = await request.permit?.(model);
  if (forbidden !== undefined) return unusable(deps, model, progress, { kind: "budget", text: forbidden });
  // The chosen model is probed before its cooldown is over, when another one would answer otherwise.
  const probe = model === request.models[0] && request.models.length > 1;
  const candidates = [...(await deps.credentials.candidates(model, { pin: request.pin, probe, last: !progress.moreModels }))];
  if (candidates.length === 0) return unusable(deps, model, progress, deps.credentials.missing(model));
  const prompts: EncodedPrompts = new Map();
  let { thinking, maxTokens } = request;
  for (;;) {
    const candidate = candidates[0]!;
    const startedAt = deps.clock.now();
    let attempt = 1;
    for (;;) {
      const tried = yield* tryOnce(deps, request, { model, candidate, thinking, maxTokens, prompts }, progress.attempts);
      if (tried.ok) return tried;
      const { kind, failure } = tried;
      const facts = situationOf(tried, { attempt, thinking, maxTokens, chance: deps.random.float() });
      const step = decide({ ...facts, moreProfiles: candidates.length > 1, moreModels: progress.moreModels });
      if (failure.afterContent && step.do !== "stop") yield { type: "discard", after: kind };
      // However often it was tried: one failed call is one failure.
      const over = step.do === "next-model" || step.do === "stop" || step.do === "rotate";
      if (over && startsCooldown(failure, kind))
        await recordOutcome(deps, () =>
          deps.credentials.failed(candidate, model, kind, { retryAfterMs: failure.retryAfterMs, startedAt, reason: reasonOf(failure) }),
        );
      if (step.do === "next-model" || step.do === "stop") return { ok: false, failure, kind, step };
      if (step.do === "rotate") break;
      if (step.do === "lower-thinking") ({ to: thinking } = step);
      else if (step.do === "lower-output") ({ to: maxTokens } = step);
      else if (!(await pause(deps.clock, step.afterMs, request.signal)))
        return { ok: false, kind: "aborted", failure: { ...failure, aborted: true }, step: { do: "stop" } };
      attempt += 1;
    }
    candidates.shift();
  }
}

type Tried = Pick<Situation, "attempt" | "thinking" | "chance"> & { readonly maxTokens: number | undefined };

function situationOf({ kind, failure }: Extract<Once, { ok: false }>, { maxTokens, ...tried }: Tried): Omit<Situation, "moreProfiles" | "moreModels"> {
  const outputTokens = fittingOutput(failure, maxTokens);
  return {
    kind,
    ...tried,
    retryAfterMs: failure.retryAfterMs,
    afterContent: failure.afterContent ?? false,
    hung: failure.hung ?? false,
    retries: retryLimit(failure, kind),
    ...(outputTokens === undefined ? {} : { outputTokens }),
  };
}

const REASON_CHARS = 160;

/** The stored reason of a cooldown. */
function reasonOf({ status, text }: ModelFailure): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  const short = line.length > REASON_CHARS ? `${line.slice(0, REASON_CHARS).toWellFormed()}…` : line;
  return status === undefined || short.startsWith(`HTTP ${status}`) ? short : `HTTP ${status}: ${short}`;
}

type Once =
  | { readonly ok: true; readonly message: AssistantMessage; readonly profileId?: string }
  | { readonly ok: false; readonly failure: ModelFailure; readonly kind: FailureClass };

interface Try {
  readonly model: ModelEntry;
  readonly candidate: CredentialCandidate;
  readonly thinking: ThinkingLevel;
  readonly maxTokens: number | undefined;
  readonly prompts: EncodedPrompts;
}

async function* tryOnce(
  deps: CallsDeps,
  request: CallRequest,
  { model, candidate, thinking, maxTokens, prompts }: Try,
  attempts: Attempt[],
): AsyncGenerator<ModelEvent, Once, void> {
  const { clock } = deps;
  const startedAt = clock.now();
  const from = clock.monotonic();
  const hookCall = startHookCall(deps, request, model);
  let facts: ResponseFacts | undefined;
  let firstMs: number | undefined;
  let shown = false;
  const record = (rest: Pick<Attempt, "outcome"> & Partial<Attempt>): void => {
    const attempt: Attempt = {
      provider: model.provider,
      model: model.id,
      ...(candidate.profileId === undefined ? {} : { profileId: candidate.profileId }),
      startedAt,
      durationMs: Math.round(clock.monotonic() - from),
      ...(firstMs === undefined ? {} : { firstMs }),
      ...(facts?.requestId === undefined ? {} : { requestIdHash: hash(facts.requestId) }),
      ...rest,
    };
    attempts.push(attempt);
    hookCall?.ended(attempt);
  };
  try {
    const credential = await candidate.credential();
    const wire = wireRequest({ ...request, ...(maxTokens === undefined ? {} : { maxTokens }) }, model, credential, thinking);
    const options = {
      clock,
      runId: request.runId,
      signal: request.signal,
      headersMs: deps.headersMs ?? HEADERS_MS,
      progressMs: deps.progressMs ?? PROGRESS_MS,
      onResponse: (found: ResponseFacts) => (facts = found),
    };
    for await (const event of deps.drivers.stream(wire, prompts, options)) {
      firstMs ??= Math.round(clock.monotonic() - from);
      if (event.type !== "end") {
        shown = true;
        yield event;
        continue;
      }
      if (isEmpty(event.message)) throw modelFailed({ phase: "answer", malformed: true, empty: true, text: "the model gave an empty answer" });
      yield event;
      record({ outcome: "ok" });
      await recordOutcome(deps, () => deps.credentials.succeeded(candidate, model));
      return { ok: true, message: event.message, ...(candidate.profileId === undefined ? {} : { profileId: candidate.profileId }) };
    }
    throw modelFailed({ phase: "stream", malformed: true, text: "the response did not finish" });
  } catch (error) {
    const failure = failureOf(error) ?? {
      phase: "connect" as const,
      text: error instanceof Error ? error.message : String(error),
      code: systemCode(error) ?? "INTERNAL",
    };
    const kind = classify(failure);
    const trouble = troubleOf(failure, kind);
    const text = deps.redact(failure.text).slice(0, MAX_ERROR_CHARS);
    record({
      outcome: kind,
      error: text,
      ...(failure.status === undefined ? {} : { status: failure.status }),
      ...(trouble === undefined ? {} : { trouble }),
      ...(kind !== "billing" && isRegion(failure) ? { region: true } : {}),
    });
    return { ok: false, failure: { ...failure, text, ...(shown ? { afterContent: true } : {}) }, kind };
  }
}

/** Records the outcome of a credential; an answer is not lost when that fails. */
async function recordOutcome({ log, redact }: CallsDeps, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    log.warn(`the state of the account could not be written: ${redact(messageOf(error))}`);
  }
}

function wireRequest(request: CallRequest, model: ModelEntry, credential: Credential, thinking: ThinkingLevel): WireRequest {
  const { systemPrompt, messages, tools, maxTokens, temperature, sessionId, cacheKey = sessionId, encoded, cacheRetention } = request;
  const params = request.params?.(model);
  return {
    model: credential.baseUrl === undefined ? model : { ...model, baseUrl: credential.baseUrl },
    messages,
    thinking,
    ...(credential.apiKey === undefined ? {} : { apiKey: credential.apiKey }),
    ...(credential.headers === undefined ? {} : { headers: credential.headers }),
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    ...(tools === undefined ? {} : { tools }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(cacheKey === undefined ? {} : { cacheKey }),
    ...(encoded === undefined ? {} : { encoded }),
    ...(cacheRetention === undefined ? {} : { cacheRetention }),
    ...(params === undefined ? {} : { params }),
  };
}

/** An answer without text and tool calls counts as none. */
function isEmpty({ content, stopReason }: AssistantMessage): boolean {
  return stopReason === "stop" && content.every((part) => part.type === "thinking");
}

function hash(requestId: string): string {
  return createHash("sha256").update(requestId).digest("hex").slice(0, 16);
}

/** Notifies hooks of the start and the end of a call, without conversation content. Undefined: there are none. */
function startHookCall({ hooks, ids }: CallsDeps, request: CallRequest, model: ModelEntry): { ended(attempt: Attempt): void } | undefined {
  if (!hooks?.has("model_call_started") && !hooks?.has("model_call_ended")) return undefined;
  const { runId, agentId, sessionKey, sessionId } = request;
  const names = { ...(sessionKey === undefined ? {} : { sessionKey }), ...(sessionId === undefined ? {} : { sessionId }) };
  const ctx = { runId, ...names, ...(agentId === undefined ? {} : { agentId }) };
  const event = { runId, callId: ids.uuid(), provider: model.provider, model: model.id, api: model.api, transport: "http", ...names };
  void hooks.run("model_call_started", event, ctx);
  return {
    ended({ durationMs, outcome, requestIdHash }) {
      const failedWith = outcome === "ok" ? {} : { errorCategory: outcome };
      const id = requestIdHash === undefined ? {} : { upstreamRequestIdHash: requestIdHash };
      void hooks.run("model_call_ended", { ...event, durationMs, outcome: outcome === "ok" ? "completed" : "error", ...failedWith, ...id }, ctx);
    },
  };
}

/** True when the pause is over, false when the caller aborted. */
function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<boolean> {
  if (signal?.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const end = (whole: boolean): void => {
      timer[Symbol.dispose]();
      signal?.removeEventListener("abort", onAbort);
      resolve(whole);
    };
    const onAbort = (): void => end(false);
    const timer = clock.after(ms, () => end(true));
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** No provider was called: no credential is usable now, or the budget is spent. */
function unusable(
  { clock }: CallsDeps,
  model: ModelEntry,
  { attempts, moreModels }: Progress,
  { kind, text, retryAfterMs }: { readonly kind: FailureClass; readonly text: string; readonly retryAfterMs?: number },
): ModelOutcome {
  attempts.push({ provider: model.provider, model: model.id, startedAt: clock.now(), durationMs: 0, outcome: kind, error: text, asked: false });
  const failure: ModelFailure = { phase: "connect", text, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  return { ok: false, failure, kind, step: { do: moreModels ? "next-model" : "stop" } };
}

/** Milliseconds until the first of these models can be called again; undefined when one can be called now. */
async function waitAfter({ credentials }: CallsDeps, models: readonly ModelEntry[]): Promise<number | undefined> {
  const waits = await Promise.all(models.map(async (model) => (await credentials.cooldownLeft?.(model).catch(() => undefined)) ?? 0));
  const shortest = Math.min(...waits);
  return shortest > 0 && Number.isFinite(shortest) ? shortest : undefined;
}

function failed(
  { clock }: CallsDeps,
  request: CallRequest,
  attempts: readonly Attempt[],
  last: { readonly failure: ModelFailure; readonly kind: FailureClass; readonly model: ModelEntry } | undefined,
  waitMs: number | undefined,
): CallResult {
  const kind = last?.kind ?? "unknown";
  const text = kind === "aborted" ? "the call was aborted" : failedText(attempts);
  const model = last?.model ?? request.models[0];
  const message: AssistantMessage = {
    role: "assistant",
    content: [],
    api: model?.api ?? "",
    provider: model?.provider ?? "",
    model: model?.id ?? "",
    usage: NO_USAGE,
    stopReason: kind === "aborted" ? "aborted" : "error",
    errorMessage: text,
    timestamp: clock.now(),
  };
  const { status } = last?.failure ?? {};
  // While every credential is in cooldown no provider is called: a caller that retries earlier gets the same answer.
  const retryAfterMs = waitMs ?? last?.failure.retryAfterMs;
  const trouble = last && troubleOf(last.failure, kind);
  const facts = { ...(status === undefined ? {} : { status }), ...(trouble === undefined ? {} : { trouble }) };
  return { ok: false, kind, text, message, attempts, ...facts, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}
