/** Telling plugins what became of a message. Nobody waits for them. */
import { messageOf } from "../../base/errors.ts";
import type { MessageHookContext } from "../../hooks/index.ts";
import type { OutboxRow } from "../../store/index.ts";
import type { DeliveryDeps } from "./deps.ts";
import type { RowPayload } from "./row-payload.ts";

export interface Outcome {
  readonly success: boolean;
  readonly error?: string;
  /** As the platform gave it. */
  readonly messageId?: string;
}

function contextOf(row: OutboxRow, payload: Partial<RowPayload>): MessageHookContext {
  return {
    channelId: row.channel,
    accountId: row.account,
    conversationId: row.target,
    ...(row.sessionKey === null ? {} : { sessionKey: row.sessionKey }),
    ...(row.turnId === null || row.turnId.startsWith("send:") ? {} : { runId: row.turnId }),
    ...(payload.messageId === undefined ? {} : { messageId: payload.messageId }),
    ...(payload.senderId === undefined ? {} : { senderId: payload.senderId }),
  };
}

export function createTeller({ hooks, internalHooks, log }: Pick<DeliveryDeps, "hooks" | "internalHooks" | "log">) {
  const quietly = (hook: string, run: () => unknown): void => {
    Promise.resolve()
      .then(run)
      .catch((error: unknown) => log.error(`${hook} failed: ${messageOf(error)}`, { hook }));
  };
  return function tell(row: OutboxRow, payload: Partial<RowPayload>, outcome: Outcome): void {
    const event = { to: row.target, content: payload.poll?.question ?? payload.text ?? "", ...outcome };
    if (hooks.has("message_sent")) quietly("message_sent", () => hooks.run("message_sent", event, contextOf(row, payload)));
    const { sessionKey } = row;
    const internal = internalHooks?.();
    if (sessionKey === null || !internal?.has("message", "sent")) return;
    const facts = { channelId: row.channel, accountId: row.account, conversationId: row.target };
    quietly("message:sent", () => internal.trigger("message", "sent", sessionKey, { ...event, ...facts }));
  };
}
