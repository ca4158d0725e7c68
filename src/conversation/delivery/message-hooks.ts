/** What plugins decide about a reply before it is sent or shown, and how they are notified afterwards. */
import { messageOf } from "../../base/errors.ts";
import {
  hookLogEntries,
  messageTrace,
  type HookLogEntry,
  type HookTraceRecord,
  type MessageHookContext,
  type ReplyPayloadSendingEvent,
  type MessageSentEvent,
} from "../../hooks/index.ts";
import { mediaLine, type ReplyPayload } from "../../protocol/index.ts";
import type { OutboxRow } from "../../store/index.ts";
import type { ReplyAddress } from "../address.ts";
import type { RowPayload } from "./attempt.ts";
import type { OutgoingFacts, DeliveryDeps } from "./delivery.ts";

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

/** What a client of the gateway is shown: the text, with a line for each file. */
export const shownText = (payload: ReplyPayload): string => [payload.text ?? "", ...mediaOf(payload).map(mediaLine)].filter((line) => line !== "").join("\n");

/** What hooks of messages that go out are called with. */
function sendingContext(address: ReplyAddress, facts: Omit<OutgoingFacts, "kind">): MessageHookContext {
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
const defined = <T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
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
  const { trustedLocalMedia: _, ...shown } = payload;
  const kind = facts.isBetween ? "block" : facts.kind;
  const event = defined({
    payload: defined(shown),
    to: address.to,
    kind: kind === "tool" || kind === "block" ? kind : kind === "send" ? undefined : ("final" as const),
    usageState: facts.usageState === undefined ? undefined : { ...facts.usageState },
    sessionKey: facts.sessionKey,
    runId: facts.runId,
  });
  const trace: HookTraceRecord[] = [];
  const answer = await deps.hooks.run("reply_payload_sending", event as ReplyPayloadSendingEvent, sendingContext(address, facts), { trace });
  const log = hookLogEntries(trace, answer, deps.clock.now());
  if (answer?.cancel) return { payload, cancelled: cancelledBy("reply_payload_sending", answer.cancelReason), hooks: by(trace), log };
  if (!answer?.payload) return { payload, hooks: [], log };
  return { payload: replaced(payload, answer.payload), hooks: by(trace), log };
}

/** Whether a plugin is asked about replies before they are sent or shown. */
export const asksBeforeSending = (hooks: DeliveryDeps["hooks"]): boolean => hooks.has("message_sending") || hooks.has("reply_payload_sending");

/** Both hooks, once for each payload. */
export async function runSendingHooks(
  original: ReplyPayload,
  address: ReplyAddress,
  facts: PayloadFacts,
  deps: Pick<DeliveryDeps, "hooks" | "clock">,
): Promise<HookedPayload> {
  const first: HookedPayload = deps.hooks.has("reply_payload_sending")
    ? await payloadSending(original, address, facts, deps)
    : { payload: original, hooks: [], log: [] };
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
  const answer = await deps.hooks.run("message_sending", event, sendingContext(address, facts), { trace });
  const decided = [...hooks, ...by(trace)];
  const log = [...first.log, ...hookLogEntries(trace, answer, deps.clock.now())];
  if (answer?.cancel) return { payload, cancelled: cancelledBy("message_sending", answer.cancelReason, answer.metadata), hooks: decided, log };
  if (answer?.content === undefined || answer.content === content) return { payload, hooks, log };
  return { payload: { ...payload, text: answer.content }, hooks: decided, log };
}

type SentDeps = Pick<DeliveryDeps, "hooks" | "internalHooks" | "log">;

/** `message_sent`, for plugins and for internal hooks. Not waited for. */
export function notifySent(
  { hooks, internalHooks: internal, log }: SentDeps,
  events: readonly MessageSentEvent[],
  address: ReplyAddress,
  facts: Omit<OutgoingFacts, "kind">,
): void {
  const { sessionKey } = facts;
  const isInternal = sessionKey !== undefined && internal?.has("message", "sent") === true;
  if (!isInternal && !hooks.has("message_sent")) return;
  const context = sendingContext(address, facts);
  const quietly = (hook: string, run: () => unknown): void => {
    Promise.resolve()
      .then(run)
      .catch((error: unknown) => log.error(`${hook} failed: ${messageOf(error)}`, { hook }));
  };
  for (const event of events) {
    if (hooks.has("message_sent")) quietly("message_sent", () => hooks.run("message_sent", event, context));
    const { channelId, accountId, conversationId } = context;
    if (isInternal) quietly("message:sent", () => internal.trigger("message", "sent", sessionKey, { ...event, channelId, accountId, conversationId }));
  }
}

/** The same for a row of the outbox. */
export function notifySentRow(
  deps: SentDeps,
  row: OutboxRow,
  payload: Partial<RowPayload>,
  outcome: Pick<MessageSentEvent, "success" | "error" | "messageId">,
): void {
  const { messageId, senderId, traceId } = payload;
  const content = payload.poll?.question ?? payload.text ?? "";
  notifySent(
    deps,
    [{ to: row.target, content, ...outcome }],
    { channel: row.channel, accountId: row.account, to: row.target, chatType: "direct" },
    {
      ...(row.sessionKey === null ? {} : { sessionKey: row.sessionKey }),
      ...(row.turnId === null || row.turnId.startsWith("send:") ? {} : { runId: row.turnId }),
      ...(messageId === undefined ? {} : { messageId }),
      ...(senderId === undefined ? {} : { senderId }),
      ...(traceId === undefined ? {} : { traceId }),
    },
  );
}

interface ShownReply {
  /** What is shown, one text for each payload that has any left. */
  readonly texts: readonly string[];
  /** Whether a plugin changed or cancelled something. */
  readonly changed: boolean;
  readonly log: readonly HookLogEntry[];
}

type ShownDeps = Pick<DeliveryDeps, "hooks" | "internalHooks" | "clock" | "log" | "redact">;

/** Whether a plugin that is asked before sending may change or cancel what goes there: until it has decided, nothing of it is shown. */
export function isDecided({ hooks }: Pick<ShownDeps, "hooks">, address: ReplyAddress, facts: OutgoingFacts): boolean {
  const context = sendingContext(address, facts);
  return hooks.has("message_sending", context) || hooks.has("reply_payload_sending", context);
}

/** Asks plugins about a reply, payload by payload. */
export async function decideShown(payloads: readonly ReplyPayload[], address: ReplyAddress, facts: OutgoingFacts, deps: ShownDeps): Promise<ShownReply> {
  const texts: string[] = [];
  const log: HookLogEntry[] = [];
  let changed = false;
  for (const original of payloads) {
    const { payload, cancelled, log: answers } = await runSendingHooks(original, address, facts, deps);
    log.push(...answers);
    const isOther = payload.text !== original.text;
    changed ||= cancelled !== undefined || isOther;
    const text = cancelled ? "" : shownText(payload);
    if (text !== "") texts.push(deps.redact && isOther ? deps.redact(text) : text);
  }
  return { texts, changed, log };
}
