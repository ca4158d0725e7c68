/**
 * Stored media: limits, types, expiry.
 * Entry point of the module.
 */
import type { Clock } from "../base/clock.ts";
import { lazy } from "../base/lazy.ts";
import type { Logger } from "../base/log/logger.ts";
import type { OpenClawConfig } from "../config/index.ts";
import type * as converters from "./converters.ts";
import type { Documents } from "./documents/create-documents.ts";
import type * as expiry from "./expiry.ts";
import type * as fitting from "./fit-images.ts";
import type * as frames from "./frames.ts";
import type * as images from "./images.ts";
import type * as program from "./program.ts";
import type * as outgoing from "./outgoing.ts";
import type * as saved from "./saved.ts";

export {
  detectMime,
  extensionForMime,
  extractOriginalFilename,
  getFileExtension,
  mediaKindFromMime,
  mediaTypeOf,
  mimeForExtension,
  normalizeMimeType,
  sniffMediaType,
  type MediaKind,
} from "./mime.ts";
export { opusSeconds } from "./voice.ts";
export { fileBlock, type Mark } from "./documents/file-block.ts";
export { documentKind } from "./documents/kinds.ts";
export type { Documents } from "./documents/create-documents.ts";
export type { DocumentFile, DocumentLimits, DocumentText } from "./documents/types.ts";
export type { ImageFitter } from "./fit-images.ts";
export type { FitOptions, KindRule, MediaRules, OutgoingFile, SourceFile } from "./outgoing.ts";
export type { Env } from "./program.ts";
export type { MediaFile, SavedMedia } from "./saved.ts";

/** One call that described, transcribed or made a file. Tokens as the provider reported them; cost in USD. */
export interface MediaCall {
  readonly agentId: string;
  readonly sessionKey: string;
  /** The run that it belongs to. */
  readonly runId?: string | undefined;
  readonly senderId?: string | undefined;
  readonly provider: string;
  readonly model: string;
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly cost: number;
  readonly durationMs: number;
  readonly failed?: boolean;
}

/** What calls about files cost, and whether they may be made. */
export interface MediaSpending {
  spent(call: MediaCall): Promise<void>;
  /** Why a call may not be made: the money for it is spent. */
  refusal(call: Pick<MediaCall, "agentId" | "sessionKey" | "senderId" | "provider">): Promise<string | undefined>;
}

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

/** Sizes of images and their conversion, loaded on first use. */
export async function loadImages(): Promise<typeof images> {
  return import("./images.ts");
}

/** Pictures of films, loaded on first use. */
export async function loadFrames(): Promise<typeof frames> {
  return import("./frames.ts");
}

/** Making files fit what a platform takes, loaded on first use. */
export async function loadOutgoing(): Promise<typeof outgoing & Pick<typeof converters, "createConverters">> {
  const [fitting, { createConverters }] = await Promise.all([import("./outgoing.ts"), import("./converters.ts")]);
  return { ...fitting, createConverters };
}

/** Running programs that describe or transcribe files, loaded on first use. */
export async function loadPrograms(): Promise<typeof program> {
  return import("./program.ts");
}

/** Removing expired files, loaded on first use. */
export async function loadExpiry(): Promise<typeof expiry> {
  return import("./expiry.ts");
}

/** Makes images small enough for models. The code is loaded with the first image. */
export function lazyImageFitter(config: () => OpenClawConfig, log: Logger, env: Readonly<Record<string, string | undefined>>): fitting.ImageFitter {
  const maxSide = (): number | undefined => config().agents?.defaults?.imageMaxDimensionPx;
  const open = lazy(async () => (await import("./fit-images.ts")).createImageFitter({ maxSide, log, env }));
  return async (parts) => (parts.some(({ type }) => type === "image") ? (await open())(parts) : parts);
}

/** Reads PDFs, office files and texts. The code is loaded with the first document. */
export function lazyDocuments(clock: Clock): Documents {
  const open = lazy(async () => (await import("./documents/create-documents.ts")).createDocuments({ clock }));
  return { read: async (...asked) => (await open()).read(...asked) };
}
