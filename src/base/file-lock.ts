import { linkSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { AppError, fileError, systemCode } from "./errors.ts";
import { ensureFolder } from "./files.ts";
import type { Ids } from "./ids.ts";
import { identify, isRunning, type ProcessIdentity } from "./process-identity.ts";

export interface FileLockOptions {
  /** Milliseconds to wait for another holder before giving up. */
  readonly timeoutMs: number;
  /** A lock of another machine, or an unreadable one, counts as abandoned when it was not touched for this long. */
  readonly staleMs: number;
  readonly ids: Pick<Ids, "hex">;
  /** Stops waiting. */
  readonly signal?: AbortSignal;
}

interface Holder extends ProcessIdentity {
  readonly host?: string;
}

/** Content and time of a lock file at one moment. */
interface Seen {
  readonly content: string;
  readonly touchedMs: number;
}

const FIRST_PAUSE_MS = 4;
const LONGEST_PAUSE_MS = 60;

function look(path: string): Seen | undefined {
  try {
    return { touchedMs: statSync(path).mtimeMs, content: readFileSync(path, "utf8") };
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw fileError(path, "could not read the lock", error);
  }
}

function holderOf({ content }: Seen): Holder | undefined {
  try {
    const value: Holder | null = JSON.parse(content);
    return typeof value?.pid === "number" ? value : undefined;
  } catch {
    return undefined;
  }
}

function isAbandoned(seen: Seen, staleMs: number): boolean {
  const holder = holderOf(seen);
  if (holder && (holder.host ?? hostname()) === hostname()) {
    if (!isRunning(holder)) return true;
    if (holder.startTime !== undefined) return false;
  }
  return Date.now() - seen.touchedMs > staleMs;
}

/** Creates `path` with its whole content in one step. False when it already exists. */
function create(path: string, content: string, token: string): boolean {
  const temporary = `${path}.${token}`;
  try {
    writeFileSync(temporary, content, { flag: "wx", mode: 0o600 });
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw fileError(path, "could not lock", error);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/**
 * Removes one abandoned lock. A file named after the lock's content guards the removal, so that two processes never remove a newer lock. If the
 * remover itself died, the next number is used.
 */
function clear(path: string, seen: Seen, mine: string, options: FileLockOptions): void {
  const name = process.getBuiltinModule("node:crypto").createHash("sha256").update(seen.content).digest("hex").slice(0, 16);
  const rights: string[] = [];
  for (let turn = 0; ; turn += 1) {
    const right = `${path}.${name}-${turn}`;
    rights.push(right);
    if (create(right, mine, options.ids.hex(6))) break;
    const other = look(right);
    if (other && !isAbandoned(other, options.staleMs)) return;
  }
  try {
    if (look(path)?.content === seen.content) rmSync(path, { force: true });
  } finally {
    for (const right of rights.toReversed()) rmSync(right, { force: true });
  }
}

/** Takes `path` exclusively, among all processes and within this one. Rejects with `LOCKED` when it stays taken. */
async function acquire(path: string, options: FileLockOptions): Promise<Disposable> {
  ensureFolder(dirname(path));
  const token = options.ids.hex(8);
  const content = JSON.stringify({ ...identify(process.pid), createdAt: new Date().toISOString(), host: hostname(), token });
  const deadline = performance.now() + options.timeoutMs;
  for (let pause = FIRST_PAUSE_MS; !create(path, content, token); pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    options.signal?.throwIfAborted();
    const seen = look(path);
    if (!seen) continue;
    if (isAbandoned(seen, options.staleMs)) clear(path, seen, content, options);
    else if (performance.now() > deadline) throw locked(path, holderOf(seen), options);
    // Random pauses keep waiters from colliding again.
    await new Promise((resolve) => void setTimeout(resolve, pause * (0.5 + Math.random())));
  }
  const touch = setInterval(() => {
    try {
      utimesSync(path, new Date(), new Date());
    } catch {
      // The file was removed by hand; release notices it.
    }
  }, options.staleMs / 3);
  touch.unref();
  return {
    [Symbol.dispose]() {
      clearInterval(touch);
      if (look(path)?.content === content) rmSync(path, { force: true });
    },
  };
}

function locked(path: string, holder: Holder | undefined, { timeoutMs }: FileLockOptions): AppError {
  const who = holder ? `process ${holder.pid}${holder.host === undefined || holder.host === hostname() ? "" : ` on ${holder.host}`}` : "another process";
  return new AppError("LOCKED", `${path} is held by ${who} for more than ${timeoutMs} ms; try again, or remove it when nothing uses it`, {
    details: { path, pid: holder?.pid },
  });
}

/** Runs `work` while this caller alone holds the lock file. The lock of a process that died is taken over. */
export async function withFileLock<T>(path: string, options: FileLockOptions, work: () => Promise<T> | T): Promise<T> {
  using _lock = await acquire(path, options);
  return await work();
}
