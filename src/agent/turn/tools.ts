import { isRecord } from "../../base/records.ts";
import type { ModelMessage, ToolCallContent, ToolResultMessage } from "../../protocol/index.ts";
import { view, viewSettings } from "../../sessions/index.ts";
import type { StepRow } from "../../store/index.ts";
import { failedOutcome } from "../../tools/index.ts";
import { sideBySide } from "../loop/batches.ts";
import type { ToolAnswer } from "../loop/ports.ts";
import type { TurnRun } from "./deps.ts";
import type { PreparedTurn } from "./prepare.ts";

/** The process stops: the turn is left as it is. */
export class TurnLeft extends Error {}

/** Carries out the calls of a turn. */
export interface TurnTools {
  run(call: ToolCallContent, update: (partial: unknown) => void): Promise<ToolAnswer>;
  /** Whether a call may run beside others. */
  isParallel(call: ToolCallContent): boolean;
  /** Calls that the client is to carry out. */
  readonly delegated: readonly ToolCallContent[];
  /** The last result, when it was a failure. */
  failed: ToolResultMessage | undefined;
  /** A tool has sent the user something already. */
  delivered: boolean;
}

/** Tools whose success the user sees by itself. */
export const MESSAGING: ReadonlySet<string> = new Set(["message", "sessions_send"]);

export function createTurnTools({ toolbox, clientTools }: PreparedTurn, signals: { readonly run: AbortSignal; readonly stopping: AbortSignal }): TurnTools {
  const delegated: ToolCallContent[] = [];
  const isClients = (called: string): boolean => clientTools.some(({ name }) => name === called);
  return {
    delegated,
    failed: undefined,
    delivered: false,
    isParallel: ({ name }) => !isClients(name) && toolbox.isParallel(name),
    async run(call, update) {
      if (call.argumentsError !== undefined) return failedOutcome(`${call.name} was not run: ${call.argumentsError}`);
      if (isClients(call.name)) {
        delegated.push(call);
        return delegatedAnswer(call);
      }
      const outcome = await toolbox.run({ id: call.id, name: call.name, arguments: call.arguments, signal: signals.run, update });
      // What it did until then is not known: the intent stays without a result.
      if (signals.stopping.aborted) throw new TurnLeft("the process stops");
      return outcome;
    },
  };
}

function delegatedAnswer(call: ToolCallContent): ToolAnswer {
  const details = { status: "pending", tool: call.name, message: "The caller carries out this call." };
  return { content: [{ type: "text", text: JSON.stringify(details, null, 2) }], details, isError: false, terminate: true };
}

export const INTERRUPTED = "Interrupted: the gateway stopped while this call ran. Its outcome is unknown; check before you do it again.";
export const NOT_STARTED = "Not run: the gateway stopped before this call was made.";

/**
 * Resumes a turn at the step where its process died: calls of the last answer without a result get one, in their order, and the conversation is what the
 * model is asked with again. Batches are run one after the other, so the first call without a result and those of its batch may have run: they run again
 * only when their tool says that this does no harm. The others were never begun, and the model decides what becomes of them.
 */
export async function resumeCalls({ deps, input, turn, record, tools }: TurnRun): Promise<readonly ModelMessage[]> {
  const { clock, session, config } = deps;
  const { target, toolbox, chosen } = turn;
  const open = openCalls(target.path.items.flatMap(({ message }) => (message ? [message] : [])));
  const [first] = open;
  const batchOf = batches(turn.steps);
  const isBegun = (call: ToolCallContent): boolean => call === first || (batchOf.get(call.id) !== undefined && batchOf.get(call.id) === batchOf.get(first?.id));
  const settle = async (call: ToolCallContent): Promise<ToolResultMessage> => {
    if (!isBegun(call)) return unknownResult(call, NOT_STARTED, clock.now());
    if (!toolbox.isIdempotent(call.name)) return unknownResult(call, INTERRUPTED, clock.now());
    const { content, details, isError } = await tools.run(call, () => {});
    const shown = details === undefined ? { content } : { content, details };
    return { role: "toolResult", toolCallId: call.id, toolName: call.name, ...shown, isError, timestamp: clock.now() };
  };
  for await (const result of sideBySide(open, settle)) await record.addResult(result);
  const { items } = await session.path(target.file);
  const settings = viewSettings(config.current, input.sessionKey);
  return view({ path: items, model: chosen.selection.entry, settings, now: clock.now(), memo: session.view }).messages;
}

/** The calls of a conversation's last answer that have no result. */
function openCalls(messages: readonly ModelMessage[]): readonly ToolCallContent[] {
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  const last = messages[at];
  const answered = new Set(messages.slice(at + 1).flatMap((message) => (message.role === "toolResult" ? [message.toolCallId] : [])));
  return last?.role === "assistant" ? last.content.filter((part) => part.type === "toolCall").filter(({ id }) => !answered.has(id)) : [];
}

/** The batch that each call was part of, as its intent says. */
function batches(steps: readonly StepRow[]): ReadonlyMap<string | null | undefined, unknown> {
  const known = new Map<string | null | undefined, unknown>();
  for (const { kind, callId, data } of steps) if (kind === "tool.intent" && isRecord(data)) known.set(callId, data["batch"]);
  return known;
}

function unknownResult(call: ToolCallContent, text: string, timestamp: number): ToolResultMessage {
  const details = { status: text === INTERRUPTED ? "unknown" : "not-run" };
  return { role: "toolResult", toolCallId: call.id, toolName: call.name, content: [{ type: "text", text }], details, isError: true, timestamp };
}
