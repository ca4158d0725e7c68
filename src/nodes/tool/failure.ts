import { messageOf, type AppError } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import { failedOutcome, type MarkUntrusted, type ToolContext, type ToolOutcome } from "../../tools/index.ts";

/** Who asked for what, as the documented errors of these tools begin. */
export const callPrefix = ({ agentId }: ToolContext, node: string | undefined, action: unknown): string =>
  `agent=${agentId} node=${node ?? "auto"} gateway=default action=${String(action)}`;

/** The reason is the node's own text, or quotes it. */
const isOfNode = (details: Readonly<Record<string, unknown>>): boolean =>
  details["code"] === "INVALID_ANSWER" || (isRecord(details["nodeError"]) && details["code"] === undefined);

/** A call that failed. What a node wrote about it is text of others. */
export function failedCall(prefix: string, error: AppError, mark: MarkUntrusted): ToolOutcome {
  const details = isRecord(error.details) ? error.details : {};
  const reason = messageOf(error);
  const shown = isOfNode(details) ? `\n${mark(reason, { source: "nodes" })}` : ` ${reason}`;
  return failedOutcome(`${prefix}:${shown}`, { status: "error", error: reason, ...details });
}
