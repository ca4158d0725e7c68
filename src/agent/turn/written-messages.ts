import type { ModelMessage, ToolResultMessage } from "../../protocol/index.ts";
import { boundedDetails } from "../../tools/index.ts";
import type { TurnDeps } from "./deps.ts";
import type { TurnInput } from "./input.ts";
import { maskMessage } from "./masked.ts";

/**
 * Plugins may change a message before it is written, or keep it out of the transcript: then undefined. Registered secrets are masked after they had
 * their say: what they add is stored too.
 */
export function beforeWrite<M extends ModelMessage>(deps: TurnDeps, input: TurnInput, message: M): M | undefined {
  const written = changedByPlugins(deps, input, message);
  return written && maskMessage(deps.redactor, written);
}

function changedByPlugins<M extends ModelMessage>({ hooks }: TurnDeps, { sessionKey, agentId }: TurnInput, message: M): M | undefined {
  if (!hooks.has("before_message_write")) return message;
  const said = hooks.run("before_message_write", { message: message as never, sessionKey, agentId }, { sessionKey, agentId });
  if (said?.block) return undefined;
  const changed: unknown = said?.message;
  return isMessage(changed, message.role) ? (changed as M) : message;
}

/** `details` as they are stored: bounded after plugins had their say. */
export function stored(message: ToolResultMessage): ToolResultMessage {
  return message.details === undefined ? message : { ...message, details: boundedDetails(message.details) };
}

/** `tool_result_persist`: what is kept of a result. */
export function persisted({ hooks }: TurnDeps, { agentId, sessionKey }: TurnInput, message: ToolResultMessage): ToolResultMessage {
  if (!hooks.has("tool_result_persist")) return message;
  const { toolName, toolCallId } = message;
  const said = hooks.run(
    "tool_result_persist",
    { toolName, toolCallId, message: message as never, isSynthetic: false },
    { agentId, sessionKey, toolName, toolCallId },
  );
  const changed: unknown = said?.message;
  return isMessage(changed, "toolResult") ? (changed as ToolResultMessage) : message;
}

function isMessage(value: unknown, role: string): boolean {
  return typeof value === "object" && value !== null && (value as { role?: unknown }).role === role && "content" in value;
}
