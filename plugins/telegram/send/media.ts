/** Files: those to send, and those that came with messages. */
import type { ChannelOutboundContext } from "openclaw/plugin-sdk";
import { asChannelError, fieldsOf, messageOf, safeFileName, textOf, unfit } from "openclaw/plugin-sdk/channel-kit";
import type { TelegramClient } from "../api/client.ts";
import type { Keyboard } from "./buttons.ts";
import { type Detour, post, type PostFields, postFields, receipt, type Sender } from "./sender.ts";
import { cannotParse, removeStale, sendText, type TextContext } from "./text.ts";

export type MediaContext = TextContext & Pick<ChannelOutboundContext, "mediaUrl" | "mediaLocalRoots" | "gifPlayback" | "audioAsVoice">;

export type UploadKind = "photo" | "video" | "animation" | "audio" | "voice" | "document";

const MB = 1024 * 1024;
const MAX_PHOTO_BYTES = 10 * MB;
const MAX_FILE_BYTES = 50 * MB;
const MAX_CAPTION = 1024;

const PHOTOS = /^image\/(?:jpe?g|png|webp)$/;
const VIDEOS = /^video\/(?:mp4|quicktime)$/;
const SONGS = /^audio\/(?:mpeg|mp3|mp4|x-m4a|m4a|aac)$/;
const VOICES = /^audio\/(?:ogg|opus|mpeg|mp3|mp4|x-m4a|m4a)$/;

interface FileFacts {
  readonly mimeType: string | undefined;
  readonly bytes: number;
  readonly gifPlayback?: boolean | undefined;
  readonly audioAsVoice?: boolean | undefined;
}

/** How Telegram shows a file best. What it would refuse in that form goes as a document. */
export function uploadKind({ mimeType = "", bytes, gifPlayback, audioAsVoice }: FileFacts): UploadKind {
  const type = mimeType.split(";", 1)[0]!.trim().toLowerCase();
  if (type === "image/gif" || (gifPlayback === true && VIDEOS.test(type))) return "animation";
  if (PHOTOS.test(type)) return bytes <= MAX_PHOTO_BYTES ? "photo" : "document";
  if (VIDEOS.test(type)) return "video";
  if (audioAsVoice === true && VOICES.test(type)) return "voice";
  return SONGS.test(type) ? "audio" : "document";
}

/** A name that cannot leave its header. */
export const uploadName = (name: string | undefined, kind: UploadKind): string => safeFileName(name, kind);

const METHODS = {
  photo: "sendPhoto",
  video: "sendVideo",
  animation: "sendAnimation",
  audio: "sendAudio",
  voice: "sendVoice",
  document: "sendDocument",
} as const satisfies Record<UploadKind, string>;

interface MediaFields extends PostFields {
  kind: UploadKind;
  caption?: string;
  parse_mode?: "HTML";
  reply_markup?: Keyboard;
}

const asDocument: Detour<MediaFields> = (failure, fields) => {
  if (fields.kind === "voice" && failure.mentions("VOICE_MESSAGES_FORBIDDEN")) return { ...fields, kind: "audio" };
  const isRefused = failure.mentions(
    "PHOTO_INVALID_DIMENSIONS",
    "PHOTO_SAVE_FILE_INVALID",
    "IMAGE_PROCESS_FAILED",
    "PHOTO_EXT_INVALID",
    "wrong type of the web page content",
  );
  return fields.kind === "photo" && isRefused ? { ...fields, kind: "document" } : undefined;
};

const plainCaption =
  (plain: string): Detour<MediaFields> =>
  (failure, fields) => {
    if (fields.parse_mode === undefined || !cannotParse(failure)) return undefined;
    const { parse_mode: _mode, ...rest } = fields;
    return { ...rest, caption: plain };
  };

async function load(ctx: MediaContext) {
  const { loadWebMedia } = await import("openclaw/plugin-sdk/web-media");
  try {
    return await loadWebMedia(ctx.mediaUrl!, { maxBytes: MAX_FILE_BYTES, ...(ctx.mediaLocalRoots ? { localRoots: ctx.mediaLocalRoots } : {}) });
  } catch (error) {
    throw unfit("sendMedia", `the file to send could not be read: ${messageOf(error)}`);
  }
}

/** The file is out, its text is not: trying all of it again would show the file twice. */
function afterFile(error: unknown): unknown {
  const failure = asChannelError(error);
  if (failure?.delivery.state !== "retry") return error;
  return failure.withDelivery({ state: "unknown" }, `the file was sent, but its text was not: ${failure.message}`);
}

/** One message with the file and its text; two where the text is longer than a caption may be. */
export async function sendMedia(sender: Sender, ctx: MediaContext, keyboard?: Keyboard) {
  const file = await load(ctx);
  const kind = uploadKind({ mimeType: file.contentType, bytes: file.buffer.length, gifPlayback: ctx.gifPlayback, audioAsVoice: ctx.audioAsVoice });
  const rendered = ctx.text.trim() === "" ? undefined : await sender.render(ctx.text, ctx.rich, sender.account.tables);
  const caption = rendered !== undefined && rendered.plain.length <= MAX_CAPTION ? rendered : undefined;
  const isSplit = rendered !== undefined && caption === undefined;
  const fields: MediaFields = {
    ...postFields(sender, ctx),
    kind,
    ...(caption ? { caption: caption.html, parse_mode: "HTML" } : {}),
    ...(keyboard && !isSplit ? { reply_markup: keyboard } : {}),
  };
  const posted = await post(
    sender,
    fields,
    ({ kind: as, ...rest }) => {
      const upload = sender.client.upload(file.buffer, uploadName(file.fileName, as));
      return sender.client.call(METHODS[as], { ...rest, [as]: upload } as never, { signal: ctx.signal });
    },
    [asDocument, plainCaption(caption?.plain ?? "")],
  );
  if (!isSplit) {
    if (ctx.stalePreviewId) await removeStale(sender, ctx, fields.chat_id);
    return receipt(posted, fields.chat_id);
  }
  const { replyToId: _reply, ...rest } = ctx;
  try {
    const text = await sendText(sender, rest, keyboard);
    return { ...text, meta: { mediaMessageId: String(posted.message_id) } };
  } catch (error) {
    throw afterFile(error);
  }
}

/** The Bot API offers no larger ones. */
const MAX_DOWNLOAD_BYTES = 20 * 1024 * 1024;

/** Downloads a file of a message. */
export async function fetchFile(client: TelegramClient, ref: unknown, maxBytes: number, signal: AbortSignal) {
  const { fileId, mimeType, fileName } = fieldsOf(ref) ?? {};
  const id = textOf(fileId);
  if (id === undefined) throw unfit("getFile", "a file of Telegram is named by its fileId, and this one has none");
  const limit = Math.min(maxBytes, MAX_DOWNLOAD_BYTES);
  const file = await client.call("getFile", { file_id: id }, { signal });
  const path = textOf(file.file_path);
  if (path === undefined) throw unfit("getFile", "Telegram names no place to download the file from; send it again");
  if ((file.file_size ?? 0) > limit)
    throw unfit("getFile", `the file has ${file.file_size} bytes, and at most ${limit} are taken; raise channels.telegram.mediaMaxMb (up to 20)`);
  const { data, mimeType: served } = await client.download(path, limit, signal);
  const known = textOf(mimeType) ?? (served === "application/octet-stream" ? undefined : served);
  const name = textOf(fileName) ?? path.split("/").at(-1);
  return { data, ...(known === undefined ? {} : { mimeType: known }), ...(name ? { fileName: name } : {}) };
}
