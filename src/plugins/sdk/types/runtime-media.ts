/** Files that come in and go out. */
import type { MediaKind } from "../../../media/index.ts";
import type { SsrFPolicy } from "../network/ssrf.ts";

export type { MediaKind };

export interface WebMediaResult {
  buffer: Buffer;
  contentType?: string | undefined;
  kind: MediaKind;
  fileName?: string | undefined;
}

export interface WebMediaOptions {
  maxBytes?: number | undefined;
  optimizeImages?: boolean | undefined;
  ssrfPolicy?: SsrFPolicy | undefined;
  /** Folders that local files may be read from. */
  localRoots?: readonly string[] | "any" | undefined;
  readFile?: ((path: string) => Promise<Buffer>) | undefined;
}

export interface RuntimeMedia {
  loadWebMedia(urlOrPath: string, maxBytesOrOptions?: number | WebMediaOptions, options?: WebMediaOptions): Promise<WebMediaResult>;
  detectMime(params: { buffer?: Buffer | undefined; headerMime?: string | null | undefined; filePath?: string | undefined }): Promise<string | undefined>;
  mediaKindFromMime(mime?: string | null): MediaKind;
  isVoiceCompatibleAudio(params: { contentType?: string | null | undefined; fileName?: string | null | undefined }): boolean;
  getImageMetadata(buffer: Buffer): Promise<{ width: number; height: number } | null>;
  resizeToJpeg(params: { buffer: Buffer; maxSide: number; quality: number; withoutEnlargement?: boolean | undefined }): Promise<Buffer>;
}

export interface SavedMedia {
  id: string;
  path: string;
  size: number;
  contentType?: string | undefined;
}

export interface RemoteMedia {
  buffer: Buffer;
  contentType?: string | undefined;
  fileName?: string | undefined;
}

export interface RuntimeChannelMedia {
  fetchRemoteMedia(params: {
    url: string;
    fetchImpl?: ((input: string, init?: RequestInit) => Promise<Response>) | undefined;
    filePathHint?: string | undefined;
    maxBytes?: number | undefined;
    maxRedirects?: number | undefined;
    ssrfPolicy?: SsrFPolicy | undefined;
    lookupFn?: unknown;
  }): Promise<RemoteMedia>;
  /** Default folder `inbound`, default limit 5 MiB. */
  saveMediaBuffer(buffer: Buffer, contentType?: string, subdir?: string, maxBytes?: number, originalFilename?: string): Promise<SavedMedia>;
  saveRemoteMedia?(params: { url: string; subdir?: string | undefined; maxBytes?: number | undefined; filePathHint?: string | undefined }): Promise<SavedMedia>;
  saveResponseMedia?(params: Record<string, unknown>): Promise<SavedMedia>;
  readRemoteMediaBuffer?(params: Record<string, unknown>): Promise<RemoteMedia>;
}
