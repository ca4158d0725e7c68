import { sideBySide } from "../loop/batches.ts";
import type { ModelMessage, ToolCallContent, ToolResultMessage } from "../../protocol/index.ts";
import type { StepRow, Store } from "../../store/index.ts";
import type { Toolbox } from "../../tools/index.ts";

export const INTERRUPTED = "Interrupted: the gateway stopped while this call ran. Its outcome is unknown; check before you do it again.";
export const NOT_STARTED = "Not run: the gateway stopped before this call was made.";

/** Whether a turn that is taken up again has anything to go on from. */
export async function stepsOf(store: Pick<Store, "read">, turnId: string): Promise<readonly StepRow[]> {
  return store.read("journal.steps", { turnId });
}

/**
 * Results for the calls of the step at which a process died, in their order. Batches are made one after the other, so the first call without a result
 * and those of its batch may have run: they run again only when their tool says that this does no harm. The others were never begun, and the model
 * decides what becomes of them.
 */
export async function settleCalls(
  calls: readonly ToolCallContent[],
  answered: ReadonlySet<string>,
  deps: {
    readonly toolbox: Pick<Toolbox, "isIdempotent">;
    /** Steps of the turn so far: they tell which calls started together. */
    readonly steps: readonly StepRow[];
    readonly runAgain: (call: ToolCallContent) => Promise<ToolResultMessage>;
    readonly keep: (result: ToolResultMessage) => Promise<unknown>;
    readonly now: () => number;
  },
): Promise<void> {
  const open = calls.filter(({ id }) => !answered.has(id));
  const [first] = open;
  if (!first) return;
  const batchOf = batches(deps.steps);
  const begun = (call: ToolCallContent): boolean => call === first || (batchOf(call) !== undefined && batchOf(call) === batchOf(first));
  const settle = async (call: ToolCallContent): Promise<ToolResultMessage> => {
    if (!begun(call)) return untold(call, NOT_STARTED, deps.now());
    return deps.toolbox.isIdempotent(call.name) ? deps.runAgain(call) : untold(call, INTERRUPTED, deps.now());
  };
  for await (const result of sideBySide(open, settle)) await deps.keep(result);
}

/** The batch that a call was part of, as its intent says. */
function batches(steps: readonly StepRow[]): (call: ToolCallContent) => unknown {
  const known = new Map<string | null | undefined, unknown>();
  for (const { kind, callId, data } of steps) if (kind === "tool.intent") known.set(callId, (data as { readonly batch?: unknown } | null)?.batch);
  return ({ id }) => known.get(id);
}

function untold(call: ToolCallContent, text: string, timestamp: number): ToolResultMessage {
  const details = { status: text === INTERRUPTED ? "unknown" : "not-run" };
  return { role: "toolResult", toolCallId: call.id, toolName: call.name, content: [{ type: "text", text }], details, isError: true, timestamp };
}

/** The calls of a conversation's last answer, and which of them have their result. */
export function lastCalls(messages: readonly ModelMessage[]): { readonly calls: readonly ToolCallContent[]; readonly answered: ReadonlySet<string> } {
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  const last = messages[at];
  const calls = last?.role === "assistant" ? last.content.filter((part) => part.type === "toolCall") : [];
  const results = messages.slice(at + 1).flatMap((message) => (message.role === "toolResult" ? [message.toolCallId] : []));
  return { calls, answered: new Set(results) };
}
