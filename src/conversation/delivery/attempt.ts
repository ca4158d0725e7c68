/** One attempt: the content of a row is handed to its channel, or to the plugin that waits for it. */
import { basename } from "node:path";
import { withAccountKeys } from "../../base/account-keys.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import { clip } from "../../base/text.ts";
import type { HookLogEntry } from "../../hooks/index.ts";
import type { PollInput, RichText, ChannelOutboundAdapter, ReplyKind, ReplyPayload, ChannelOutboundContext } from "../../protocol/index.ts";
import type { OutboxRow } from "../../store/index.ts";
import type { OutgoingFacts, DeliveryDeps, DeliveryLimits } from "./delivery.ts";
import { classifyFailure, type FailedAttempt } from "../send-failure.ts";

/** What an outbox row holds: one message of a platform. */
export interface RowPayload {
  readonly kind: OutgoingFacts["kind"];
  readonly text: string;
  readonly rich?: RichText;
  readonly mediaUrl?: string;
  /** All files of an album, the first of which is `mediaUrl`. */
  readonly mediaUrls?: readonly string[];
  readonly replyToId?: string;
  readonly threadId?: string | number;
  readonly previewId?: string;
  /** A message that showed it may be there, and its id is not known: this one is marked as a repeat, and no other follows it. */
  readonly isPreviewLost?: boolean;
  readonly audioAsVoice?: boolean;
  readonly silent?: boolean;
  readonly gifPlayback?: boolean;
  readonly isError?: boolean;
  readonly channelData?: Record<string, unknown>;
  readonly poll?: PollInput & { readonly isAnonymous?: boolean };
  readonly agentId?: string;
  readonly senderId?: string;
  /** Of the message that is answered. */
  readonly messageId?: string;
  /** The failed row whose content this one sends again on request. */
  readonly resends?: number;
  /** The trace that it belongs to. */
  readonly traceId?: string;
  /** The key of the plugin that waits for it in the process that wrote it. */
  readonly live?: string;
  /** The key of the `send` that it belongs to. */
  readonly sendKey?: string;
  /** Hooks that changed it, with their plugins: `message_sending by guard`. */
  readonly hooks?: readonly string[];
  /** What plugins answered before it was sent, with their times. */
  readonly hookLog?: readonly HookLogEntry[];
  /** What a hook answered about a message that it cancelled. */
  readonly metadata?: Record<string, unknown>;
}

export const isRowPayload = (value: unknown): value is RowPayload => isRecord(value) && typeof value["text"] === "string";

/** Before a message that may have been seen already. */
const REPEAT_MARK = "(repeat?) ";

/** Before a message that waited for the credential of its account. */
const LATE_MARK = "(late) ";

/** How many characters a text may grow by when it is marked. */
export const MARK_CHARS = Math.max(REPEAT_MARK.length, LATE_MARK.length);

/** The same with a sign that it may have been seen before. */
export const markedAsRepeat = (payload: RowPayload): RowPayload => marked(payload, REPEAT_MARK);

/** The same with a sign that it was written a while ago. */
export const markedAsLate = (payload: RowPayload): RowPayload => marked(payload, LATE_MARK);

function marked(payload: RowPayload, mark: string): RowPayload {
  const { rich, poll } = payload;
  if (poll) return { ...payload, poll: { ...poll, question: mark + poll.question } };
  const by = mark.length;
  const moved = <T extends { start: number; end: number }>(range: T): T => ({ ...range, start: range.start + by, end: range.end + by });
  return {
    ...payload,
    text: mark + payload.text,
    ...(rich ? { rich: { text: mark + rich.text, styles: rich.styles.map(moved), links: rich.links.map(moved) } } : {}),
  };
}

/** Takes one message. What it throws counts like a platform's refusal. */
export type LiveDeliver = (payload: ReplyPayload, kind: ReplyKind, rowId: number) => Promise<unknown>;

export interface LiveTargets {
  attach(key: string, deliver: LiveDeliver): Disposable;
  /** Sends the row to the one who waits for it under this key, once. Undefined: no one does, or it was tried. */
  adapterFor(rowId: number, key: string, payload: RowPayload): ChannelOutboundAdapter | undefined;
}

const kindOf = (kind: RowPayload["kind"]): ReplyKind => (kind === "tool" || kind === "block" ? kind : "final");

interface Attached {
  readonly deliver: LiveDeliver;
  readonly tried: Set<number>;
}

export function createLiveTargets(): LiveTargets {
  const attached = new Map<string, Attached>();
  return {
    attach(key, deliver) {
      attached.set(key, { deliver, tried: new Set() });
      return { [Symbol.dispose]: () => void attached.delete(key) };
    },
    adapterFor(rowId, key, payload) {
      const found = attached.get(key);
      if (!found || found.tried.has(rowId)) return undefined;
      const send = async (text: string): Promise<{ channel: string; messageId: string }> => {
        found.tried.add(rowId);
        const answer = await found.deliver(payloadOf(payload, text), kindOf(payload.kind), rowId);
        const [messageId]: readonly unknown[] = isRecord(answer) && Array.isArray(answer["messageIds"]) ? answer["messageIds"] : [];
        return { channel: "", messageId: typeof messageId === "string" ? messageId : "" };
      };
      return { deliveryMode: "direct", sendText: ({ text }) => send(text), sendMedia: ({ text }) => send(text), sendPayload: ({ text }) => send(text) };
    },
  };
}

function payloadOf({ mediaUrl, mediaUrls, replyToId, audioAsVoice, isError, channelData }: RowPayload, text: string): ReplyPayload {
  return {
    ...(text === "" ? {} : { text }),
    ...(mediaUrl === undefined ? {} : { mediaUrl, mediaUrls: [...(mediaUrls ?? [mediaUrl])] }),
    ...(replyToId === undefined ? {} : { replyToId }),
    ...(audioAsVoice ? { audioAsVoice } : {}),
    ...(isError ? { isError } : {}),
    ...(channelData ? { channelData } : {}),
  };
}

export type Receipt = Readonly<Record<string, unknown>>;

type Attempted =
  | { readonly ok: true; readonly receipt: Receipt }
  | { readonly ok: false; readonly failure: FailedAttempt }
  /** The preview cannot be edited: the answer has to be a message of its own. */
  | { readonly ok: "no-preview" };

/** What is stored of what a channel answered: short texts and numbers. */
function receiptOf(answer: unknown): Receipt {
  if (typeof answer !== "object" || answer === null) return {};
  const receipt: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(answer)) {
    if (typeof value === "string" ? value.length <= 1000 : typeof value === "number" || typeof value === "boolean") receipt[name] = value;
    else if (name === "meta" && typeof value === "object" && value !== null) receipt["meta"] = smallJson(value);
  }
  if (receipt["meta"] === undefined) delete receipt["meta"];
  return receipt;
}

function smallJson(value: unknown): unknown {
  try {
    const text = JSON.stringify(value);
    const copy: unknown = text.length <= 4000 ? JSON.parse(text) : undefined;
    return copy;
  } catch {
    return undefined;
  }
}

const cannot = (channel: string, what: string): AppError =>
  new AppError("INVALID_INPUT", `${channel} cannot send ${what}: its outbound adapter does not support it`, { details: { channel } });

function wholeOf({ text, mediaUrl, channelData, replyToId, audioAsVoice, isError }: RowPayload): ReplyPayload {
  return { text, mediaUrl, channelData, replyToId, audioAsVoice, isError };
}

/** Whether the row can become the message that showed it. Such an attempt may be repeated as often as it takes. */
export const editsPreview = ({ previewId, mediaUrl, poll }: RowPayload, outbound: ChannelOutboundAdapter): boolean =>
  previewId !== undefined && mediaUrl === undefined && !poll && outbound.editPreview !== undefined;

/** Which of the channel's functions sends this. */
function send(outbound: ChannelOutboundAdapter, payload: RowPayload, context: ChannelOutboundContext, channel: string): Promise<unknown> {
  const { cfg, to, accountId, threadId, silent } = context;
  if (payload.poll) {
    const { isAnonymous, ...poll } = payload.poll;
    if (!outbound.sendPoll) throw cannot(channel, "polls");
    return outbound.sendPoll({
      cfg,
      to,
      poll,
      accountId,
      silent,
      isAnonymous,
      ...(threadId === undefined || threadId === null ? {} : { threadId: String(threadId) }),
    });
  }
  if (payload.channelData && outbound.sendPayload) {
    return outbound.sendPayload({ ...context, payload: wholeOf(payload) });
  }
  if (payload.mediaUrl !== undefined && outbound.sendMedia) return outbound.sendMedia(context);
  if (!outbound.sendText) throw cannot(channel, payload.mediaUrl === undefined ? "texts" : "files");
  const { mediaUrl: _, ...plain } = context;
  const text = payload.mediaUrl === undefined ? payload.text : [payload.text, payload.mediaUrl].filter(Boolean).join("\n\n");
  return outbound.sendText(text === context.text ? plain : { ...plain, text, rich: undefined });
}

const MAX_REASON = 200;
const fileName = (url: string): string => basename(url.replace(/[?#].*$/, "")) || "a file";

const filesOf = ({ mediaUrl, mediaUrls }: RowPayload): readonly string[] => mediaUrls ?? (mediaUrl === undefined ? [] : [mediaUrl]);

/** Sends after each file may leave this machine. */
async function sendReadable({ mediaReadable }: DeliveryDeps, payload: RowPayload, sending: () => Promise<unknown>): Promise<unknown> {
  for (const url of mediaReadable ? filesOf(payload) : []) {
    try {
      await mediaReadable?.(payload.agentId, url);
    } catch (error) {
      const delivery = { state: "failed", filesNotSent: [`${basename(url)}: sending this file is not allowed`] };
      throw Object.assign(new AppError("PERMISSION_DENIED", messageOf(error), { cause: error }), { delivery });
    }
  }
  return sending();
}

/** A line for each file that was not sent: by the channel, else what the platform said about the message that had them. None: the text would fail as well. */
function notesOf(error: unknown, files: readonly string[]): readonly string[] {
  const { state, filesNotSent, isAccountLost, why } = classifyFailure(error);
  if (files.length === 0 || state !== "failed" || isAccountLost) return [];
  return filesNotSent?.length ? filesNotSent : files.map((url) => `${fileName(url)} (${clip(why, MAX_REASON)})`);
}

/** A text does not get lost with its files: it goes with a line for each of them. A caller who sent files alone gets the failure instead. */
async function withoutFilesIfNeeded(
  sending: () => Promise<unknown>,
  outbound: ChannelOutboundAdapter,
  payload: RowPayload,
  context: ChannelOutboundContext,
): Promise<unknown> {
  const { kind, text, rich } = payload;
  const files = filesOf(payload);
  try {
    return await sending();
  } catch (error) {
    const filesNotSent = notesOf(error, files);
    if (filesNotSent.length === 0 || !outbound.sendText || (kind === "send" && text === "")) throw error;
    const withNotes = (words: string): string => [words, ...filesNotSent.map((note) => `[not sent: ${note}]`)].filter(Boolean).join("\n\n");
    const { mediaUrl: _url, mediaUrls: _urls, mediaLocalRoots: _roots, ...plain } = context;
    const sent = await outbound.sendText({ ...plain, text: withNotes(text), ...(rich ? { rich: { ...rich, text: withNotes(rich.text) } } : {}) });
    return { ...sent, filesNotSent: filesNotSent.join("; ") };
  }
}

interface AttemptOptions {
  /** An earlier attempt may have arrived. */
  readonly isRepeat: boolean;
  /** The message that it becomes, because that one showed it. */
  readonly previewId?: string | undefined;
  /** Fires when the process stops waiting. */
  readonly stopping: AbortSignal;
}

/** Hands rows to channels. Resolves whatever happens, within the time limit. */
export function createAttempt(deps: DeliveryDeps, { attemptMs }: DeliveryLimits) {
  return async function attempt(
    row: OutboxRow,
    payload: RowPayload,
    outbound: ChannelOutboundAdapter,
    { isRepeat, previewId, stopping }: AttemptOptions,
  ): Promise<Attempted> {
    const edit = previewId === undefined ? undefined : outbound.editPreview;
    const limit = new AbortController();
    const { promise: over, reject } = Promise.withResolvers<never>();
    const end = (error: AppError): void => {
      limit.abort(error);
      reject(error);
    };
    using _timer = deps.clock.after(attemptMs, () => end(new AppError("TIMEOUT", `${row.channel} did not answer within ${attemptMs} ms`)));
    const stop = (): void => end(new AppError("CANCELLED", "the process stopped while this was being sent"));
    stopping.addEventListener("abort", stop, { once: true });
    try {
      const context: ChannelOutboundContext = {
        cfg: deps.config(),
        to: row.target,
        text: payload.text,
        accountId: row.account,
        mediaUrl: payload.mediaUrl,
        mediaUrls: payload.mediaUrls,
        mediaLocalRoots: payload.mediaUrl === undefined ? undefined : deps.mediaRoots?.(payload.agentId),
        gifPlayback: payload.gifPlayback,
        replyToId: payload.replyToId,
        threadId: payload.threadId,
        silent: payload.silent,
        nonce: row.nonce,
        isRepeat,
        answersId: payload.messageId,
        // The message that showed the answer is edited, or removed where that is not possible.
        ...(payload.previewId === undefined ? {} : edit || !outbound.editPreview ? { previewId: payload.previewId } : { stalePreviewId: payload.previewId }),
        rich: payload.rich,
        audioAsVoice: payload.audioAsVoice,
        signal: limit.signal,
      };
      const sending = Promise.resolve(
        previewId !== undefined && edit
          ? edit.call(outbound, { ...context, previewId, payload: wholeOf(payload) })
          : withoutFilesIfNeeded(() => sendReadable(deps, payload, () => send(outbound, payload, context, row.channel)), outbound, payload, context),
      );
      // What comes after the time limit is ignored.
      sending.catch(() => undefined);
      const answer = await Promise.race([sending, over]);
      if (edit && (answer === undefined || answer === null)) return { ok: "no-preview" };
      return { ok: true, receipt: receiptOf(answer) };
    } catch (error) {
      const failure = classifyFailure(error);
      return { ok: false, failure: { ...failure, why: withAccountKeys(failure.why, { channel: row.channel, accountId: row.account }) } };
    } finally {
      over.catch(() => undefined);
      stopping.removeEventListener("abort", stop);
    }
  };
}
