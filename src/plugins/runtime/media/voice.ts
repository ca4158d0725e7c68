/** Audio that platforms show as a voice message. */
import { getFileExtension, normalizeMimeType } from "../../../media/index.ts";

const TYPES: ReadonlySet<string> = new Set(["audio/ogg", "audio/opus", "audio/mpeg", "audio/mp3", "audio/mp4", "audio/x-m4a", "audio/m4a"]);
const EXTENSIONS: ReadonlySet<string> = new Set([".oga", ".ogg", ".opus", ".mp3", ".m4a"]);

/** By its type where one is stated, else by its name. */
export function isVoiceCompatibleAudio(params: { readonly contentType?: string | null | undefined; readonly fileName?: string | null | undefined }): boolean {
  const type = normalizeMimeType(params.contentType);
  if (type !== undefined && type !== "application/octet-stream") return TYPES.has(type);
  return EXTENSIONS.has(getFileExtension(params.fileName) ?? "");
}
