export { buildAgentMediaPayload } from "../replies.ts";
export {
  detectMime,
  extensionForMime,
  extractOriginalFilename,
  getFileExtension,
  mediaKindFromMime as kindFromMime,
  mediaKindFromMime,
  normalizeMimeType,
} from "../../../media/index.ts";
export { resolveChannelMediaMaxBytes } from "../media-limits.ts";
export type { MediaKind } from "../types/index.ts";
export { parseMediaContentLength } from "../newer/http.ts";
export { saveResponseMedia } from "../newer/media.ts";
