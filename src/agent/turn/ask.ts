import type { CallEvent, CallRequest, ModelEntry } from "../../models/index.ts";
import type { ModelMessage } from "../../protocol/index.ts";
import { estimateTokens, imagesLeftOutEntry, tokensOfChars, view, viewSettings, type View } from "../../sessions/index.ts";
import { compactionDue, compactionSettings, MAX_OVERFLOW_ROUNDS, OVERFLOW_TEXT } from "../compaction/index.ts";
import { createCompactor, type Compactor } from "./compactor.ts";
import type { TurnRun } from "./deps.ts";
import { reportInput } from "./hooks.ts";
import { overspent } from "./model.ts";
import { createRequestFit, type RequestFit, type Size } from "./request-fit.ts";

/** The calls of a turn's model so far. */
export interface ModelCalls {
  count: number;
  /** The credential that the last answer was paid with. */
  profileId: string | undefined;
  last: LastCall;
  /** The conversation is the one that was prepared; after the first call it is what the transcript then holds. */
  isPrepared: boolean;
  /** Made when a conversation comes near the window. */
  fit: RequestFit | undefined;
  compactor: Compactor | undefined;
  /** When the compaction under way began. */
  compactingSince: number;
  /** Nothing was gained by summing up at this size: below it there is no point in trying again. */
  futileBelow: number;
}

/** How the last call of a turn went. */
export interface LastCall {
  readonly ms: number;
  /** When more than one was needed or none worked: which models were asked, and what came of it. */
  readonly attempts: readonly AttemptNote[];
  /** From its beginning until something came of the answer. */
  readonly firstMs: number | undefined;
}

/** One attempt to reach a model, as the journal has it. */
export interface AttemptNote {
  readonly provider: string;
  readonly model: string;
  readonly at: number;
  readonly ms: number;
  readonly firstMs?: number;
  readonly outcome: string;
  /** What it was, where the name of its class would mislead. */
  readonly trouble?: string;
  readonly error?: string;
}

export const noCalls = (): ModelCalls => ({
  count: 0,
  profileId: undefined,
  last: { ms: 0, attempts: [], firstMs: undefined },
  isPrepared: true,
  fit: undefined,
  compactor: undefined,
  compactingSince: 0,
  futileBelow: 0,
});

type Asking = Pick<TurnRun, "deps" | "input" | "ports" | "turn" | "record" | "calls" | "signal">;
type Done = Extract<CallEvent, { type: "done" }>;

/** Asks the model of a turn, with `only` for this question alone. A conversation that the provider refuses as too large is made smaller and sent again. */
export async function* askModel(run: Asking, messages: readonly ModelMessage[], only: readonly ModelMessage[] = []): AsyncGenerator<CallEvent, void, void> {
  const { deps, input, turn, calls, signal } = run;
  const permit = (model: ModelEntry): Promise<string | undefined> => overspent(deps, input, model);
  let fitting = await fittingMessages(run, messages);
  for (let round = 0; ; round += 1) {
    const sent = only.length === 0 ? fitting : [...fitting, ...only];
    if (calls.fit) reportLeftOut(run, calls.fit);
    const started = deps.clock.monotonic();
    const startedAt = deps.clock.now();
    calls.count += 1;
    if (calls.count === 1) reportInput(deps, input, turn, sent);
    let refused: Done | undefined;
    for await (const event of turn.chosen.models.call(input.agentId, { ...requestOf(run), messages: sent, permit })) {
      if (event.type !== "done") yield event;
      else if (!event.result.ok && (event.result.kind === "context_overflow" || event.result.kind === "image_size")) refused = event;
      else {
        if (event.result.ok) calls.profileId = event.result.profileId;
        calls.last = lastCall(event.result, deps.clock.monotonic() - started, startedAt);
        yield event;
      }
    }
    if (!refused || refused.result.ok) return;
    const { kind } = refused.result;
    const next = round < MAX_OVERFLOW_ROUNDS && !signal.aborted ? await smallerMessages(run, sent, messages, kind) : undefined;
    yield next ? { type: "discard", after: kind } : kind === "context_overflow" ? tooLong(refused) : refused;
    if (!next) return;
    fitting = next;
  }
}

function requestOf({ deps, input, turn, calls, signal }: Asking): Omit<CallRequest, "messages"> {
  const { runId, agentId, sessionKey, maxTokens, temperature } = input;
  const { selection, tried, thinking, pin } = turn.chosen;
  return {
    runId,
    agentId,
    sessionKey,
    sessionId: turn.target.sessionId,
    ...(sessionKey.startsWith(`agent:${agentId}:subagent:`) ? { cacheKey: `subagents-of-${agentId}` } : {}),
    models: tried,
    thinking,
    tools: turn.tools,
    systemPrompt: calls.fit?.systemPrompt ?? turn.systemPrompt,
    signal,
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(pin ? { pin } : {}),
    params: selection.paramsOf,
    encoded: deps.session.encoded,
  };
}

const MOST_ATTEMPTS = 10;
const ERROR_CHARS = 300;

function lastCall(result: Done["result"], ms: number, startedAt: number): LastCall {
  const last = result.attempts.at(-1);
  // Attempts before the one that counts are part of the wait.
  const firstMs = last?.firstMs === undefined ? undefined : Math.max(0, last.startedAt - startedAt + last.firstMs);
  if (result.ok && result.attempts.length < 2) return { ms, attempts: [], firstMs };
  const attempts = result.attempts.slice(-MOST_ATTEMPTS).map((attempt) => ({
    provider: attempt.provider,
    model: attempt.model,
    at: attempt.startedAt,
    ms: Math.round(attempt.durationMs),
    ...(attempt.firstMs === undefined ? {} : { firstMs: attempt.firstMs }),
    outcome: attempt.outcome,
    ...(attempt.trouble === undefined ? {} : { trouble: attempt.trouble }),
    ...(attempt.error === undefined ? {} : { error: attempt.error.slice(0, ERROR_CHARS).toWellFormed() }),
  }));
  return { ms, attempts, firstMs };
}

/** Nothing helped: the user is shown what to do, the provider's own words stay with the attempts. */
function tooLong(event: Done): CallEvent {
  const { result } = event;
  return result.ok ? event : { type: "done", result: { ...result, text: OVERFLOW_TEXT, message: { ...result.message, errorMessage: OVERFLOW_TEXT } } };
}

/** Below these shares of the window a conversation is not measured: a count includes the system prompt and the tools, a guess does not. */
const FAR_COUNTED = 0.4;
const FAR_GUESSED = 0.1;
/** A request that was made smaller has to be at least so much smaller to be worth another try. */
const LEAST_GAIN = 0.95;
/** After a compaction that gained nothing, the next one waits until the conversation has grown by this. */
const FUTILE_GROWTH = 1.15;

interface Sized {
  readonly messages: readonly ModelMessage[];
  readonly size: Size;
}

/** What is sent of the conversation: as much as fits the model's window. It is summed up before, when that is due. */
async function fittingMessages(run: Asking, messages: readonly ModelMessage[]): Promise<readonly ModelMessage[]> {
  const { turn, record, calls } = run;
  let found = await currentMessages(run, messages);
  const window = turn.chosen.selection.contextWindow.tokens;
  const { counted, estimated } = found.size;
  const promptTokens = tokensOfChars((calls.fit?.systemPrompt ?? turn.systemPrompt).length);
  const isFar = counted > 0 ? counted + estimated * 2 < window * FAR_COUNTED : estimated + promptTokens < window * FAR_GUESSED;
  // Far from any limit nothing has to be measured.
  if (isFar) {
    calls.isPrepared = false;
    return calls.fit?.fit(found.messages, 0) ?? found.messages;
  }
  const fit = requestFit(run);
  if (!record.withheld && isDue(run, fit.total(found.size))) {
    const done = await compacted(run, async (compactor) => (await compactor.compact("threshold")).kind === "compacted");
    found = await currentMessages(run, messages);
    const total = fit.total(found.size);
    if (!done || isDue(run, total)) calls.futileBelow = Math.floor(total * FUTILE_GROWTH);
  }
  calls.isPrepared = false;
  return fit.fit(found.messages, fit.total(found.size));
}

/** The whole conversation through the one function that makes it fit, as long as the transcript has all of it. */
async function currentMessages({ deps, input, turn, record, calls }: Asking, messages: readonly ModelMessage[]): Promise<Sized> {
  if (calls.isPrepared || record.withheld) {
    if (turn.prompt) return { messages, size: sizeWith(turn.seen, [turn.prompt]) };
    const whole = estimateTokens(messages);
    return { messages, size: { counted: 0, estimated: whole, whole } };
  }
  const { items } = await deps.session.path(turn.target.file);
  const settings = viewSettings(deps.config.current, input.sessionKey);
  const seen = view({ path: items, model: turn.chosen.selection.entry, settings, now: deps.clock.now(), memo: deps.session.view });
  return { messages: [...seen.messages, ...record.unwritten], size: sizeWith(seen, record.unwritten) };
}

/** What the provider counted last, and what is new. */
function sizeWith({ size, estimate }: View, more: readonly ModelMessage[]): Size {
  const added = estimateTokens(more);
  return { counted: size.counted, estimated: size.estimated + added, whole: estimate + added };
}

function requestFit({ turn, calls }: Asking): RequestFit {
  const window = turn.chosen.selection.contextWindow.tokens;
  return (calls.fit ??= createRequestFit({ window, systemPrompt: turn.systemPrompt, tools: turn.tools }));
}

function isDue(run: Asking, total: number): boolean {
  const settings = compactionSettings(run.deps.config.current.agents?.defaults?.compaction);
  const window = run.turn.chosen.selection.contextWindow.tokens;
  return total > run.calls.futileBelow && compactionDue({ window, settings, size: total, overhead: requestFit(run).measure().overhead });
}

/** Sums up the conversation. True when there is less of it now. */
async function compacted(run: Asking, how: (compactor: Compactor) => Promise<boolean>): Promise<boolean> {
  const { deps, input, turn, ports, record, calls, signal } = run;
  ports.emit({ stream: "compaction", data: { phase: "start" } });
  calls.compactingSince = deps.clock.now();
  await record.flush();
  calls.compactor ??= createCompactor(deps, {
    input,
    target: turn.target,
    chosen: turn.chosen,
    context: turn.context,
    agentsFile: turn.files.find(({ name }) => name === "AGENTS.md")?.content,
    signal,
    measure: requestFit(run).measure,
    append: (drafts, writes) =>
      record.now(drafts, [...writes, ["journal.append", { turnId: input.runId, kind: "compaction", data: { ms: deps.clock.now() - calls.compactingSince } }]]),
  });
  const done = await how(calls.compactor);
  // From here on the transcript has more than the loop knows.
  calls.isPrepared = false;
  ports.emit({ stream: "compaction", data: { phase: "end", willRetry: done } });
  return done;
}

/** After the provider refused what was sent: what is sent next, or undefined when nothing can be made smaller. */
async function smallerMessages(
  run: Asking,
  sent: readonly ModelMessage[],
  messages: readonly ModelMessage[],
  kind: string,
): Promise<readonly ModelMessage[] | undefined> {
  const fit = requestFit(run);
  if (kind === "image_size" && fit.refusedImages(sent)) {
    // Later turns would send them again and be refused again.
    run.record.later([imagesLeftOutEntry]);
    return fittingMessages(run, messages);
  }
  const before = estimateTokens(sent) + tokensOfChars(fit.systemPrompt.length);
  fit.refused(sent);
  if (!run.record.withheld) await compacted(run, (compactor) => compactor.afterOverflow(estimateTokens(sent) + fit.measure().overhead));
  const next = await fittingMessages(run, messages);
  return estimateTokens(next) + tokensOfChars(fit.systemPrompt.length) < before * LEAST_GAIN ? next : undefined;
}

/** Reports to the user what was left out since the last report. */
function reportLeftOut({ deps, input, ports }: Asking, fit: RequestFit): void {
  const notice = fit.takeNotice();
  if (notice === undefined) return;
  deps.log.warn(notice, { sessionKey: input.sessionKey, runId: input.runId });
  ports.emit({ stream: "compaction", data: { phase: "end", willRetry: true, notice } });
}
