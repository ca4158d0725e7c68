import type { CallEvent, CallRequest, ModelEntry } from "../../models/index.ts";
import type { ModelMessage } from "../../protocol/index.ts";
import { tokensOfChars, view, viewSettings, type View } from "../../sessions/index.ts";
import { compactionDue, compactionSettings, MAX_OVERFLOW_ROUNDS, OVERFLOW_TEXT, tokensOf } from "../compaction/index.ts";
import { overspent } from "./budget.ts";
import type { TurnDeps } from "./deps.ts";
import type { TurnInput, TurnPorts } from "./input.ts";
import { shownTools, type PreparedTurn } from "./prepare.ts";
import type { TurnRecord } from "./record.ts";
import { createRequestFit, type Size } from "./request-fit.ts";
import { createRoomMaker } from "./room-maker.ts";

/** Asks the model of a turn. What it is sent after the first call is what the transcript then holds. */
export interface Asking {
  ask(messages: readonly ModelMessage[]): AsyncIterable<CallEvent>;
  /** The credential that the last answer was paid with. */
  readonly profileId: string | undefined;
  readonly last: LastCall;
}

/** How the last call of a turn went. */
export interface LastCall {
  readonly ms: number;
  /** When more than one was needed or none worked: who was asked, and what came of it. */
  readonly attempts: readonly AttemptNote[];
  /** From its beginning until something came of the answer. */
  readonly firstMs: number | undefined;
}

/** One attempt to reach a model, as the journal keeps it. */
export interface AttemptNote {
  readonly provider: string;
  readonly model: string;
  readonly at: number;
  readonly ms: number;
  readonly firstMs?: number;
  readonly outcome: string;
  readonly error?: string;
}

const MOST_ATTEMPTS = 10;
const ERROR_CHARS = 300;

/** The attempts of a call that did not simply work. */
export function attemptNotes(result: Extract<CallEvent, { type: "done" }>["result"]): readonly AttemptNote[] {
  if (result.ok && result.attempts.length < 2) return [];
  return result.attempts.slice(-MOST_ATTEMPTS).map(({ provider, model, startedAt, durationMs, firstMs, outcome, error }) => ({
    provider,
    model,
    at: startedAt,
    ms: Math.round(durationMs),
    ...(firstMs === undefined ? {} : { firstMs }),
    outcome,
    ...(error === undefined ? {} : { error: error.slice(0, ERROR_CHARS).toWellFormed() }),
  }));
}

type Done = Extract<CallEvent, { type: "done" }>;

/** Below these shares of the window a conversation is not measured: a count includes the system prompt and the tools, a guess does not. */
const FAR_COUNTED = 0.4;
const FAR_GUESSED = 0.1;
/** A request that was made smaller has to be at least so much smaller to be worth another try. */
const LEAST_GAIN = 0.95;
/** After a compaction that gained nothing, the next one waits until the conversation has grown by this. */
const FUTILE_GROWTH = 1.15;

interface AskingStage {
  readonly turn: PreparedTurn;
  readonly record: TurnRecord;
  readonly signal: AbortSignal;
  readonly emit: TurnPorts["emit"];
}

export function createAsking(deps: TurnDeps, input: TurnInput, { turn, record, signal, emit }: AskingStage): Asking {
  const { chosen, place } = turn;
  const tools = shownTools(turn.toolbox, input);
  const window = chosen.selection.contextWindow.tokens;
  const fit = createRequestFit({ window, systemPrompt: turn.systemPrompt, tools });
  const permit = (model: ModelEntry): Promise<string | undefined> => overspent(deps, input, model);
  const agentsFile = turn.files.find(({ name }) => name === "AGENTS.md")?.content;
  const room = createRoomMaker(deps, {
    ...turn,
    ...place,
    input,
    agentsFile,
    signal,
    measure: fit.measure,
    append: (drafts, writes) =>
      record.now(drafts, [...writes, ["journal.append", { turnId: input.runId, kind: "compaction", data: { ms: deps.clock.now() - summingSince } }]]),
  });
  let calls = 0;
  let profileId: string | undefined;
  let last: LastCall = { ms: 0, attempts: [], firstMs: undefined };
  let summingSince = 0;
  /** The transcript tells more than the loop knows: something was summed up. */
  let summed = false;
  /** Nothing was gained by summing up at this size: below it there is no point in trying again. */
  let futileBelow = 0;

  /** The whole conversation through the one function that makes it fit, as long as the transcript has all of it. */
  async function current(messages: readonly ModelMessage[]): Promise<{ readonly messages: readonly ModelMessage[]; readonly size: Size }> {
    if ((calls === 0 && !summed) || record.withheld) return { messages, size: sizeOf(turn, messages) };
    const path = await deps.memory.path(place.file);
    const settings = viewSettings(deps.config.current, input.sessionKey);
    const seen = view({ path: path.items, model: chosen.selection.entry, settings, now: deps.clock.now() });
    return { messages: [...seen.messages, ...record.unwritten], size: sizeWith(seen, record.unwritten) };
  }

  /** Sums up the conversation. True when there is less of it now. */
  async function makeRoom(how: () => Promise<boolean>): Promise<boolean> {
    emit({ stream: "compaction", data: { phase: "start" } });
    summingSince = deps.clock.now();
    await record.flush();
    const done = await how();
    summed = true;
    emit({ stream: "compaction", data: { phase: "end", willRetry: done } });
    return done;
  }

  async function fitting(messages: readonly ModelMessage[]): Promise<readonly ModelMessage[]> {
    let found = await current(messages);
    // Far from any limit nothing has to be measured.
    if (isFar(found.size, fit.systemPrompt, window)) return fit.fit(found.messages, 0);
    const due = (): boolean => {
      const about = { window, settings: compactionSettings(deps.config.current.agents?.defaults?.compaction) };
      const size = fit.total(found.size);
      return size > futileBelow && compactionDue({ ...about, size, overhead: fit.measure().overhead });
    };
    if (!record.withheld && due()) {
      const done = await makeRoom(async () => (await room.compact("threshold")).kind === "compacted");
      found = await current(messages);
      if (!done || due()) futileBelow = Math.floor(fit.total(found.size) * FUTILE_GROWTH);
    }
    return fit.fit(found.messages, fit.total(found.size));
  }

  /** What was left out is told where the user sees it. */
  function tellLeftOut(): void {
    const notice = fit.takeNotice();
    if (notice === undefined) return;
    deps.log.warn(notice, { sessionKey: input.sessionKey, runId: input.runId });
    emit({ stream: "compaction", data: { phase: "end", willRetry: true, notice } });
  }

  /** After a refusal: what is sent next, or undefined when nothing can be made smaller. */
  async function smaller(sent: readonly ModelMessage[], messages: readonly ModelMessage[], kind: string): Promise<readonly ModelMessage[] | undefined> {
    if (kind === "image_size" && fit.refusedImages(sent)) return fitting(messages);
    const before = tokensOf(sent) + tokensOfChars(fit.systemPrompt.length);
    fit.refused(sent);
    if (!record.withheld) await makeRoom(() => room.afterOverflow(tokensOf(sent) + fit.measure().overhead));
    const next = await fitting(messages);
    return tokensOf(next) + tokensOfChars(fit.systemPrompt.length) < before * LEAST_GAIN ? next : undefined;
  }

  async function* ask(messages: readonly ModelMessage[]): AsyncGenerator<CallEvent> {
    let sent = await fitting(messages);
    for (let round = 0; ; round += 1) {
      tellLeftOut();
      const started = deps.clock.monotonic();
      const startedAt = deps.clock.now();
      calls += 1;
      if (calls === 1) tellInput(deps, input, turn, sent);
      let refused: Done | undefined;
      const { systemPrompt } = fit;
      for await (const event of chosen.models.call(input.agentId, requestOf(input, turn, { messages: sent, tools, systemPrompt, signal, permit }))) {
        if (event.type !== "done") yield event;
        else if (!event.result.ok && (event.result.kind === "context_overflow" || event.result.kind === "image_size")) refused = event;
        else {
          if (event.result.ok) profileId = event.result.profileId;
          last = { ms: deps.clock.monotonic() - started, attempts: attemptNotes(event.result), firstMs: firstOf(event.result, startedAt) };
          yield event;
        }
      }
      if (!refused || refused.result.ok) return;
      const { kind } = refused.result;
      const next = round < MAX_OVERFLOW_ROUNDS && !signal.aborted ? await smaller(sent, messages, kind) : undefined;
      if (!next) return yield kind === "context_overflow" ? tooLong(refused) : refused;
      yield { type: "discard", after: kind };
      sent = next;
    }
  }

  return {
    ask,
    get profileId() {
      return profileId;
    },
    get last() {
      return last;
    },
  };
}

/** From a call's beginning to the first sign of the answer that counts; attempts before it are part of the wait. */
function firstOf({ attempts }: Extract<CallEvent, { type: "done" }>["result"], startedAt: number): number | undefined {
  const last = attempts.at(-1);
  return last?.firstMs === undefined ? undefined : Math.max(0, last.startedAt - startedAt + last.firstMs);
}

/** What the first prompt of a turn takes: what the provider counted last, and what is new. */
function sizeOf({ seen, prompt }: PreparedTurn, messages: readonly ModelMessage[]): Size {
  if (prompt) return sizeWith(seen, [prompt]);
  const whole = tokensOf(messages);
  return { counted: 0, estimated: whole, whole };
}

function sizeWith({ size, estimate }: View, more: readonly ModelMessage[]): Size {
  const added = tokensOf(more);
  return { counted: size.counted, estimated: size.estimated + added, whole: estimate + added };
}

function isFar({ counted, estimated }: Size, systemPrompt: string, window: number): boolean {
  if (counted > 0) return counted + estimated * 2 < window * FAR_COUNTED;
  return estimated + tokensOfChars(systemPrompt.length) < window * FAR_GUESSED;
}

/** Nothing helped: the user is told what to do, the provider's own words stay with the attempts. */
function tooLong(event: Done): CallEvent {
  const { result } = event;
  return result.ok ? event : { type: "done", result: { ...result, text: OVERFLOW_TEXT, message: { ...result.message, errorMessage: OVERFLOW_TEXT } } };
}

function requestOf(
  input: TurnInput,
  { chosen, place }: PreparedTurn,
  call: Pick<CallRequest, "messages" | "tools" | "systemPrompt" | "signal" | "permit">,
): CallRequest {
  const { runId, agentId, sessionKey, maxTokens, temperature } = input;
  const { selection, tried, thinking, pin } = chosen;
  return {
    runId,
    agentId,
    sessionKey,
    sessionId: place.sessionId,
    models: tried,
    thinking,
    ...call,
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(pin ? { pin } : {}),
    params: selection.paramsOf,
  };
}

/** `llm_input`: once in a turn, with what the model sees first. */
function tellInput(
  { hooks }: TurnDeps,
  { runId }: TurnInput,
  { chosen, context, place, prompt, systemPrompt, seen }: PreparedTurn,
  sent: readonly ModelMessage[],
): void {
  if (!hooks.has("llm_input")) return;
  const { provider, id } = chosen.selection.entry;
  const content = prompt && typeof prompt.content !== "string" ? prompt.content : [];
  const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  void hooks.run(
    "llm_input",
    {
      runId,
      sessionId: place.sessionId,
      provider,
      model: id,
      systemPrompt,
      prompt: text,
      historyMessages: [...(prompt ? seen.messages : sent)],
      imagesCount: content.filter(({ type }) => type === "image").length,
    },
    context.agent(),
  );
}
