import { createHash } from "node:crypto";
import { chmodSync, createWriteStream, existsSync, lstatSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import type { DownloadSpec } from "../../agent/index.ts";
import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { ensureFolder, isInside } from "../../base/files.ts";
import { guardedFetch, type AddressLookup } from "../../base/guarded-fetch.ts";
import type { HostPolicy } from "../../base/host-rules.ts";
import type { Ids } from "../../base/ids.ts";
import { isRunning } from "../../base/process-identity.ts";
import { formatBytes } from "../../base/text.ts";
import { STAGING } from "../install/journal.ts";
import { LIMITS, type InstallLimits } from "../install/limits.ts";
import { refused } from "../install/refusal.ts";
import { unpack } from "../install/unpack/index.ts";

export interface FetchDeps {
  readonly clock: Clock;
  readonly network?: { readonly policy?: HostPolicy; readonly lookup?: AddressLookup } | undefined;
}

export interface FetchRequest {
  readonly url: string;
  readonly file: string;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Called with how much has come. */
  readonly report?: ((text: string) => void) | undefined;
}

/** A server that sends nothing for this long is given up. */
const STALL_MS = 60_000;

/** Fetches a file, guarded and bounded. Gives its SHA-256. What was written until a failure is the caller's to remove. */
export async function fetchToFile({ url, file, maxBytes, timeoutMs, signal, report }: FetchRequest, { clock, network }: FetchDeps): Promise<string> {
  const startedAt = clock.now();
  using answer = await guardedFetch({ url, clock, timeoutMs, signal, maxRedirects: 5, ...network });
  const { host } = new URL(url);
  if (answer.status < 200 || answer.status > 299) throw new AppError("UNAVAILABLE", `${host} answered ${url} with status ${answer.status}`);
  const total = Number(answer.header("content-length"));
  const tooLarge = new AppError("INVALID_INPUT", `${url} has more than ${formatBytes(maxBytes)}; nothing was installed`);
  if (total > maxBytes) throw tooLarge;
  const hash = createHash("sha256");
  const stalled = new AbortController();
  const late = (): Disposable =>
    clock.after(Math.min(STALL_MS, timeoutMs), () => stalled.abort(new AppError("TIMEOUT", `${host} stopped sending before the file was complete`)));
  let timer = late();
  let size = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      timer[Symbol.dispose]();
      timer = late();
      size += chunk.length;
      if (size > maxBytes) throw tooLarge;
      hash.update(chunk);
      report?.(total > 0 ? `${formatBytes(size)} of ${formatBytes(total)}` : formatBytes(size));
      yield chunk;
    }
  }
  const ended = AbortSignal.any([stalled.signal, ...(signal ? [signal] : [])]);
  try {
    await pipeline(counted, createWriteStream(file, { flags: "wx", mode: 0o600 }), { signal: ended });
  } catch (error) {
    if (stalled.signal.aborted) throw stalled.signal.reason;
    if (signal?.aborted) throw new AppError("CANCELLED", "the download was cancelled", { cause: error });
    if (error instanceof AppError) throw error;
    if (clock.now() - startedAt >= timeoutMs) throw new AppError("TIMEOUT", `${host} did not send the whole file within ${timeoutMs} ms`, { cause: error });
    throw new AppError("UNAVAILABLE", `the download of ${url} was interrupted after ${formatBytes(size)}`, { cause: error });
  } finally {
    timer[Symbol.dispose]();
  }
  if (total > 0 && size < total)
    throw new AppError("UNAVAILABLE", `the download of ${url} was interrupted after ${formatBytes(size)} of ${formatBytes(total)}`);
  return hash.digest("hex");
}

/** Throws when a file is not the one that is expected. */
export function requireHash(found: string, expected: string | undefined, what: string): void {
  if (expected === undefined || found === expected.toLowerCase()) return;
  throw new AppError("INVALID_INPUT", `${what} has the wrong SHA-256: ${found}, expected ${expected}; nothing was installed`);
}

interface Downloading {
  readonly skillKey: string;
  /** Programs that it brings; they are made executable. */
  readonly bins: readonly string[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly report: (text: string) => void;
}

export interface DownloadDeps extends FetchDeps {
  readonly toolsDir: string;
  readonly pid: number;
  readonly ids: Pick<Ids, "hex">;
  readonly limits?: InstallLimits | undefined;
}

/** The folder of a skill's tools, and the one in it that a download goes to. */
function targetOf({ targetDir }: DownloadSpec, skillKey: string, toolsDir: string): string {
  const name = skillKey.replaceAll(/[^\w.-]+/g, "-");
  if (!/^[\w-][\w.-]{0,99}$/.test(name)) throw new AppError("INVALID_INPUT", `${JSON.stringify(skillKey)} cannot be the name of a folder`);
  const own = join(toolsDir, name);
  const target = resolve(own, targetDir ?? ".");
  if (!isInside(own, target)) throw new AppError("INVALID_INPUT", `targetDir ${JSON.stringify(targetDir)} is outside ${own}; nothing was downloaded`);
  ensureFolder(target);
  if (!isInside(realpathSync(toolsDir), realpathSync(target)))
    throw new AppError("INVALID_INPUT", `${target} is a link to another location; nothing was downloaded`);
  return target;
}

/** Fetches a file and puts it, or what is in it, into the folder of a skill's tools. Gives that folder. */
export async function download(spec: DownloadSpec, request: Downloading, deps: DownloadDeps): Promise<string> {
  const { toolsDir, pid, ids, limits = LIMITS } = deps;
  ensureFolder(toolsDir);
  recoverDownloads(toolsDir);
  const target = targetOf(spec, request.skillKey, toolsDir);
  const stage = join(toolsDir, `.staging-${pid}-${ids.hex(6)}`);
  mkdirSync(stage, { mode: 0o700 });
  try {
    const name = fileName(spec.url);
    const file = join(stage, spec.extract && spec.archive !== undefined ? `file.${spec.archive}` : name);
    const { timeoutMs, signal, report } = request;
    const sha256 = await fetchToFile({ url: spec.url, file, maxBytes: limits.archiveBytes, timeoutMs, signal, report }, deps);
    requireHash(sha256, spec.sha256, spec.url);
    if (!spec.extract) {
      placeEntry(file, join(target, name), stage, toolsDir);
    } else {
      report("unpacking");
      const content = join(stage, "content");
      mkdirSync(content);
      await unpack(file, content, { limits, signal, shown: spec.url });
      refuseLinks(content);
      const stripped = join(stage, "stripped");
      mkdirSync(stripped);
      strip(content, stripped, spec.stripComponents);
      const names = readdirSync(stripped);
      if (names.length === 0) throw new AppError("INVALID_INPUT", `nothing is left of ${spec.url} without its first ${spec.stripComponents} folders`);
      for (const entry of names) placeEntry(join(stripped, entry), join(target, entry), stage, toolsDir);
    }
    makeExecutable(target, request.bins);
    return target;
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

function fileName(url: string): string {
  const name = decodeURIComponent(basename(new URL(url).pathname)).replaceAll(/[^\w.+-]+/g, "_");
  return /^[\w+-]/.test(name) ? name : "download";
}

const ASIDE = "old-";

/** Puts one file or folder in its place. A folder that stood there waits in the stage until the new one is there. */
function placeEntry(from: string, to: string, stage: string, toolsDir: string): void {
  if (!existsSync(to) || !lstatSync(to).isDirectory()) return renameSync(from, to);
  const old = join(stage, `${ASIDE}${encodeURIComponent(relative(toolsDir, to))}`);
  renameSync(to, old);
  try {
    renameSync(from, to);
  } catch (error) {
    renameSync(old, to);
    throw error;
  }
}

/** Puts back what a process moved aside that ended before the new one was in its place. */
export function recoverDownloads(toolsDir: string): void {
  for (const name of readdirSync(toolsDir)) {
    const pid = STAGING.exec(name)?.[1];
    if (pid === undefined || isRunning({ pid: Number(pid) })) continue;
    const stage = join(toolsDir, name);
    for (const entry of readdirSync(stage)) {
      if (!entry.startsWith(ASIDE)) continue;
      const to = resolve(toolsDir, decodeURIComponent(entry.slice(ASIDE.length)));
      if (isInside(toolsDir, to) && !existsSync(to)) renameSync(join(stage, entry), to);
    }
    rmSync(stage, { recursive: true, force: true });
  }
}

/** Neither programs nor skills need links, and each is a way out of the folder. */
export function refuseLinks(root: string): void {
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) throw refused(entry.name, "it is a link");
  }
}

/** Moves what lies `count` folders deep to the top; what lies above it is left out. */
function strip(from: string, to: string, count: number): void {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const path = join(from, entry.name);
    if (count > 0) {
      if (entry.isDirectory()) strip(path, to, count - 1);
      continue;
    }
    const place = join(to, entry.name);
    if (existsSync(place)) throw refused(entry.name, "two entries have the same name without the first folders");
    renameSync(path, place);
  }
}

function makeExecutable(folder: string, bins: readonly string[]): void {
  if (bins.length === 0) return;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && bins.includes(entry.name)) chmodSync(join(entry.parentPath, entry.name), 0o755);
  }
}
