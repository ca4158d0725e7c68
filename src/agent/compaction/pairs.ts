import type { Piece } from "../../sessions/index.ts";

/**
 * For each message, the place of the last result that answers one of its calls; its own place when it has none. A result belongs to the nearest
 * call before it with its id that has none yet. Open calls of the last answer reach beyond the end: their results are
 * yet to come.
 */
export function reachOfCalls(pieces: readonly Piece[]): readonly number[] {
  const reach = pieces.map((_, at) => at);
  const open = new Map<string, number[]>();
  for (const [at, { message }] of pieces.entries()) {
    if (message.role === "toolResult") {
      const caller = open.get(message.toolCallId)?.pop();
      if (caller !== undefined) reach[caller] = at;
    } else if (message.role === "assistant") {
      for (const part of message.content) {
        if (part.type !== "toolCall") continue;
        const callers = open.get(part.id);
        if (callers) callers.push(at);
        else open.set(part.id, [at]);
      }
    }
  }
  const last = pieces.findLastIndex(({ message }) => message.role === "assistant");
  if ([...open.values()].some((callers) => callers.includes(last))) reach[last] = pieces.length;
  return reach;
}
