import { isRecord } from "../base/records.ts";
import { readFile, realpath, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { AppError, messageOf } from "../base/errors.ts";
import type { Ids } from "../base/ids.ts";
import { effectiveChannelConfig } from "../channels/index.ts";
import { type Config, knownChannel } from "../config/index.ts";
import type { KeepMedia, KeptMedia } from "./ports.ts";
import { detectMime, loadSaving } from "../media/index.ts";
import type { ChannelPlugin } from "../protocol/index.ts";

interface Deps {
  readonly config: Config;
  readonly ids: Ids;
  readonly channels: { get(id: string): ChannelPlugin | undefined };
}

const MB = 1024 * 1024;
const DEFAULT_MB = 5;
const FETCH_MS = 60_000;
/** Larger pictures are stored as files; the model sees where. */
const MAX_IMAGE = 5 * MB;

function limitOf({ config }: Deps, channel: string, accountId: string): number {
  const own = effectiveChannelConfig(config.current, channel, accountId)["mediaMaxMb"];
  const general = config.current.agents?.defaults?.mediaMaxMb;
  const mb = [own, general, knownChannel(channel).mediaMaxMb].find((value): value is number => typeof value === "number" && value > 0) ?? DEFAULT_MB;
  return mb * MB;
}

/** Fetches files of messages through their channel and keeps them below the state folder. */
export function mediaKeeper(deps: Deps): KeepMedia {
  return async ({ channel, accountId, media }, signal) => {
    const saved = media.flatMap(({ ref, mimeType }) => savedFile(ref, mimeType));
    if (saved.length > 0) return { kept: await Promise.all(saved.map((file) => shown(deps, file))), problems: [] };
    const fetch = deps.channels.get(channel)?.media?.fetch;
    if (!fetch) return { kept: [], problems: [`${channel} cannot fetch files here`] };
    const maxBytes = limitOf(deps, channel, accountId);
    const kept: KeptMedia[] = [];
    const problems: string[] = [];
    for (const { ref, fileName, mimeType, kind } of media) {
      try {
        const limit = AbortSignal.any([signal, AbortSignal.timeout(FETCH_MS)]);
        const file = await fetch({ cfg: structuredClone(deps.config.current), accountId, ref, maxBytes, signal: limit });
        if (file.data.byteLength > maxBytes) throw new AppError("INVALID_INPUT", `it has ${file.data.byteLength} bytes, more than the limit of ${maxBytes}`);
        kept.push(await store(deps, { ...file, fileName: file.fileName ?? fileName, mimeType: file.mimeType ?? mimeType }, maxBytes));
      } catch (error) {
        problems.push(`a file (${kind}) could not be had: ${messageOf(error)}`);
      }
    }
    return { kept, problems };
  };
}

/** A file that the plugin which received the message has stored itself. */
export interface SavedRef {
  readonly saved: string;
}

function savedFile(ref: unknown, mimeType = "application/octet-stream"): KeptMedia[] {
  const path = isRecord(ref) ? ref["saved"] : undefined;
  return typeof path === "string" && path !== "" ? [{ path, mimeType }] : [];
}

/** With its picture, when it is one below the state folder; of others the model gets the path. */
async function shown({ config }: Deps, file: KeptMedia): Promise<KeptMedia> {
  const { path, mimeType } = file;
  const folder = join(config.paths.state, "media");
  try {
    if (!isPicture(mimeType) || relative(await realpath(folder), await realpath(path)).startsWith("..")) return file;
    if ((await stat(path)).size > MAX_IMAGE) return file;
    return { ...file, image: { type: "image", data: (await readFile(path)).toString("base64"), mimeType } };
  } catch {
    return file; // It is gone: its path is given all the same.
  }
}

const isPicture = (mimeType: string): boolean => /^image\/(?:png|jpeg|gif|webp)$/.test(mimeType);

async function store(
  { config, ids }: Deps,
  file: { readonly data: Uint8Array; readonly mimeType?: string | undefined; readonly fileName?: string | undefined },
  maxBytes: number,
): Promise<KeptMedia> {
  const buffer = Buffer.from(file.data.buffer, file.data.byteOffset, file.data.byteLength);
  const { saveMedia } = await loadSaving();
  const saved = await saveMedia(
    { buffer, contentType: file.mimeType, originalFilename: file.fileName, keepsName: config.current.media?.preserveFilenames !== false, maxBytes },
    { stateDir: config.paths.state, ids },
  );
  const claimed = saved.contentType ?? "application/octet-stream";
  // A picture is what its bytes say: providers refuse a whole request for one that is none.
  const mimeType = isPicture(claimed) && (await detectMime({ buffer })) !== claimed ? "application/octet-stream" : claimed;
  const isShown = isPicture(mimeType) && buffer.length <= MAX_IMAGE;
  return { path: saved.path, mimeType, ...(isShown ? { image: { type: "image", data: buffer.toString("base64"), mimeType } } : {}) };
}
