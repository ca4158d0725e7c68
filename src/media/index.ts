/**
 * Stored media: limits, types, expiry.
 * The door of the room: nothing else in this folder is imported from outside.
 */
import type * as expiry from "./expiry.ts";
import type * as fitting from "./fit-images.ts";
import type * as saved from "./saved.ts";

export { detectMime, extensionForMime, extractOriginalFilename, getFileExtension, mediaKindFromMime, normalizeMimeType, type MediaKind } from "./mime.ts";
export type { ImageFitter } from "./fit-images.ts";
export type { MediaFile, SavedMedia } from "./saved.ts";

/** Largest file that is kept where nobody says otherwise. */
export const DEFAULT_MEDIA_BYTES = 5 * 1024 * 1024;

/** Writing files, loaded with the first one. */
export async function loadSaving(): Promise<typeof saved> {
  return import("./saved.ts");
}

/** Scaling images, loaded with the first one. */
export async function loadImageFitting(): Promise<typeof fitting> {
  return import("./fit-images.ts");
}

/** Removing what is past its time, loaded when it is due. */
export async function loadExpiry(): Promise<typeof expiry> {
  return import("./expiry.ts");
}
