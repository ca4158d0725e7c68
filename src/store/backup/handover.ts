import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { syncFolder, writeAtomic } from "../../base/files.ts";
import { besideOf, putInPlace, restoredIn, type PreparedRestore } from "./restore.ts";
import type { RestoreReport } from "./types.ts";
import { findWanted, WANTED, type Wanted } from "./wanted.ts";

/** Why a restored state was taken out again; in the folder that it is kept in. */
const REASON = "restore-failed.txt";

/** Leaves a prepared restore for the gateway that runs on the state folder: it puts it in place during its next restart. */
export function handOver(prepared: PreparedRestore, wanted: Wanted): void {
  writeAtomic(join(prepared.staging, WANTED), JSON.stringify(wanted), { temporary: join(prepared.staging, `.${WANTED}.tmp`) });
}

/** Takes a restore back that no gateway has begun with. False when one has. */
export function takeBack(prepared: PreparedRestore): boolean {
  try {
    rmSync(join(prepared.staging, WANTED));
    return true;
  } catch {
    return false;
  }
}

/** A restored state in place, until it is known to work. */
export interface AppliedRestore {
  readonly report: Omit<RestoreReport, "files">;
  /** It works: what is left of the old one is history. */
  settle(): void;
  /** Puts the old state back; the restored one is kept aside with the reason. Gives its place. */
  undo(reason: string): string;
}

/** Puts the restore that was left for this process in place. Nothing may use the state folder. Undefined when there is none. */
export function applyWanted(stateDir: string, pid: number, now: number, locks: readonly string[]): AppliedRestore | undefined {
  const found = findWanted(stateDir, pid, now);
  if (!found) return undefined;
  const { wanted, stamp, target } = found;
  const { staging, kept, failed } = besideOf(target, stamp);
  rmSync(join(staging, WANTED));
  let report: AppliedRestore["report"];
  try {
    report = putInPlace(target, stamp, now, wanted.backup, locks);
  } catch (error) {
    // A full disk, say: the old state was not touched, and what was copied so far is in the way.
    if (existsSync(target)) rmSync(staging, { recursive: true, force: true });
    throw error;
  }
  return {
    report,
    settle() {
      for (const name of locks) rmSync(join(kept, name), { force: true });
    },
    undo(reason) {
      renameSync(target, failed);
      renameSync(kept, target);
      syncFolder(dirname(target));
      for (const name of locks) rmSync(join(failed, name), { force: true });
      writeAtomic(join(failed, REASON), `${reason}\n`, { temporary: join(failed, `.${REASON}.tmp`) });
      return failed;
    },
  };
}

export type RestoreOutcome =
  | { readonly ok: true; readonly report: RestoreReport }
  | { readonly ok: false; readonly reason: string; /** Where the restored state is that did not work. */ readonly failed?: string };

/** What became of a restore that was handed over, once its gateway is back. */
export function outcomeOf({ stateDir, staging, stamp, files }: PreparedRestore): RestoreOutcome {
  const { kept, failed } = besideOf(stateDir, stamp);
  if (existsSync(failed)) return { ok: false, failed, reason: readFileSync(join(failed, REASON), "utf8").trim() };
  if (!existsSync(staging) && existsSync(kept)) return { ok: true, report: { ...restoredIn(stateDir), files, kept } };
  return { ok: false, reason: "the gateway did not put it in place; its log says why: openclaw logs" };
}
