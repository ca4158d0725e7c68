/** Replies taken apart into messages that a platform can carry. */
import type { ReplyPayload } from "../../../protocol/index.ts";

type Payload = Pick<ReplyPayload, "text" | "mediaUrl" | "mediaUrls">;

/** All media of a reply, each once. */
export function resolvePayloadMediaUrls(payload: Payload): string[] {
  const urls = payload.mediaUrls?.length ? payload.mediaUrls : payload.mediaUrl ? [payload.mediaUrl] : [];
  return [...new Set(urls.map((url) => url.trim()).filter(Boolean))];
}

export const countOutboundMedia = (payload: Payload): number => resolvePayloadMediaUrls(payload).length;
export const hasOutboundMedia = (payload: Payload): boolean => countOutboundMedia(payload) > 0;
export const hasOutboundText = (payload: Payload, options: { readonly trim?: boolean | undefined } = {}): boolean =>
  Boolean(options.trim === false ? payload.text : payload.text?.trim());
export const hasOutboundReplyContent = (payload: Payload, options?: { readonly trimText?: boolean | undefined }): boolean =>
  hasOutboundText(payload, { trim: options?.trimText }) || hasOutboundMedia(payload);

export interface SendableParts {
  text: string;
  trimmedText: string;
  mediaUrls: string[];
  mediaCount: number;
  hasText: boolean;
  hasMedia: boolean;
  hasContent: boolean;
}

/** What of a reply can be sent. */
export function resolveSendableOutboundReplyParts(payload: Payload, options: { readonly text?: string | undefined } = {}): SendableParts {
  const text = options.text ?? payload.text ?? "";
  const trimmedText = text.trim();
  const mediaUrls = resolvePayloadMediaUrls(payload);
  const hasText = trimmedText !== "";
  return { text, trimmedText, mediaUrls, mediaCount: mediaUrls.length, hasText, hasMedia: mediaUrls.length > 0, hasContent: hasText || mediaUrls.length > 0 };
}

/** The chunks, or the text itself where a chunker gave none. */
export const resolveTextChunksWithFallback = (text: string, chunks: readonly string[]): string[] => (chunks.length > 0 ? [...chunks] : text ? [text] : []);

/** The media fields of a message with these files. */
export function buildMediaPayload(
  media: readonly { readonly path: string; readonly contentType?: string | undefined }[],
  options: { readonly preserveMediaTypeCardinality?: boolean | undefined } = {},
): Record<string, unknown> {
  if (media.length === 0) return {};
  const paths = media.map((file) => file.path);
  const types = media.map((file) => file.contentType ?? "").filter((type) => options.preserveMediaTypeCardinality === true || type !== "");
  return {
    MediaPath: paths[0],
    MediaType: media[0]?.contentType,
    MediaUrl: paths[0],
    MediaPaths: paths,
    MediaUrls: paths,
    ...(types.length > 0 ? { MediaTypes: types } : {}),
  };
}

/** Media one after the other, the text with the first. Gives the last result. */
export async function sendPayloadMediaSequence<R>(params: {
  readonly text: string;
  readonly mediaUrls: readonly string[];
  send(input: { text: string; mediaUrl: string; index: number; isFirst: boolean }): Promise<R>;
}): Promise<R | undefined> {
  let last: R | undefined;
  for (const [index, mediaUrl] of params.mediaUrls.entries()) {
    last = await params.send({ text: index === 0 ? params.text : "", mediaUrl, index, isFirst: index === 0 });
  }
  return last;
}

interface PayloadContext {
  readonly payload: Payload;
  readonly [key: string]: unknown;
}

/** A channel's `sendPayload`: media with the text as caption, or the text in chunks. Each result is reported; the last one is returned. */
export async function sendPayloadWithChunkedTextAndMedia<C extends PayloadContext, R>(params: {
  readonly ctx: C;
  readonly textChunkLimit?: number | undefined;
  readonly chunker?: ((text: string, limit: number) => string[]) | null | undefined;
  sendText(ctx: C & { text: string }): Promise<R>;
  sendMedia(ctx: C & { text: string; mediaUrl: string }): Promise<R>;
  readonly emptyResult: R;
  onResult?: ((result: R) => Promise<void> | void) | undefined;
}): Promise<R> {
  const { ctx, chunker, textChunkLimit, onResult } = params;
  const { text, mediaUrls, hasContent } = resolveSendableOutboundReplyParts(ctx.payload);
  if (!hasContent) return params.emptyResult;
  const tell = async (result: R): Promise<R> => {
    await onResult?.(result);
    return result;
  };
  if (mediaUrls.length > 0) {
    const last = await sendPayloadMediaSequence({
      text,
      mediaUrls,
      send: async (part) => tell(await params.sendMedia({ ...ctx, text: part.text, mediaUrl: part.mediaUrl })),
    });
    return last ?? params.emptyResult;
  }
  const chunks = chunker && textChunkLimit ? resolveTextChunksWithFallback(text, chunker(text, textChunkLimit)) : [text];
  let last = params.emptyResult;
  for (const chunk of chunks) last = await tell(await params.sendText({ ...ctx, text: chunk }));
  return last;
}

/** Delivers a reply through two senders. Says which it used. */
export async function deliverTextOrMediaReply(params: {
  readonly payload: Payload;
  readonly text: string;
  chunkText?: ((text: string) => readonly string[]) | undefined;
  sendText(text: string): Promise<void>;
  sendMedia(params: { mediaUrl: string; caption?: string | undefined }): Promise<void>;
  onMediaError?:
    | ((params: { error: unknown; mediaUrl: string; caption?: string | undefined; index: number; isFirst: boolean }) => Promise<void> | void)
    | undefined;
}): Promise<"empty" | "text" | "media"> {
  const { mediaUrls, hasText } = resolveSendableOutboundReplyParts(params.payload, { text: params.text });
  if (mediaUrls.length > 0) {
    for (const [index, mediaUrl] of mediaUrls.entries()) {
      const caption = index === 0 && hasText ? params.text : undefined;
      try {
        await params.sendMedia({ mediaUrl, caption });
      } catch (error) {
        if (!params.onMediaError) throw error;
        await params.onMediaError({ error, mediaUrl, caption, index, isFirst: index === 0 });
      }
    }
    return "media";
  }
  if (!hasText) return "empty";
  const chunks = params.chunkText?.(params.text) ?? [params.text];
  for (const chunk of chunks) if (chunk.trim()) await params.sendText(chunk);
  return "text";
}

/** Digits alone, three or more: an id rather than a name. */
export const isNumericTargetId = (raw: string): boolean => /^\d{3,}$/.test(raw.trim());
