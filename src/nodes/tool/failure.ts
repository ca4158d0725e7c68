import { messageOf, type AppError } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import { failedOutcome, type MarkUntrusted, type ToolContext, type ToolOutcome } from "../../tools/index.ts";

/** Code of errors whose text a page on the canvas wrote. */
export const CANVAS_ERROR = "CANVAS_ERROR";

/** Who asked for what, as the documented errors of these tools begin. */
export const callPrefix = ({ agentId }: ToolContext, node: string | undefined, action: unknown): string =>
  `agent=${agentId} node=${node ?? "auto"} gateway=default action=${String(action)}`;

/** Whose text the reason is, or quotes: a node's, or that of a page on the canvas. */
function writerOf({ code, nodeError }: Readonly<Record<string, unknown>>): "nodes" | "canvas" | undefined {
  if (code === CANVAS_ERROR) return "canvas";
  return code === "INVALID_ANSWER" || (isRecord(nodeError) && code === undefined) ? "nodes" : undefined;
}

/** A call that failed. What a node or a page wrote about it is text of others. */
export function failedCall(prefix: string, error: AppError, mark: MarkUntrusted): ToolOutcome {
  const details = isRecord(error.details) ? error.details : {};
  const reason = messageOf(error);
  const source = writerOf(details);
  const shown = source === undefined ? ` ${reason}` : `\n${mark(reason, { source })}`;
  return failedOutcome(`${prefix}:${shown}`, { status: "error", error: reason, ...details });
}
