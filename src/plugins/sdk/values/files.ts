/** Files of plugins: locks across processes, JSON that is replaced in one step, places for downloads. */
import { randomUUID } from "node:crypto";
import { mkdtemp, open, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { AppError, fileError, systemCode } from "../../../base/errors.ts";
import { isRunning } from "../../../base/process-identity.ts";
import { ensureFolder, writeAtomic } from "../../../base/files.ts";

export interface FileLockOptions {
  /** Waits `minTimeout` × `factor`ⁿ, at most `maxTimeout` milliseconds, between attempts. */
  retries: { retries: number; factor: number; minTimeout: number; maxTimeout: number; randomize?: boolean | undefined };
  /** Milliseconds after which a lock is taken over. */
  stale: number;
}

export interface FileLockHandle {
  lockPath: string;
  release(): Promise<void>;
}

async function isStale(lockPath: string, staleMs: number): Promise<boolean> {
  try {
    const { pid }: { pid?: unknown } = JSON.parse(await readFile(lockPath, "utf8"));
    if (typeof pid === "number" && !isRunning({ pid })) return true;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return false;
    // Half written, or not one of ours: its age decides.
  }
  try {
    return Date.now() - (await stat(lockPath)).mtimeMs > staleMs;
  } catch {
    return false;
  }
}

/** Takes `<file>.lock` for this process. Rejects with `LOCKED` when it is still held after the last attempt. */
export async function acquireFileLock(filePath: string, options: FileLockOptions): Promise<FileLockHandle> {
  const lockPath = `${filePath}.lock`;
  const { retries, factor, minTimeout, maxTimeout, randomize } = options.retries;
  ensureFolder(dirname(filePath));
  for (let attempt = 0; ; attempt += 1) {
    try {
      const file = await open(lockPath, "wx", 0o600);
      await file.writeFile(JSON.stringify({ pid: process.pid, createdAt: new Date().toISOString() }));
      await file.close();
      return { lockPath, release: () => rm(lockPath, { force: true }) };
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw fileError(lockPath, "could not lock", error);
    }
    if (await isStale(lockPath, options.stale)) {
      await rm(lockPath, { force: true });
      continue;
    }
    if (attempt >= retries) {
      throw new AppError("LOCKED", `${filePath} is locked by another process; try again, or remove ${lockPath} if no process uses it`, {
        details: { lockPath },
      });
    }
    const wait = Math.min(maxTimeout, minTimeout * factor ** attempt);
    await new Promise((resolve) => void setTimeout(resolve, randomize ? wait * (1 + Math.random()) : wait));
  }
}

/** Runs `fn` while this process holds the file's lock. */
export async function withFileLock<T>(filePath: string, options: FileLockOptions, fn: () => Promise<T>): Promise<T> {
  const lock = await acquireFileLock(filePath, options);
  try {
    return await fn();
  } finally {
    await lock.release();
  }
}

/** The value in a file; the fallback where there is none, or none that can be read as JSON. */
export async function readJsonFileWithFallback<T>(filePath: string, fallback: T): Promise<{ value: T; exists: boolean }> {
  let text: string;
  try {
    text = await readFile(filePath, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return { value: fallback, exists: false };
    throw fileError(filePath, "could not read", error);
  }
  try {
    const value: T = JSON.parse(text);
    return { value, exists: true };
  } catch {
    return { value: fallback, exists: true };
  }
}

/** Replaces a file by a value in one step; only its owner may read it. */
export async function writeJsonFileAtomically(filePath: string, value: unknown): Promise<void> {
  ensureFolder(dirname(filePath));
  writeAtomic(filePath, `${JSON.stringify(value, undefined, 2)}\n`, { mode: 0o600, temporary: `${filePath}.${randomUUID()}.tmp` });
}

const safeName = (text: string, fallback: string) => text.replaceAll(/[^\w.-]+/g, "-").replaceAll(/^[-.]+|[-.]+$/g, "") || fallback;

function safeExtension(extension: string | undefined): string {
  const match = /^\.?([A-Za-z0-9]+)$/.exec(extension?.trim() ?? "");
  return match ? `.${match[1]}` : "";
}

/** A path for a temporary file that nobody can guess. Nothing is made. */
export function buildRandomTempFilePath(params: {
  prefix: string;
  extension?: string | undefined;
  tmpDir?: string | undefined;
  now?: number | undefined;
  uuid?: string | undefined;
}): string {
  const now = params.now !== undefined && Number.isFinite(params.now) ? Math.trunc(params.now) : Date.now();
  return join(params.tmpDir ?? tmpdir(), `${safeName(params.prefix, "tmp")}-${now}-${params.uuid?.trim() || randomUUID()}${safeExtension(params.extension)}`);
}

/** Runs `fn` with a path in a folder of its own, which is removed afterwards. */
export async function withTempDownloadPath<T>(
  params: { prefix: string; fileName?: string | undefined; tmpDir?: string | undefined },
  fn: (tmpPath: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(params.tmpDir ?? tmpdir(), `${safeName(params.prefix, "tmp")}-`));
  try {
    return await fn(join(folder, safeName(params.fileName ?? "", "download.bin")));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
