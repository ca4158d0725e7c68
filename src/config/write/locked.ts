import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { AppError, systemCode } from "../../base/errors.ts";
import { withFileLock } from "../../base/file-lock.ts";
import { diskFiles } from "../source-files.ts";
import { writeReviewed, type WriteDeps, type WriteRequest, type Written } from "./index.ts";

const LOCK = { timeoutMs: 10_000, staleMs: 30_000 };

/** How often, and after how long a pause, an edit is made again because the file changed or was away: editors and sync tools take a moment. */
const ATTEMPTS = 30;
const PAUSE_MS = 100;

export interface LockedWriteDeps extends WriteDeps {
  readonly file: string;
  readonly state: string;
}

/**
 * Writes while no other program of ours does. Every attempt reads the file again, so that nothing another writer changed is lost; an edit made for
 * an earlier version of the file (`baseHash`) is refused as before.
 */
export async function writeLocked(request: WriteRequest, deps: LockedWriteDeps): Promise<Written> {
  return await holding(deps, async () => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await writeReviewed(request, deps);
      } catch (error) {
        if (!wasOvertaken(error) || attempt === ATTEMPTS) throw error;
        await pause(deps.clock);
      }
    }
  });
}

/** The file itself was another one, or was missing: the base that the edit was made for is not the reason. */
function wasOvertaken(error: unknown): boolean {
  return error instanceof AppError && error.code === "CONFIG_STALE" && error.details?.["file"] !== undefined;
}

async function pause(clock: Clock): Promise<void> {
  // Timers of the clock do not keep a process alive, and a command has nothing else that does.
  const alive = setInterval(() => {}, 60_000);
  await new Promise<void>((resolve) => void clock.after(PAUSE_MS, resolve));
  clearInterval(alive);
}

/** The lock is beside the file that is really written; where nothing can be made there (a file mounted into a container), in the state folder. */
async function holding<T>({ file, state, load, ids }: LockedWriteDeps, work: () => Promise<T>): Promise<T> {
  const files = load.files ?? diskFiles;
  const beside = `${files.exists(file) ? files.realPath(file) : file}.lock`;
  let isHeld = false;
  const run = (): Promise<T> => {
    isHeld = true;
    return work();
  };
  try {
    return await withFileLock(beside, { ...LOCK, ids }, run);
  } catch (error) {
    const code = error instanceof AppError ? systemCode(error.cause) : undefined;
    if (isHeld || (code !== "EACCES" && code !== "EPERM" && code !== "EROFS")) throw error;
    return await withFileLock(join(state, "config.lock"), { ...LOCK, ids }, run);
  }
}
