import { setTimeout as pause } from "node:timers/promises";
import { isRecord } from "../base/records.ts";
import { realpath, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { AppError, messageOf } from "../base/errors.ts";
import type { Ids } from "../base/ids.ts";
import { readRegular } from "../base/open-below.ts";
import { formatBytes } from "../base/text.ts";
import { effectiveChannelConfig } from "../channels/index.ts";
import { type Config, knownChannel } from "../config/index.ts";
import type { KeepMedia, KeptMedia } from "./ports.ts";
import { classifyFailure } from "./send-failure.ts";
import { loadSaving } from "../media/index.ts";
import type { ChannelPlugin } from "../protocol/index.ts";

interface Deps {
  readonly config: Config;
  readonly ids: Ids;
  readonly channels: { get(id: string): ChannelPlugin | undefined };
}

const MB = 1024 * 1024;
const DEFAULT_MB = 5;
/** For all attempts together. */
const FETCH_MS = 60_000;
/** How long is waited before another attempt. */
const AGAIN_MS = [250, 1000, 4000];
/** Larger pictures are stored as files; the model sees where. */
const MAX_IMAGE = 20 * MB;

interface Limit {
  readonly maxBytes: number;
  /** Where it is set. */
  readonly setting: string;
}

const isAmount = (value: unknown): value is number => typeof value === "number" && value > 0;

function limitOf({ config }: Deps, channel: string, accountId: string): Limit {
  const own = effectiveChannelConfig(config.current, channel, accountId)["mediaMaxMb"];
  const general = config.current.agents?.defaults?.mediaMaxMb;
  const mb = [own, general, knownChannel(channel).mediaMaxMb].find(isAmount) ?? DEFAULT_MB;
  return { maxBytes: mb * MB, setting: !isAmount(own) && isAmount(general) ? "agents.defaults.mediaMaxMb" : `channels.${channel}.mediaMaxMb` };
}

/** Why a file is not there, for the model. */
class LeftOut extends AppError {
  constructor(name: string, bytes: number, { maxBytes, setting }: Limit) {
    super("INVALID_INPUT", `${name} is ${formatBytes(bytes)}; ${setting} allows ${formatBytes(maxBytes)}`);
  }
}

/** Fetches files of messages through their channel and keeps them below the state folder. */
export function mediaKeeper(deps: Deps): KeepMedia {
  return async ({ channel, accountId, media }, signal) => {
    const saved = media.flatMap(({ ref, mimeType }) => savedFile(ref, mimeType));
    if (saved.length > 0) return { kept: await Promise.all(saved.map((file) => shown(deps, file))), problems: [] };
    const fetch = deps.channels.get(channel)?.media?.fetch;
    if (!fetch) return { kept: [], problems: [`${channel} cannot fetch files here`] };
    const limit = limitOf(deps, channel, accountId);
    const kept: KeptMedia[] = [];
    const problems: string[] = [];
    for (const asked of media) {
      const name = asked.fileName ?? `the ${asked.kind}`;
      try {
        if ((asked.bytes ?? 0) > limit.maxBytes) throw new LeftOut(name, asked.bytes ?? 0, limit);
        const within = AbortSignal.any([signal, AbortSignal.timeout(FETCH_MS)]);
        const ask = () => fetch({ cfg: structuredClone(deps.config.current), accountId, ref: asked.ref, maxBytes: limit.maxBytes, signal: within });
        const file = await repeatedly(ask, within);
        if (file.data.byteLength > limit.maxBytes) throw new LeftOut(name, file.data.byteLength, limit);
        const fileName = file.fileName ?? asked.fileName;
        kept.push({ ...(await store(deps, { ...file, fileName, mimeType: file.mimeType ?? asked.mimeType }, limit.maxBytes)), ...spokenFacts(asked) });
      } catch (error) {
        problems.push(problemOf(error, name, limit));
      }
    }
    return { kept, problems };
  };
}

/** What the platform could not give right now is asked for again, a few times. */
async function repeatedly<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      const ms = AGAIN_MS[attempt];
      const { state, retryAfterMs = 0 } = classifyFailure(error);
      if (ms === undefined || state === "failed" || signal.aborted || !isRecord(fieldsOf(error)["delivery"])) throw error;
      await pause(Math.max(ms, retryAfterMs), undefined, { signal }).catch(() => {
        throw error;
      });
    }
  }
}

const fieldsOf = (error: unknown): Readonly<Record<string, unknown>> => (typeof error === "object" && error !== null ? (error as Record<string, unknown>) : {});

function problemOf(error: unknown, name: string, { maxBytes, setting }: Limit): string {
  if (error instanceof LeftOut) return error.message;
  if (fieldsOf(error)["code"] === "TOO_LARGE") return `${name} is larger than ${formatBytes(maxBytes)}, the limit of ${setting}`;
  return `${name} could not be fetched: ${messageOf(error)}`;
}

const spokenFacts = ({ durationSeconds }: { readonly durationSeconds?: number | undefined }): Pick<KeptMedia, "durationSeconds"> =>
  durationSeconds === undefined ? {} : { durationSeconds };

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
    return { ...file, image: { type: "image", data: (await readRegular(path)).toString("base64"), mimeType } };
  } catch {
    return file; // It is gone: its path is given all the same.
  }
}

/** What a model can be shown, some of it after conversion. */
const isPicture = (mimeType: string): boolean => /^image\/(?:png|jpeg|gif|webp|heic|heif|avif|tiff|bmp)$/.test(mimeType);

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
  const mimeType = saved.contentType ?? "application/octet-stream";
  const isShown = isPicture(mimeType) && buffer.length <= MAX_IMAGE;
  return { path: saved.path, mimeType, ...(isShown ? { image: { type: "image", data: buffer.toString("base64"), mimeType } } : {}) };
}
