import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** Written into a prepared restore to hand it to the running gateway. */
export const WANTED = "restore-wanted.json";
/** An order that was not carried out within this time was given up by whoever gave it. */
const WANTED_MS = 120_000;

/** What a running gateway is asked to put in place. */
export interface Wanted {
  /** The process that is asked. */
  readonly pid: number;
  /** Unix time in milliseconds. */
  readonly at: number;
  /** Where the backup is, for the record. */
  readonly backup: string;
}

export interface FoundWanted {
  readonly wanted: Wanted;
  readonly stamp: string;
  /** The state folder itself: what a link to it leads to. */
  readonly target: string;
}

/** The restore that was left for this process beside its state folder, if there is one. Cheap enough to be asked at every restart. */
export function findWanted(stateDir: string, pid: number, now: number): FoundWanted | undefined {
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
      const wanted = JSON.parse(readFileSync(join(dirname(target), name, WANTED), "utf8")) as Wanted;
      if (wanted.pid === pid && Math.abs(now - wanted.at) < WANTED_MS) return { wanted, stamp: name.slice(prefix.length), target };
    } catch {
      // It is being unpacked, or was left by one that died.
    }
  }
  return undefined;
}
