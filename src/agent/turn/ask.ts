import type { CallEvent, CallRequest, ModelEntry } from "../../models/index.ts";
import type { ModelMessage } from "../../protocol/index.ts";
import { MAX_OVERFLOW_ROUNDS, OVERFLOW_TEXT } from "../compaction/index.ts";
import { overspent } from "./budget.ts";
import { createContext } from "./context.ts";
import type { TurnDeps } from "./deps.ts";
import type { TurnInput, TurnPorts } from "./input.ts";
import { shownTools, type PreparedTurn } from "./prepare.ts";
import type { TurnRecord } from "./record.ts";

/** Asks the model of a turn. What it is sent after the first call is what the transcript then holds. */
export interface Asking {
  ask(messages: readonly ModelMessage[], only?: readonly ModelMessage[]): AsyncIterable<CallEvent>;
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
  /** What it was, where the name of its class would mislead. */
  readonly trouble?: string;
  readonly error?: string;
}

const MOST_ATTEMPTS = 10;
const ERROR_CHARS = 300;

/** The attempts of a call that did not simply work. */
export function attemptNotes(result: Extract<CallEvent, { type: "done" }>["result"]): readonly AttemptNote[] {
  if (result.ok && result.attempts.length < 2) return [];
  return result.attempts.slice(-MOST_ATTEMPTS).map(({ provider, model, startedAt, durationMs, firstMs, outcome, trouble, error }) => ({
    provider,
    model,
    at: startedAt,
    ms: Math.round(durationMs),
    ...(firstMs === undefined ? {} : { firstMs }),
    outcome,
    ...(trouble === undefined ? {} : { trouble }),
    ...(error === undefined ? {} : { error: error.slice(0, ERROR_CHARS).toWellFormed() }),
  }));
}

type Done = Extract<CallEvent, { type: "done" }>;

interface AskingStage {
  readonly turn: PreparedTurn;
  readonly record: TurnRecord;
  readonly signal: AbortSignal;
  readonly emit: TurnPorts["emit"];
}

export function createAsking(deps: TurnDeps, input: TurnInput, stage: AskingStage): Asking {
  const { turn, signal } = stage;
  const { chosen } = turn;
  const tools = shownTools(turn.toolbox, input);
  const context = createContext(deps, input, { ...stage, tools });
  const permit = (model: ModelEntry): Promise<string | undefined> => overspent(deps, input, model);
  let calls = 0;
  let profileId: string | undefined;
  let last: LastCall = { ms: 0, attempts: [], firstMs: undefined };

  async function* ask(messages: readonly ModelMessage[], only: readonly ModelMessage[] = []): AsyncGenerator<CallEvent, void, void> {
    const withOnly = (fitting: readonly ModelMessage[]): readonly ModelMessage[] => (only.length === 0 ? fitting : [...fitting, ...only]);
    let sent = withOnly(await context.fitting(messages));
    for (let round = 0; ; round += 1) {
      context.reportLeftOut();
      const started = deps.clock.monotonic();
      const startedAt = deps.clock.now();
      calls += 1;
      if (calls === 1) tellInput(deps, input, turn, sent);
      let refused: Done | undefined;
      const { systemPrompt } = context;
      for await (const event of chosen.models.call(
        input.agentId,
        requestOf(input, turn, { messages: sent, tools, systemPrompt, signal, permit, encoded: deps.session.encoded }),
      )) {
        if (event.type !== "done") yield event;
        else if (isTooLarge(event)) refused = event;
        else {
          if (event.result.ok) profileId = event.result.profileId;
          last = { ms: deps.clock.monotonic() - started, attempts: attemptNotes(event.result), firstMs: firstOf(event.result, startedAt) };
          yield event;
        }
      }
      if (!refused || refused.result.ok) return;
      const { kind } = refused.result;
      const next = round < MAX_OVERFLOW_ROUNDS && !signal.aborted ? await context.smaller(sent, messages, kind) : undefined;
      yield next ? { type: "discard", after: kind } : kind === "context_overflow" ? tooLong(refused) : refused;
      if (!next) return;
      sent = withOnly(next);
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

const isTooLarge = ({ result }: Done): boolean => !result.ok && (result.kind === "context_overflow" || result.kind === "image_size");

/** From a call's beginning to the first sign of the answer that counts; attempts before it are part of the wait. */
function firstOf({ attempts }: Extract<CallEvent, { type: "done" }>["result"], startedAt: number): number | undefined {
  const last = attempts.at(-1);
  return last?.firstMs === undefined ? undefined : Math.max(0, last.startedAt - startedAt + last.firstMs);
}

/** Nothing helped: the user is told what to do, the provider's own words stay with the attempts. */
function tooLong(event: Done): CallEvent {
  const { result } = event;
  return result.ok ? event : { type: "done", result: { ...result, text: OVERFLOW_TEXT, message: { ...result.message, errorMessage: OVERFLOW_TEXT } } };
}

function requestOf(
  input: TurnInput,
  { chosen, place }: PreparedTurn,
  call: Pick<CallRequest, "messages" | "tools" | "systemPrompt" | "signal" | "permit" | "encoded">,
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
  const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
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
