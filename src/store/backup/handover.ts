import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import { ensureFolder, syncFolder, writeAtomic } from "../../base/files.ts";
import { restorePaths, putInPlace, restoredIn, type PreparedRestore } from "./restore.ts";
import type { RestoreReport } from "./types.ts";
import { findRestoreRequest, REQUEST_FILE, type RestoreRequest } from "./restore-request.ts";

/** File with the reason why a restored state was removed again; lies in its folder. */
export const REASON = "restore-failed.txt";

/** Leaves a prepared restore to the gateway that runs on the state folder: it puts it in place during its next restart. */
export function handOver(prepared: Pick<PreparedRestore, "staging">, wanted: RestoreRequest): void {
  writeAtomic(join(prepared.staging, REQUEST_FILE), JSON.stringify(wanted), { temporary: join(prepared.staging, `.${REQUEST_FILE}.tmp`) });
}

/** Cancels a handed-over restore. False when a gateway has already started it. */
export function cancelHandOver(prepared: Pick<PreparedRestore, "staging">): boolean {
  try {
    rmSync(join(prepared.staging, REQUEST_FILE));
    return true;
  } catch {
    return false;
  }
}

/** A restored state in place, until it is known to work. */
export interface AppliedRestore {
  readonly report: Omit<RestoreReport, "files">;
  /** The restored state works: drops what is needed to undo. */
  settle(): void;
  /** Puts the old state back; the restored one is set aside with the reason. Returns its path. */
  undo(reason: string): string;
}

/** Whether the folder of a restore that failed has more than the reason. */
export const holdsState = (failed: string): boolean => readdirSync(failed).some((name) => name !== REASON);

/** Leaves the reason where people and pages look for it. Where even that cannot be written, the log has it. */
function noteFailure(folder: string, reason: string): void {
  try {
    ensureFolder(folder);
    writeAtomic(join(folder, REASON), `${reason}\n`, { temporary: join(folder, `.${REASON}.tmp`) });
  } catch {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Puts the restore that was handed to this process in place. The state folder must not be in use. Undefined when there is none. */
export function applyRestoreRequest(stateDir: string, pid: number, now: number, locks: readonly string[]): AppliedRestore | undefined {
  const found = findRestoreRequest(stateDir, pid, now);
  if (!found) return undefined;
  const { request, stamp, target } = found;
  const { staging, kept, failed } = restorePaths(target, stamp);
  rmSync(join(staging, REQUEST_FILE));
  let report: AppliedRestore["report"];
  try {
    report = putInPlace(target, stamp, now, request.backup, locks);
  } catch (error) {
    // For example a full disk: the old state was not touched, and the partial copy is in the way.
    if (existsSync(target)) {
      rmSync(staging, { recursive: true, force: true });
      noteFailure(failed, `the state that was in use is unchanged: ${messageOf(error)}`);
    }
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
  | { readonly ok: false; readonly reason: string; /** Path of the restored state that did not work. */ readonly failed?: string };

/** Outcome of a handed-over restore, once its gateway is back. */
export function outcomeOf({ stateDir, staging, stamp, files }: PreparedRestore): RestoreOutcome {
  const { kept, failed } = restorePaths(stateDir, stamp);
  if (existsSync(failed)) {
    return { ok: false, ...(holdsState(failed) ? { failed } : {}), reason: readFileSync(join(failed, REASON), "utf8").trim() };
  }
  if (!existsSync(staging) && existsSync(kept)) return { ok: true, report: { ...restoredIn(stateDir), files, kept } };
  return { ok: false, reason: "the gateway did not install it; see its log: openclaw logs" };
}
