import { badRequest, Refusal, type Message, type StoredFile } from "../objects.ts";
import type { Params } from "../params.ts";
import type { World } from "../world.ts";
import { post, readText } from "./compose.ts";
import type { Call, Methods } from "./call.ts";

const MB = 1024 * 1024;
const PHOTO_LIMIT = 10 * MB;
const UPLOAD_LIMIT = 50 * MB;
export const DOWNLOAD_LIMIT = 20 * MB;

export type MediaKind = "photo" | "video" | "animation" | "audio" | "voice" | "document" | "sticker" | "video_note";

/** A file as it stands in a message of its kind. */
export function mediaFields(kind: MediaKind, file: StoredFile): Record<string, unknown> {
  const facts = { file_id: file.fileId, file_unique_id: file.uniqueId, file_size: file.data.length };
  const named = { ...facts, file_name: file.name, mime_type: file.mime };
  const picture = { width: 320, height: 240 };
  switch (kind) {
    case "photo":
      return {
        photo: [
          { file_id: `${file.fileId}s`, file_unique_id: `${file.uniqueId}s`, width: 90, height: 67, file_size: Math.min(1200, file.data.length) },
          { ...facts, width: 1280, height: 960 },
        ],
      };
    case "video":
      return { video: { ...named, ...picture, duration: 3 } };
    // Old readers find an animation as a document, too.
    case "animation":
      return { animation: { ...named, ...picture, duration: 3 }, document: named };
    case "audio":
      return { audio: { ...named, duration: 3 } };
    case "voice":
      return { voice: { ...facts, mime_type: "audio/ogg", duration: 3 } };
    case "video_note":
      return { video_note: { ...facts, length: 240, duration: 3 } };
    case "sticker":
      return { sticker: { ...facts, type: "regular", width: 512, height: 512, is_animated: false, is_video: false, emoji: "🙂", set_name: "TestSet" } };
    default:
      return { document: named };
  }
}

function given(world: World, params: Params, field: string, kind: MediaKind): StoredFile {
  const text = params.text(field);
  const upload = params.uploads.get(field) ?? (text?.startsWith("attach://") ? params.uploads.get(text.slice(9)) : undefined);
  if (upload) {
    if (upload.data.length === 0) throw badRequest("file must be non-empty");
    const isTooBig = upload.data.length > (kind === "photo" ? PHOTO_LIMIT : UPLOAD_LIMIT);
    if (isTooBig) throw kind === "photo" ? badRequest("PHOTO_SAVE_FILE_INVALID") : new Refusal(413, "Request Entity Too Large");
    return world.addFile(upload.data, { name: upload.name, mime: upload.type || "application/octet-stream", folder: `${kind}s` });
  }
  if (text === undefined || text === "") throw badRequest(`there is no ${kind} in the request`);
  if (/^https?:/.test(text)) throw badRequest("failed to get HTTP URL content");
  const known = world.files.get(text);
  if (!known) throw badRequest("wrong file identifier/HTTP URL specified");
  return known;
}

const withCaption = (params: Params): object => {
  const { text, entities } = readText(params, "caption", "caption_entities");
  if (text.length > 1024) throw badRequest("message caption is too long");
  return text === "" ? {} : { caption: text, ...(entities.length > 0 ? { caption_entities: entities } : {}) };
};

const sender =
  (kind: MediaKind) =>
  (call: Call): Message => {
    const isVoice = kind === "voice" || kind === "video_note";
    if (isVoice && call.world.known(call.params.text("chat_id")).refusesVoice) throw badRequest("VOICE_MESSAGES_FORBIDDEN");
    return post(call, () => ({ ...mediaFields(kind, given(call.world, call.params, kind, kind)), ...(kind === "sticker" ? {} : withCaption(call.params)) }));
  };

function sendMediaGroup(call: Call): readonly Message[] {
  const items =
    (call.params.json("media") as
      | readonly { readonly type: MediaKind; readonly media: string; readonly caption?: string; readonly parse_mode?: string }[]
      | undefined) ?? [];
  if (items.length < 2 || items.length > 10) throw badRequest("media group must include 2-10 items");
  const media_group_id = String(13_000_000_000 + call.world.serial());
  return items.map(({ type, ...item }) => {
    const raw: Readonly<Record<string, unknown>> = { ...call.params.raw, ...item };
    const text = (name: string): string | undefined => (raw[name] === undefined ? undefined : (raw[name] as string));
    const params = { ...call.params, raw, text };
    return post({ ...call, params }, () => ({ media_group_id, ...mediaFields(type, given(call.world, params, "media", type)), ...withCaption(params) }));
  });
}

function getFile({ world, params }: Call): unknown {
  const file = world.files.get(params.text("file_id") ?? "");
  if (!file) throw badRequest("wrong file_id or the file is temporarily unavailable");
  if (file.data.length > DOWNLOAD_LIMIT) throw badRequest("file is too big");
  return { file_id: file.fileId, file_unique_id: file.uniqueId, file_size: file.data.length, file_path: file.path };
}

/** Files in both directions. */
export const MEDIA: Methods = {
  sendPhoto: sender("photo"),
  sendVideo: sender("video"),
  sendAnimation: sender("animation"),
  sendAudio: sender("audio"),
  sendVoice: sender("voice"),
  sendVideoNote: sender("video_note"),
  sendDocument: sender("document"),
  sendSticker: sender("sticker"),
  sendMediaGroup,
  getFile,
};
