import { lazy } from "../base/lazy.ts";
import type { Logger } from "../base/log/logger.ts";
import type { OpenClawConfig } from "../config/index.ts";
import type { ImageFitter } from "./fit-images.ts";

/** Makes images small enough for models. The code is loaded with the first image. */
export function lazyImageFitter(config: () => OpenClawConfig, log: Logger): ImageFitter {
  const open = lazy(async () => (await import("./fit-images.ts")).createImageFitter({ maxSide: () => config().agents?.defaults?.imageMaxDimensionPx, log }));
  return async (parts) => (parts.some(({ type }) => type === "image") ? (await open())(parts) : parts);
}
