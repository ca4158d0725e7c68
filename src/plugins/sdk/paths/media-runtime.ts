export { buildAgentMediaPayload } from "../messages/replies.ts";
export {
  detectMime,
  extensionForMime,
  extractOriginalFilename,
  getFileExtension,
  mediaKindFromMime as kindFromMime,
  mediaKindFromMime,
  normalizeMimeType,
} from "../../../media/index.ts";
export { resolveChannelMediaMaxBytes } from "../media/media-limits.ts";
export type { MediaKind } from "../types/index.ts";
export { parseMediaContentLength } from "../network/http.ts";
export { saveResponseMedia } from "../media/outbound-media.ts";
