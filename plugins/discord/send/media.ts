/** Files: those to send, and those that came with messages. */
import type { ChannelOutboundContext } from "openclaw/plugin-sdk";
import { asChannelError, type Fields, type FilePart, fieldsOf, listOf, safeFileName, textOf, unfit } from "openclaw/plugin-sdk/channel-kit";
import type { FileRef } from "../inbound/message.ts";
import type { Component } from "./components.ts";
import { post, type PostContext, receipt, type Sender } from "./sender.ts";

const MB = 1024 * 1024;
/** What every server takes. Boosted ones take more: Discord says so itself. */
const UPLOAD_BYTES = 10 * MB;
const MOST_BYTES = 100 * MB;

type MediaContext = PostContext & Pick<ChannelOutboundContext, "text" | "mediaUrl" | "mediaLocalRoots">;

export async function loadFile({ mediaUrl, mediaLocalRoots }: Pick<MediaContext, "mediaUrl" | "mediaLocalRoots">, maxBytes = MOST_BYTES): Promise<FilePart> {
  const { loadWebMedia } = await import("openclaw/plugin-sdk/web-media");
  try {
    const file = await loadWebMedia(mediaUrl!, { maxBytes, ...(mediaLocalRoots ? { localRoots: mediaLocalRoots } : {}) });
    return { data: file.buffer, fileName: safeFileName(file.fileName), ...(file.contentType === undefined ? {} : { mimeType: file.contentType }) };
  } catch (error) {
    throw unfit("send", `the file to send could not be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export async function sendMedia(sender: Sender, ctx: MediaContext, components?: readonly Component[], more?: Fields) {
  const file = await loadFile(ctx);
  try {
    return receipt(await post(sender, ctx, { text: ctx.text, components, files: [file], more }));
  } catch (error) {
    if (asChannelError(error)?.status !== 413) throw error;
    throw unfit("send", `the file has ${Math.ceil(file.data.length / MB)} MB; Discord takes up to ${UPLOAD_BYTES / MB} MB here, more in boosted servers`);
  }
}

/** Addresses of files are good for a day: an older one is asked for again. */
async function freshUrl(sender: Sender, { channelId, messageId, attachmentId }: FileRef, signal: AbortSignal): Promise<string | undefined> {
  if (channelId === undefined || messageId === undefined || attachmentId === undefined) return undefined;
  const message = await sender.rest.fields("GET", `/channels/${channelId}/messages/${messageId}`, { signal });
  const file = listOf(message["attachments"])
    .map((raw) => fieldsOf(raw))
    .find((attachment) => attachment?.["id"] === attachmentId);
  return textOf(file?.["url"]);
}

export async function fetchFile(sender: Sender, raw: unknown, maxBytes: number, signal: AbortSignal) {
  const ref = fieldsOf(raw) as Partial<FileRef> | undefined;
  const url = textOf(ref?.url);
  if (ref === undefined || url === undefined) throw unfit("download", "a file of Discord is named by its address, and this one has none");
  const load = (address: string) => sender.rest.download(address, maxBytes, signal);
  const { data, mimeType } = await load(url).catch(async (error: unknown) => {
    const status = asChannelError(error)?.status;
    const fresh = status === 403 || status === 404 ? await freshUrl(sender, { ...ref, url }, signal) : undefined;
    if (fresh === undefined) throw error;
    return load(fresh);
  });
  const type = textOf(ref.mimeType) ?? mimeType;
  return { data, ...(type === undefined ? {} : { mimeType: type }), ...(ref.fileName === undefined ? {} : { fileName: ref.fileName }) };
}
