import type { Logger } from "../../base/log/logger.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { loadImageFitting, type ImageFitter } from "../../media/index.ts";

/** Makes images small enough for models. Loaded with the first image. */
export function lazyImageFitter(config: () => OpenClawConfig, log: Logger): ImageFitter {
  let loading: Promise<ImageFitter> | undefined;
  const load = async (): Promise<ImageFitter> =>
    (await loadImageFitting()).createImageFitter({ maxSide: () => config().agents?.defaults?.imageMaxDimensionPx, log });
  return async (parts) => (parts.some(({ type }) => type === "image") ? (await (loading ??= load()))(parts) : parts);
}
