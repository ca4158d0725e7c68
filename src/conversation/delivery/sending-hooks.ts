/** What plugins say about a reply before it becomes rows. */
import {
  hookLogEntries,
  messageTrace,
  type HookLogEntry,
  type HookTraceRecord,
  type MessageHookContext,
  type ReplyPayloadSendingEvent,
} from "../../hooks/index.ts";
import type { ReplyPayload } from "../../protocol/index.ts";
import type { ReplyAddress } from "../address.ts";
import type { OutgoingFacts } from "./delivery.ts";
import type { DeliveryDeps } from "./deps.ts";

export interface Cancelled {
  readonly why: string;
  readonly metadata?: Record<string, unknown>;
}

export interface HookedPayload {
  readonly payload: ReplyPayload;
  readonly cancelled?: Cancelled;
  /** Who changed it. */
  readonly hooks: readonly string[];
  /** What everybody said who was asked. */
  readonly log: readonly HookLogEntry[];
}

/** What belongs to one payload of a reply. */
export interface PayloadFacts extends OutgoingFacts {
  /** The model wrote it before a call. */
  readonly isBetween?: boolean;
}

/** Everything that a payload shows besides its text. */
export function mediaOf({ mediaUrl, mediaUrls }: ReplyPayload): readonly string[] {
  return [...new Set([mediaUrl, ...(mediaUrls ?? [])].filter((url): url is string => typeof url === "string" && url.trim() !== ""))];
}

/** What hooks of messages that go out are called with. */
export function sendingContext(address: ReplyAddress, facts: Omit<OutgoingFacts, "kind">): MessageHookContext {
  return {
    channelId: address.channel,
    accountId: address.accountId,
    conversationId: address.to,
    ...(facts.sessionKey === undefined ? {} : { sessionKey: facts.sessionKey }),
    ...(facts.runId === undefined ? {} : { runId: facts.runId }),
    ...(facts.messageId === undefined ? {} : { messageId: facts.messageId }),
    ...(facts.senderId === undefined ? {} : { senderId: facts.senderId }),
    ...(facts.traceId === undefined ? {} : messageTrace(facts.traceId, true)),
  };
}

/** Drops undefined fields, which the types of hooks do not know. */
const given = <T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as { [K in keyof T]: Exclude<T[K], undefined> };

const cancelledBy = (hook: string, reason: string | undefined, metadata?: Record<string, unknown>): Cancelled => ({
  why: `cancelled_by_${hook}_hook${reason === undefined || reason === "" ? "" : `: ${reason}`}`,
  ...(metadata === undefined ? {} : { metadata }),
});

/** Whose word counted. */
const by = (trace: readonly HookTraceRecord[]): string[] =>
  trace.filter(({ outcome }) => outcome === "decided").map(({ hook, pluginId }) => `${hook} by ${pluginId}`);

/** A plugin's payload in place of ours. Trust is never taken from it, and kept only for the same files. */
function replaced(before: ReplyPayload, after: ReplyPayload): ReplyPayload {
  const { trustedLocalMedia: _, ...rest } = after;
  const same = JSON.stringify(mediaOf(before)) === JSON.stringify(mediaOf(after));
  return before.trustedLocalMedia === true && same ? { ...rest, trustedLocalMedia: true } : rest;
}

async function payloadSending(
  payload: ReplyPayload,
  address: ReplyAddress,
  facts: PayloadFacts,
  deps: Pick<DeliveryDeps, "hooks" | "clock">,
): Promise<HookedPayload> {
  if (!deps.hooks.has("reply_payload_sending")) return { payload, hooks: [], log: [] };
  const { trustedLocalMedia: _, ...shown } = payload;
  const kind = facts.isBetween ? "block" : facts.kind;
  const event = given({
    payload: given(shown),
    to: address.to,
    kind: kind === "tool" || kind === "block" ? kind : kind === "send" ? undefined : ("final" as const),
    usageState: facts.usageState === undefined ? undefined : { ...facts.usageState },
    sessionKey: facts.sessionKey,
    runId: facts.runId,
  });
  const trace: HookTraceRecord[] = [];
  const said = await deps.hooks.run("reply_payload_sending", event as ReplyPayloadSendingEvent, sendingContext(address, facts), { trace });
  const log = hookLogEntries(trace, said, deps.clock.now());
  if (said?.cancel) return { payload, cancelled: cancelledBy("reply_payload_sending", said.cancelReason), hooks: by(trace), log };
  if (!said?.payload) return { payload, hooks: [], log };
  return { payload: replaced(payload, said.payload), hooks: by(trace), log };
}

/** Both hooks, once for each payload. */
export async function runSendingHooks(
  original: ReplyPayload,
  address: ReplyAddress,
  facts: PayloadFacts,
  deps: Pick<DeliveryDeps, "hooks" | "clock">,
): Promise<HookedPayload> {
  const first = await payloadSending(original, address, facts, deps);
  if (first.cancelled || !deps.hooks.has("message_sending")) return first;
  const { payload, hooks } = first;
  const content = payload.text ?? "";
  const replyToId = payload.replyToId ?? address.replyToId;
  const event = {
    to: address.to,
    content,
    ...(replyToId === undefined ? {} : { replyToId }),
    ...(address.threadId === undefined ? {} : { threadId: address.threadId }),
    metadata: { channel: address.channel, accountId: address.accountId, mediaUrls: [...mediaOf(payload)] },
  };
  const trace: HookTraceRecord[] = [];
  const said = await deps.hooks.run("message_sending", event, sendingContext(address, facts), { trace });
  const decided = [...hooks, ...by(trace)];
  const log = [...first.log, ...hookLogEntries(trace, said, deps.clock.now())];
  if (said?.cancel) return { payload, cancelled: cancelledBy("message_sending", said.cancelReason, said.metadata), hooks: decided, log };
  if (said?.content === undefined || said.content === content) return { payload, hooks, log };
  return { payload: { ...payload, text: said.content }, hooks: decided, log };
}
