import type { CallEvent, CallRequest, ModelEntry } from "../../models/index.ts";
import type { ModelMessage } from "../../protocol/index.ts";
import { estimateTokens, view, viewSettings } from "../../sessions/index.ts";
import { compactionDue, compactionSettings, OVERFLOW_TEXT } from "../compaction/index.ts";
import { overspent } from "./budget.ts";
import type { TurnDeps } from "./deps.ts";
import type { TurnInput, TurnPorts } from "./input.ts";
import { shownTools, type PreparedTurn } from "./prepare.ts";
import type { TurnRecord } from "./record.ts";
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

interface AskingStage {
  readonly turn: PreparedTurn;
  readonly record: TurnRecord;
  readonly signal: AbortSignal;
  readonly emit: TurnPorts["emit"];
}

export function createAsking(deps: TurnDeps, input: TurnInput, { turn, record, signal, emit }: AskingStage): Asking {
  const { chosen, systemPrompt, place } = turn;
  const tools = shownTools(turn.toolbox, input);
  const permit = (model: ModelEntry): Promise<string | undefined> => overspent(deps, input, model);
  const settings = viewSettings(deps.config.current, input.sessionKey);
  const agentsFile = turn.files.find(({ name }) => name === "AGENTS.md")?.content;
  const room = createRoomMaker(deps, {
    ...turn,
    ...place,
    input,
    agentsFile,
    signal,
    append: (drafts, writes) =>
      record.now(drafts, [...writes, ["journal.append", { turnId: input.runId, kind: "compaction", data: { ms: deps.clock.now() - summingSince } }]]),
  });
  let calls = 0;
  let profileId: string | undefined;
  let last: LastCall = { ms: 0, attempts: [], firstMs: undefined };
  let summingSince = 0;
  /** The transcript tells more than the loop knows: something was summed up. */
  let summed = false;

  /** The whole conversation through the one function that makes it fit, as long as the transcript has all of it. */
  async function current(messages: readonly ModelMessage[]) {
    if ((calls === 0 && !summed) || record.withheld) return { messages, tokens: sizeOf(turn, messages) };
    const path = await deps.memory.path(place.file);
    const seen = view({ path: path.items, model: chosen.selection.entry, settings, now: deps.clock.now() });
    const unwritten = record.unwritten;
    return { messages: [...seen.messages, ...unwritten], tokens: seen.size.tokens + unwritten.reduce((sum, message) => sum + estimateTokens(message), 0) };
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
    const found = await current(messages);
    const about = { window: chosen.selection.contextWindow.tokens, settings: compactionSettings(deps.config.current.agents?.defaults?.compaction) };
    if (record.withheld || !compactionDue({ ...about, size: found.tokens })) return found.messages;
    await makeRoom(async () => (await room.compact("threshold")).kind === "compacted");
    return (await current(messages)).messages;
  }

  async function* ask(messages: readonly ModelMessage[]): AsyncGenerator<CallEvent> {
    for (;;) {
      const sent = await fitting(messages);
      const started = deps.clock.monotonic();
      const startedAt = deps.clock.now();
      calls += 1;
      if (calls === 1) tellInput(deps, input, turn, sent);
      let overflow: Extract<CallEvent, { type: "done" }> | undefined;
      for await (const event of chosen.models.call(input.agentId, requestOf(input, turn, { messages: sent, tools, systemPrompt, signal, permit }))) {
        if (event.type !== "done") yield event;
        else if (!event.result.ok && event.result.kind === "context_overflow") overflow = event;
        else {
          if (event.result.ok) profileId = event.result.profileId;
          last = { ms: deps.clock.monotonic() - started, attempts: attemptNotes(event.result), firstMs: firstOf(event.result, startedAt) };
          yield event;
        }
      }
      if (!overflow) return;
      const shorter = !record.withheld && (await makeRoom(room.afterOverflow));
      yield shorter ? { type: "discard", after: "context_overflow" } : tooLong(overflow);
      if (!shorter) return;
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
function sizeOf({ seen, prompt }: PreparedTurn, messages: readonly ModelMessage[]): number {
  return prompt ? seen.size.tokens + estimateTokens(prompt) : messages.reduce((sum, message) => sum + estimateTokens(message), 0);
}

/** Nothing helped: the user is told what to do, the provider's own words stay with the attempts. */
function tooLong(event: Extract<CallEvent, { type: "done" }>): CallEvent {
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
