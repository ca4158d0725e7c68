import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** Written into a prepared restore to hand it to the running gateway. */
export const REQUEST_FILE = "restore-wanted.json";
/** A request that was not carried out within this time was abandoned by its sender. */
const REQUEST_TTL_MS = 120_000;

/** A request to a running gateway to put a restore in place. */
export interface RestoreRequest {
  /** The process that shall do it. */
  readonly pid: number;
  /** Unix time in milliseconds. */
  readonly at: number;
  /** Path of the backup, for the record. */
  readonly backup: string;
}

export interface FoundRequest {
  readonly request: RestoreRequest;
  readonly stamp: string;
  /** The state folder itself; links are resolved. */
  readonly target: string;
}

/** The restore that was handed to this process, beside its state folder. Cheap enough for every restart. */
export function findRestoreRequest(stateDir: string, pid: number, now: number): FoundRequest | undefined {
  const target = existsSync(stateDir) ? realpathSync(stateDir) : resolve(stateDir);
  const prefix = `${basename(target)}.restore-`;
  let names: readonly string[];
  try {
    names = readdirSync(dirname(target)).filter((name) => name.startsWith(prefix));
  } catch {
    return undefined;
  }
  for (const name of names) {
    try {
      const request: RestoreRequest = JSON.parse(readFileSync(join(dirname(target), name, REQUEST_FILE), "utf8"));
      if (request.pid === pid && Math.abs(now - request.at) < REQUEST_TTL_MS) return { request, stamp: name.slice(prefix.length), target };
    } catch {
      // It is being unpacked, or was left by a process that died.
    }
  }
  return undefined;
}
