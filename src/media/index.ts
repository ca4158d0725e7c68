/**
 * Stored media: limits, types, expiry.
 * Entry point of the module.
 */
import { lazy } from "../base/lazy.ts";
import type { Logger } from "../base/log/logger.ts";
import type { OpenClawConfig } from "../config/index.ts";
import type * as expiry from "./expiry.ts";
import type * as fitting from "./fit-images.ts";
import type * as saved from "./saved.ts";

export { detectMime, extensionForMime, extractOriginalFilename, getFileExtension, mediaKindFromMime, normalizeMimeType, type MediaKind } from "./mime.ts";
export type { ImageFitter } from "./fit-images.ts";
export type { MediaFile, SavedMedia } from "./saved.ts";

/** Default size limit of stored files. */
export const DEFAULT_MEDIA_BYTES = 5 * 1024 * 1024;

/** Saving files, loaded on first use. */
export async function loadSaving(): Promise<typeof saved> {
  return import("./saved.ts");
}

/** Scaling images, loaded on first use. */
export async function loadImageFitting(): Promise<typeof fitting> {
  return import("./fit-images.ts");
}

/** Removing expired files, loaded on first use. */
export async function loadExpiry(): Promise<typeof expiry> {
  return import("./expiry.ts");
}

/** Makes images small enough for models. The code is loaded with the first image. */
export function lazyImageFitter(config: () => OpenClawConfig, log: Logger): fitting.ImageFitter {
  const open = lazy(async () => (await import("./fit-images.ts")).createImageFitter({ maxSide: () => config().agents?.defaults?.imageMaxDimensionPx, log }));
  return async (parts) => (parts.some(({ type }) => type === "image") ? (await open())(parts) : parts);
}
