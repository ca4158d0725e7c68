/** Files: those to send, and those that came with messages. */
import {
  asChannelError,
  type Fields,
  fieldsOf,
  filesNotSent,
  listOf,
  loadOutgoingFiles,
  type MediaRules,
  type OutgoingContext,
  type OutgoingFile,
  textOf,
  unfit,
} from "openclaw/plugin-sdk/channel-kit";
import type { FileRef } from "../inbound/message.ts";
import type { Component } from "./components.ts";
import { post, type PostContext, receipt, type Sender } from "./sender.ts";

const MB = 1024 * 1024;
/** What every server takes. Boosted ones take more: Discord says so itself. */
const UPLOAD_BYTES = 10 * MB;
const VOICE_MESSAGE = 8192;

const RULES: MediaRules = {
  channel: "discord",
  platform: "Discord",
  image: { maxBytes: UPLOAD_BYTES },
  voice: { maxBytes: UPLOAD_BYTES, waveform: true },
  document: { maxBytes: 100 * MB },
};

export type MediaContext = PostContext & OutgoingContext;

/** Discord shows how loud a voice message is when, and takes no text with it. */
function voiceFields(file: OutgoingFile): Fields | undefined {
  const { durationSeconds, waveform = new Uint8Array(64) } = file;
  if (file.kind !== "voice" || durationSeconds === undefined) return undefined;
  return { duration_secs: Math.round(durationSeconds * 100) / 100, waveform: Buffer.from(waveform).toString("base64") };
}

export async function sendMedia(sender: Sender, ctx: MediaContext, components?: readonly Component[], more?: Fields) {
  const { files, text } = await loadOutgoingFiles(ctx, RULES);
  const isCommand = ctx.answersId !== undefined && sender.answers?.pending(ctx.answersId) !== undefined;
  const voice = files.length === 1 && text === "" && components === undefined && !isCommand ? voiceFields(files[0]) : undefined;
  const fields = voice ? { ...more, flags: VOICE_MESSAGE } : more;
  try {
    return receipt(await post(sender, ctx, { text, components, files: files.map((file) => ({ ...file, more: voice })), more: fields }));
  } catch (error) {
    if (asChannelError(error)?.status !== 413) throw error;
    const large = files.filter(({ data }) => data.length > UPLOAD_BYTES);
    throw filesNotSent(
      (large.length > 0 ? large : files).map(
        ({ fileName, data }) =>
          `${fileName} is ${Math.ceil(data.length / MB)} MB; ${large.length > 0 ? `Discord accepts ${UPLOAD_BYTES / MB} MB here, more in boosted servers` : "Discord rejected it as too large"}`,
      ),
    );
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
  if (ref === undefined || url === undefined) throw unfit("download", "a Discord file needs a URL, this one has none");
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
