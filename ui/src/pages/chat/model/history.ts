import type { MethodResult } from "openclaw/client";
import type { PageAnswer } from "./entries.ts";
import { fieldsOf, textOf } from "./said.ts";
import type { ChatEntry } from "./state.ts";

const KINDS: Readonly<Record<string, ChatEntry["kind"]>> = { user: "user", assistant: "assistant", toolResult: "tool", tool: "tool" };

function usageOf(value: unknown): ChatEntry["usage"] {
  const { input, output, cacheRead, cacheWrite, cost } = fieldsOf(value);
  if (typeof input !== "number" || typeof output !== "number") return undefined;
  const dollars = fieldsOf(cost)["total"];
  return {
    input,
    output,
    ...(typeof cacheRead === "number" ? { cacheRead } : {}),
    ...(typeof cacheWrite === "number" ? { cacheWrite } : {}),
    ...(typeof dollars === "number" ? { cost: dollars } : {}),
  };
}

function entryOf(message: unknown, at: number): ChatEntry {
  const fields = fieldsOf(message);
  const { role, content, timestamp, toolCallId, toolName, isError, errorMessage, model, provider, stopReason } = fields;
  const compaction = fieldsOf(fields["__openclaw"])["kind"] === "compaction";
  const usage = usageOf(fields["usage"]);
  const texts = { toolCallId, toolName, error: errorMessage, model, provider, stopReason };
  return {
    seq: at + 1,
    ts: typeof timestamp === "number" ? timestamp : 0,
    kind: compaction ? "compaction" : (KINDS[textOf(role)] ?? "note"),
    content: Array.isArray(content) ? content : [{ type: "text", text: textOf(content) }],
    ...Object.fromEntries(Object.entries(texts).filter(([, value]) => typeof value === "string" && value !== "")),
    ...(isError === true ? { isError } : {}),
    ...(usage ? { usage } : {}),
  };
}

/** A page made of `chat.history`, for a gateway that has no `chat.page`: the newest messages, all of them each time. Positions hold until the next one. */
export function pageOfHistory(answer: MethodResult<"chat.history">): PageAnswer {
  const entries = answer.messages.map(entryOf);
  const { sessionKey, sessionId } = answer;
  return { sessionKey, ...(sessionId === undefined ? {} : { sessionId }), entries, more: false, last: entries.length, pending: [], runs: [] };
}
