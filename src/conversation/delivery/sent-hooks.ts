/** Telling plugins what became of a message. Nobody waits for them. */
import { messageOf } from "../../base/errors.ts";
import type { MessageHookContext, MessageSentEvent } from "../../hooks/index.ts";
import type { OutboxRow } from "../../store/index.ts";
import type { DeliveryDeps } from "./deps.ts";
import type { RowPayload } from "./row-payload.ts";
import { sendingContext } from "./sending-hooks.ts";

type Outcome = Pick<MessageSentEvent, "success" | "error" | "messageId">;
type TellingDeps = Pick<DeliveryDeps, "hooks" | "internalHooks" | "log">;

function contextOf(row: OutboxRow, payload: Partial<RowPayload>): MessageHookContext {
  const { messageId, senderId, traceId } = payload;
  const address = { channel: row.channel, accountId: row.account, to: row.target, chatType: "direct" } as const;
  return sendingContext(address, {
    ...(row.sessionKey === null ? {} : { sessionKey: row.sessionKey }),
    ...(row.turnId === null || row.turnId.startsWith("send:") ? {} : { runId: row.turnId }),
    ...(messageId === undefined ? {} : { messageId }),
    ...(senderId === undefined ? {} : { senderId }),
    ...(traceId === undefined ? {} : { traceId }),
  });
}

/** `message_sent`, for plugins and for internal hooks. */
export function tellSent({ hooks, internalHooks, log }: TellingDeps, event: MessageSentEvent, context: MessageHookContext): void {
  const quietly = (hook: string, run: () => unknown): void => {
    Promise.resolve()
      .then(run)
      .catch((error: unknown) => log.error(`${hook} failed: ${messageOf(error)}`, { hook }));
  };
  if (hooks.has("message_sent")) quietly("message_sent", () => hooks.run("message_sent", event, context));
  const { sessionKey, channelId, accountId, conversationId } = context;
  const internal = internalHooks?.();
  if (sessionKey === undefined || !internal?.has("message", "sent")) return;
  quietly("message:sent", () => internal.trigger("message", "sent", sessionKey, { ...event, channelId, accountId, conversationId }));
}

/** Tells what became of a row of the outbox. */
export function createTeller(deps: TellingDeps) {
  return function tell(row: OutboxRow, payload: Partial<RowPayload>, outcome: Outcome): void {
    tellSent(deps, { to: row.target, content: payload.poll?.question ?? payload.text ?? "", ...outcome }, contextOf(row, payload));
  };
}
