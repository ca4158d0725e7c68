/** One attempt: a row is handed to its channel. */
import { AppError } from "../../base/errors.ts";
import type { ChannelOutboundAdapter, ChannelOutboundContext, ReplyPayload } from "../../protocol/index.ts";
import type { OutboxRow } from "../../store/index.ts";
import type { DeliveryDeps, DeliveryLimits } from "./deps.ts";
import { classifyFailure, type FailedAttempt } from "./failure.ts";
import type { RowPayload } from "./row-payload.ts";

export type Receipt = Readonly<Record<string, unknown>>;

export type Attempted =
  | { readonly ok: true; readonly receipt: Receipt }
  | { readonly ok: false; readonly failure: FailedAttempt }
  /** The preview cannot be edited: the answer has to be a message of its own. */
  | { readonly ok: "no-preview" };

/** What is kept of what a channel answered: short texts and numbers, whatever else it gave. */
function receiptOf(answer: unknown): Receipt {
  if (typeof answer !== "object" || answer === null) return {};
  const isPlain = (value: unknown): boolean => (typeof value === "string" ? value.length <= 1000 : typeof value === "number" || typeof value === "boolean");
  const plain = Object.entries(answer as Record<string, unknown>).filter(([, value]) => isPlain(value));
  const { meta } = answer as { readonly meta?: unknown };
  const kept = typeof meta === "object" && meta !== null ? smallJson(meta) : undefined;
  return { ...Object.fromEntries(plain), ...(kept === undefined ? {} : { meta: kept }) };
}

function smallJson(value: unknown): unknown {
  try {
    const text = JSON.stringify(value);
    return text.length <= 4000 ? (JSON.parse(text) as unknown) : undefined;
  } catch {
    return undefined;
  }
}

const cannot = (channel: string, what: string): AppError =>
  new AppError("INVALID_INPUT", `${channel} cannot send ${what}: its outbound adapter has no function for it`, { details: { channel } });

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

/** The message that showed the answer: to be edited, or to be removed where that is not possible. */
function previewFields({ previewId }: RowPayload, outbound: ChannelOutboundAdapter, isEdit: boolean): Partial<ChannelOutboundContext> {
  if (previewId === undefined) return {};
  return isEdit || !outbound.editPreview ? { previewId } : { stalePreviewId: previewId };
}

export interface AttemptOptions {
  /** An earlier attempt may have arrived. */
  readonly isRepeat: boolean;
  /** It becomes the message that showed it. */
  readonly isEdit?: boolean;
  /** Fires when the process stops waiting. */
  readonly stopping: AbortSignal;
}

/** Hands rows to channels. Resolves whatever happens, within the time limit. */
export function createAttempt(deps: DeliveryDeps, { attemptMs }: DeliveryLimits) {
  return async function attempt(
    row: OutboxRow,
    payload: RowPayload,
    outbound: ChannelOutboundAdapter,
    { isRepeat, isEdit = false, stopping }: AttemptOptions,
  ): Promise<Attempted> {
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
      if (payload.mediaUrl !== undefined) await Promise.race([deps.mediaReadable?.(payload.agentId, payload.mediaUrl), over]);
      const context: ChannelOutboundContext = {
        cfg: deps.config(),
        to: row.target,
        text: payload.text,
        accountId: row.account,
        mediaUrl: payload.mediaUrl,
        mediaLocalRoots: payload.mediaUrl === undefined ? undefined : deps.mediaRoots?.(payload.agentId),
        gifPlayback: payload.gifPlayback,
        replyToId: payload.replyToId,
        threadId: payload.threadId,
        silent: payload.silent,
        nonce: row.nonce,
        isRepeat,
        ...previewFields(payload, outbound, isEdit),
        rich: payload.rich,
        audioAsVoice: payload.audioAsVoice,
        signal: limit.signal,
      };
      const sending = Promise.resolve(
        isEdit
          ? outbound.editPreview!({ ...context, previewId: payload.previewId!, payload: wholeOf(payload) })
          : send(outbound, payload, context, row.channel),
      );
      // What comes after the time limit is nobody's.
      sending.catch(() => undefined);
      const answer = await Promise.race([sending, over]);
      if (isEdit && (answer === undefined || answer === null)) return { ok: "no-preview" };
      return { ok: true, receipt: receiptOf(answer) };
    } catch (error) {
      return { ok: false, failure: classifyFailure(error) };
    } finally {
      over.catch(() => undefined);
      stopping.removeEventListener("abort", stop);
    }
  };
}
