import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { AppError } from "../../../base/errors.ts";
import { isInside } from "../../../base/files.ts";
import { createRootedFiles, type RootedFiles } from "../../../base/rooted-files.ts";
import { formatBytes } from "../../../base/text.ts";
import type { ImageContent } from "../../../protocol/index.ts";
import type { ToolContext } from "../../tool.ts";
import { filesFor, resolvePath, type FileToolsDeps } from "../files/paths.ts";

const KINDS: readonly { readonly mimeType: string; readonly starts: readonly number[]; readonly at8?: string }[] = [
  { mimeType: "image/png", starts: [0x89, 0x50, 0x4e, 0x47] },
  { mimeType: "image/jpeg", starts: [0xff, 0xd8, 0xff] },
  { mimeType: "image/gif", starts: [0x47, 0x49, 0x46, 0x38] },
  { mimeType: "image/webp", starts: [0x52, 0x49, 0x46, 0x46], at8: "WEBP" },
];

/** What an image is by its first bytes, whatever it is called. Undefined when no model can be shown it. */
function imageType(bytes: Uint8Array): string | undefined {
  const at8 = Buffer.from(bytes.subarray(8, 12)).toString("latin1");
  return KINDS.find((kind) => kind.starts.every((byte, at) => bytes[at] === byte) && (kind.at8 === undefined || kind.at8 === at8))?.mimeType;
}

export interface FetchImageOptions {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly context: ToolContext;
  readonly id: string;
}

export interface ImageSourceDeps extends FileToolsDeps {
  /**
   * Folders besides the workspace that images may come from: temporary files, stored media, other workspaces. Not asked for a session in a
   * sandbox, or confined to its workspace.
   */
  readonly imageFolders?: (context: ToolContext) => readonly string[];
  /** Gets what is behind an http or https address, guarded and bounded; absent when there is no network. */
  readonly fetchImage?: (url: string, options: FetchImageOptions) => Promise<{ readonly data: Uint8Array }>;
}

export type ImageReference =
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "data"; readonly data: string }
  | { readonly kind: "url"; readonly url: string };

/** How an image may be named: a path, `file:`, `data:` or `http(s):`. Undefined for any other scheme. */
export function parseReference(written: string): ImageReference | undefined {
  const plain = written.trim().replace(/^@/, "");
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(plain)?.[1]?.toLowerCase();
  if (scheme === undefined) return plain === "" ? undefined : { kind: "path", path: plain };
  if (scheme === "data") return { kind: "data", data: plain };
  if (scheme === "http" || scheme === "https") return { kind: "url", url: plain };
  if (scheme !== "file") return undefined;
  try {
    return { kind: "path", path: fileURLToPath(plain) };
  } catch {
    return undefined;
  }
}

/** The bytes behind a reference, checked to be an image of at most `maxBytes`. Throws `AppError`s that say why not. */
export async function loadImage(reference: ImageReference, options: FetchImageOptions, deps: ImageSourceDeps): Promise<ImageContent> {
  const bytes = await loadBytes(reference, options, deps);
  if (bytes.length > options.maxBytes) throw tooLarge(bytes.length, options.maxBytes);
  const mimeType = imageType(bytes);
  if (mimeType === undefined) throw new AppError("INVALID_INPUT", "it is not a supported image type (png, jpeg, gif, webp)");
  return { type: "image", data: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"), mimeType };
}

async function loadBytes(reference: ImageReference, options: FetchImageOptions, deps: ImageSourceDeps): Promise<Uint8Array> {
  if (reference.kind === "data") return decodeDataUrl(reference.data, options.maxBytes);
  if (reference.kind === "path") return await readLocal(reference.path, options, deps);
  if (deps.place?.(options.context)) throw new AppError("PERMISSION_DENIED", "Sandboxed image tool does not allow remote URLs.");
  if (!deps.fetchImage) throw new AppError("UNAVAILABLE", "images cannot be fetched here: use a file path");
  return (await deps.fetchImage(reference.url, options)).data;
}

function decodeDataUrl(url: string, maxBytes: number): Uint8Array {
  const comma = url.indexOf(",");
  const head = comma === -1 ? "" : url.slice("data:".length, comma);
  if (!/;\s*base64$/i.test(head)) throw new AppError("INVALID_INPUT", "Invalid data URL (expected base64 data: URL).");
  // Four characters are three bytes: what is too large is not decoded.
  const size = Math.floor(((url.length - comma - 1) * 3) / 4);
  if (size > maxBytes + 2) throw tooLarge(size, maxBytes);
  return Buffer.from(url.slice(comma + 1), "base64");
}

async function readLocal(written: string, options: FetchImageOptions, deps: ImageSourceDeps): Promise<Uint8Array> {
  const { context, maxBytes } = options;
  const path = resolvePath(written, context, deps.home);
  await using file = await openAllowed(path, options, deps);
  const { size } = await file.stat();
  if (size > maxBytes) throw tooLarge(size, maxBytes);
  const bytes = Buffer.alloc(size);
  let read = 0;
  while (read < size) {
    const { bytesRead } = await file.read(bytes, read, size - read, read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return bytes.subarray(0, read);
}

/** In the workspace, or in a folder that images may come from; nowhere else, whatever links say. */
async function openAllowed(path: string, call: FetchImageOptions, deps: ImageSourceDeps): ReturnType<RootedFiles["open"]> {
  const { context, id, signal } = call;
  const isConfined = deps.place?.(context) !== undefined || deps.workspaceOnly(context.agentId);
  const confined = { ...deps, workspaceOnly: () => true };
  const folders = isConfined ? [] : (deps.imageFolders?.(context) ?? []).map((folder) => resolve(folder));
  if (!folders.some((folder) => isInside(folder, path))) return await filesFor("image", call, confined).open(path);
  const unique = (): string => deps.ids.hex(6);
  const check = deps.access?.check(context, { tool: "image", callId: id, signal });
  let refusal: unknown;
  for (const files of [filesFor("image", call, confined), ...folders.map((root) => createRootedFiles({ root, check, unique }))]) {
    try {
      return await files.open(path);
    } catch (error) {
      // Another of the folders may hold what a link names.
      if (!(error instanceof AppError) || error.code !== "PERMISSION_DENIED") throw error;
      refusal = error;
    }
  }
  throw refusal;
}

function tooLarge(size: number, maxBytes: number): AppError {
  return new AppError("INVALID_INPUT", `it has ${formatBytes(size)}, and at most ${formatBytes(maxBytes)} can be shown: make it smaller first`);
}
