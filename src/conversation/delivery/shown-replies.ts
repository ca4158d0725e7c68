/** Replies that no channel carries: the gateway shows them to its own clients. They pass the same hooks as all others, without rows in the outbox. */
import type { HookLogEntry } from "../../hooks/index.ts";
import type { ReplyPayload } from "../../protocol/index.ts";
import type { ReplyAddress } from "../address.ts";
import type { OutgoingFacts } from "./delivery.ts";
import type { DeliveryDeps } from "./deps.ts";
import { runSendingHooks, sendingContext } from "./sending-hooks.ts";
import { tellSent } from "./sent-hooks.ts";

export interface ShownReply {
  /** What is shown, one text for each payload that has any left. */
  readonly texts: readonly string[];
  /** Whether a plugin changed or cancelled something. */
  readonly changed: boolean;
  readonly log: readonly HookLogEntry[];
}

type ShownDeps = Pick<DeliveryDeps, "hooks" | "internalHooks" | "clock" | "log" | "redact">;

/** Whether a plugin may still change or cancel what is said there: until it has decided, nothing of it is shown. */
export function isDecided({ hooks }: Pick<ShownDeps, "hooks">, address: ReplyAddress, facts: OutgoingFacts): boolean {
  if (!hooks.has("message_sending") && !hooks.has("reply_payload_sending")) return false;
  const context = sendingContext(address, facts);
  return hooks.has("message_sending", context) || hooks.has("reply_payload_sending", context);
}

/** Asks plugins about a reply, payload by payload. */
export async function decideShown(payloads: readonly ReplyPayload[], address: ReplyAddress, facts: OutgoingFacts, deps: ShownDeps): Promise<ShownReply> {
  const texts: string[] = [];
  const log: HookLogEntry[] = [];
  let changed = false;
  for (const original of payloads) {
    const { payload, cancelled, log: said } = await runSendingHooks(original, address, facts, deps);
    log.push(...said);
    changed ||= cancelled !== undefined || payload.text !== original.text;
    const text = cancelled ? undefined : payload.text;
    if (text) texts.push(deps.redact && payload.text !== original.text ? deps.redact(text) : text);
  }
  return { texts, changed, log };
}

/** `message_sent` for what was shown. `id`: what clients know the reply by. */
export function tellShown(texts: readonly string[], address: ReplyAddress, facts: OutgoingFacts, deps: ShownDeps & { readonly id: string }): void {
  const context = sendingContext(address, facts);
  for (const content of texts) tellSent(deps, { to: address.to, content, success: true, messageId: deps.id }, context);
}
