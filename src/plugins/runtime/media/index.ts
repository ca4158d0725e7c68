/** `runtime.media` and `runtime.channel.media`. What reads files or the network is loaded when it is called. */
import { AppError } from "../../../base/errors.ts";
import { detectMime, getFileExtension, loadImages, loadSaving, mediaKindFromMime, normalizeMimeType, type MediaFile } from "../../../media/index.ts";
import type { RuntimeChannelMedia, RuntimeMedia, SavedMedia } from "../../sdk/types/index.ts";
import type { RuntimePorts } from "../ports.ts";

/** Audio that platforms show as a voice message. */

const TYPES: ReadonlySet<string> = new Set(["audio/ogg", "audio/opus", "audio/mpeg", "audio/mp3", "audio/mp4", "audio/x-m4a", "audio/m4a"]);
const EXTENSIONS: ReadonlySet<string> = new Set([".oga", ".ogg", ".opus", ".mp3", ".m4a"]);

/** By its type where one is stated, else by its name. */
function isVoiceCompatibleAudio(params: { readonly contentType?: string | null | undefined; readonly fileName?: string | null | undefined }): boolean {
  const type = normalizeMimeType(params.contentType);
  if (type !== undefined && type !== "application/octet-stream") return TYPES.has(type);
  return EXTENSIONS.has(getFileExtension(params.fileName) ?? "");
}

export function createMedia(): RuntimeMedia {
  return {
    loadWebMedia: async (...args) => (await import("../../sdk/media/web-media.ts")).loadWebMedia(...args),
    detectMime,
    mediaKindFromMime,
    isVoiceCompatibleAudio,
    getImageMetadata: async (buffer) => (await loadImages()).imageSize(buffer) ?? null,
    async resizeToJpeg({ buffer, ...options }) {
      const { loadSharp, resizeToJpeg } = await loadImages();
      return resizeToJpeg(await loadSharp(), buffer, options);
    },
  };
}

interface ResponseMedia {
  readonly response?: Response;
  readonly url?: string;
  readonly subdir?: string;
  readonly maxBytes?: number;
  readonly filePathHint?: string;
  readonly originalFilename?: string;
}

export function createChannelMedia({ config, ids }: RuntimePorts): RuntimeChannelMedia {
  const place = { stateDir: config.paths.state, ids };
  async function save(file: MediaFile): Promise<SavedMedia> {
    return (await loadSaving()).saveMedia(file, place);
  }
  return {
    fetchRemoteMedia: async (params) => (await import("./remote.ts")).fetchRemoteMedia(params),
    saveMediaBuffer: async (buffer, contentType, subdir, maxBytes, originalFilename) => save({ buffer, contentType, subdir, maxBytes, originalFilename }),
    async saveRemoteMedia(params) {
      const { buffer, contentType, fileName } = await (await import("./remote.ts")).fetchRemoteMedia(params);
      return save({ buffer, contentType, subdir: params.subdir, maxBytes: params.maxBytes, originalFilename: fileName });
    },
    /** Takes `(response, options)` and `({response, …})`. */
    async saveResponseMedia(first: ResponseMedia | Response, more?: ResponseMedia) {
      const options: ResponseMedia = first instanceof Response ? { ...more, response: first } : first;
      if (!options.response) throw new AppError("INVALID_INPUT", "saveResponseMedia needs a response to save");
      const { mediaOf } = await import("./remote.ts");
      const { buffer, contentType, fileName } = await mediaOf(options.response, options.url ?? options.response.url, options);
      return save({ buffer, contentType, subdir: options.subdir, maxBytes: options.maxBytes, originalFilename: options.originalFilename ?? fileName });
    },
    readRemoteMediaBuffer: async (params) => (await import("./remote.ts")).fetchRemoteMedia(params as { url: string }),
  };
}
