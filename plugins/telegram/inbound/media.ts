/** Files that came along. They are fetched later, by their id. */
import { fieldsOf, type Fields, given, listOf, numberOf, textOf } from "../fields.ts";
import type { ChannelInboundMedia } from "../types.ts";

/** How a file is found again. */
export interface FileRef {
  readonly fileId: string;
  readonly mimeType?: string;
  readonly fileName?: string;
}

type Kind = ChannelInboundMedia["kind"];

function media(kind: Kind, raw: Fields | undefined, mimeType: string | undefined): ChannelInboundMedia[] {
  const fileId = textOf(raw?.["file_id"]);
  if (raw === undefined || fileId === undefined) return [];
  const facts = given({ mimeType: textOf(raw["mime_type"]) ?? mimeType, fileName: textOf(raw["file_name"]) });
  const ref: FileRef = { fileId, ...facts };
  return [given({ kind, ref, ...facts, bytes: numberOf(raw["file_size"]) })];
}

/** The same picture comes in several sizes. */
function largest(sizes: unknown): Fields | undefined {
  const area = (size: Fields): number => (numberOf(size["width"]) ?? 0) * (numberOf(size["height"]) ?? 0);
  return listOf(sizes)
    .map((size) => fieldsOf(size))
    .filter((size) => size !== undefined)
    .reduce<Fields | undefined>((best, size) => (best === undefined || area(size) >= area(best) ? size : best), undefined);
}

function stickerType(sticker: Fields): string {
  if (sticker["is_animated"] === true) return "application/x-tgsticker";
  return sticker["is_video"] === true ? "video/webm" : "image/webp";
}

/** All files of a message. An animation comes a second time as a document. */
export function mediaOf(message: Fields): ChannelInboundMedia[] {
  const at = (key: string): Fields | undefined => fieldsOf(message[key]);
  const sticker = at("sticker");
  return [
    ...media("image", largest(message["photo"]), "image/jpeg"),
    ...media("video", at("video"), "video/mp4"),
    ...media("video", at("video_note"), "video/mp4"),
    ...media("video", at("animation"), "video/mp4"),
    ...media("audio", at("audio"), "audio/mpeg"),
    ...media("audio", at("voice"), "audio/ogg"),
    ...(at("animation") ? [] : media("document", at("document"), undefined)),
    ...(sticker ? media("sticker", sticker, stickerType(sticker)) : []),
  ];
}

/** `Sticker` of the message context. */
export function stickerContext(message: Fields): object | undefined {
  const sticker = fieldsOf(message["sticker"]);
  if (!sticker) return undefined;
  return given({
    emoji: textOf(sticker["emoji"]),
    setName: textOf(sticker["set_name"]),
    fileId: textOf(sticker["file_id"]),
    fileUniqueId: textOf(sticker["file_unique_id"]),
  });
}
