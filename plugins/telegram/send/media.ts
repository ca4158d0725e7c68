/** Files: those to send, and those that came with messages. */
import type { ChannelOutboundContext } from "openclaw/plugin-sdk";
import {
  asChannelError,
  fieldsOf,
  loadOutgoingFiles,
  type MediaRules,
  type OutgoingFile,
  type OutgoingFiles,
  safeFileName,
  textOf,
  unfit,
} from "openclaw/plugin-sdk/channel-kit";
import type { TelegramClient } from "../api/client.ts";
import type { Keyboard } from "./buttons.ts";
import { type Detour, post, type Posted, type PostFields, postFields, receipt, type Sender } from "./sender.ts";
import { cannotParse, removeStale, sendText, type TextContext } from "./text.ts";

export type MediaContext = TextContext &
  Pick<ChannelOutboundContext, "cfg" | "accountId" | "mediaUrl" | "mediaUrls" | "mediaLocalRoots" | "gifPlayback" | "audioAsVoice">;

export type UploadKind = "photo" | "video" | "animation" | "audio" | "voice" | "document";

const MB = 1024 * 1024;
const MAX_CAPTION = 1024;

const RULES: MediaRules = {
  channel: "telegram",
  platform: "Telegram",
  image: { maxBytes: 10 * MB, types: ["image/jpeg", "image/png", "image/webp"] },
  video: { maxBytes: 50 * MB, types: ["video/mp4", "video/quicktime"] },
  audio: { maxBytes: 50 * MB, types: ["audio/mpeg", "audio/mp4", "audio/x-m4a", "audio/aac"] },
  voice: { maxBytes: 50 * MB, types: ["audio/mpeg", "audio/mp4", "audio/x-m4a"] },
  document: { maxBytes: 50 * MB },
};

/** How Telegram shows a file best. */
export function uploadKind({ kind, mimeType }: Pick<OutgoingFile, "kind" | "mimeType">, gifPlayback?: boolean): UploadKind {
  if (mimeType === "image/gif" || (gifPlayback === true && kind === "video")) return "animation";
  return kind === "image" ? "photo" : kind;
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

/** The file is out, its text is not: trying all of it again would show the file twice. */
function afterFile(error: unknown): unknown {
  const failure = asChannelError(error);
  if (failure?.delivery.state !== "retry") return error;
  return failure.withDelivery({ state: "unknown" }, `the file was sent, but its text was not: ${failure.message}`);
}

interface MediaPost {
  readonly files: OutgoingFiles["files"];
  readonly fields: MediaFields;
  readonly plain: string;
}

function postFile(sender: Sender, ctx: MediaContext, { files: [file], fields, plain }: MediaPost): Promise<Posted> {
  return post(
    sender,
    fields,
    ({ kind: as, ...rest }) => {
      const upload = sender.client.upload(file.data, uploadName(file.fileName, as));
      return sender.client.call(METHODS[as], { ...rest, [as]: upload } as never, { signal: ctx.signal });
    },
    [asDocument, plainCaption(plain)],
  );
}

/** Albums hold photos and videos, or only recordings, or only documents. */
function albumKind(files: OutgoingFiles["files"], gifPlayback: boolean | undefined): (file: OutgoingFile) => UploadKind {
  const kinds = files.map((file) => uploadKind(file, gifPlayback));
  const isVisual = kinds.every((kind) => kind === "photo" || kind === "video");
  const isMusic = kinds.every((kind) => kind === "audio");
  return (file) => (isVisual || isMusic ? uploadKind(file, gifPlayback) : "document");
}

/** Several files in one request: all of them are shown, or none. */
function postAlbum(sender: Sender, ctx: MediaContext, { files, fields, plain }: MediaPost): Promise<Posted> {
  const kindOf = albumKind(files, ctx.gifPlayback);
  return post(
    sender,
    fields,
    async ({ kind: as, caption, parse_mode, ...rest }) => {
      const media = files.map((file, index) => {
        const kind = as === "document" ? "document" : kindOf(file);
        const text = index === 0 && caption !== undefined ? { caption, ...(parse_mode === undefined ? {} : { parse_mode }) } : {};
        return { type: kind, media: sender.client.upload(file.data, uploadName(file.fileName, kind)), ...text };
      });
      const posted = await sender.client.call("sendMediaGroup", { ...rest, media } as never, { signal: ctx.signal });
      for (const { chat, message_id } of posted.slice(1)) sender.sent(String(chat.id), message_id);
      return posted[0]!;
    },
    [asDocument, plainCaption(plain)],
  );
}

/** One message with the files and their text; two where the text is longer than a caption may be, or stands over buttons that an album cannot have. */
export async function sendMedia(sender: Sender, ctx: MediaContext, keyboard?: Keyboard) {
  const { files, text, rich } = await loadOutgoingFiles(ctx, RULES);
  const rendered = text.trim() === "" ? undefined : await sender.render(text, rich, sender.account.tables);
  const isAlbum = files.length > 1;
  const caption = rendered !== undefined && rendered.plain.length <= MAX_CAPTION && !(isAlbum && keyboard) ? rendered : undefined;
  const isSplit = rendered !== undefined && caption === undefined;
  const fields: MediaFields = {
    ...postFields(sender, ctx),
    kind: uploadKind(files[0], ctx.gifPlayback),
    ...(caption ? { caption: caption.html, parse_mode: "HTML" } : {}),
    ...(keyboard && !isSplit && !isAlbum ? { reply_markup: keyboard } : {}),
  };
  const posted = await (isAlbum ? postAlbum : postFile)(sender, ctx, { files, fields, plain: caption?.plain ?? "" });
  if (!isSplit) {
    if (ctx.stalePreviewId) await removeStale(sender, ctx, fields.chat_id);
    return receipt(posted, fields.chat_id);
  }
  const { replyToId: _reply, ...rest } = ctx;
  try {
    const after = await sendText(sender, { ...rest, text, rich }, keyboard);
    return { ...after, meta: { mediaMessageId: String(posted.message_id) } };
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
  if (id === undefined) throw unfit("getFile", "a Telegram file needs a fileId, this one has none");
  const limit = Math.min(maxBytes, MAX_DOWNLOAD_BYTES);
  const file = await client.call("getFile", { file_id: id }, { signal });
  const path = textOf(file.file_path);
  if (path === undefined) throw unfit("getFile", "Telegram returned no download path for the file; send it again");
  if ((file.file_size ?? 0) > limit)
    throw unfit("getFile", `the file has ${file.file_size} bytes, the limit is ${limit}; raise channels.telegram.mediaMaxMb (up to 20)`);
  const { data, mimeType: served } = await client.download(path, limit, signal);
  const known = textOf(mimeType) ?? (served === "application/octet-stream" ? undefined : served);
  const name = textOf(fileName) ?? path.split("/").at(-1);
  return { data, ...(known === undefined ? {} : { mimeType: known }), ...(name ? { fileName: name } : {}) };
}
