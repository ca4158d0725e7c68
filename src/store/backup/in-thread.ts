import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { AppError, type ErrorCode } from "../../base/errors.ts";
import { removeUnfinished } from "./create.ts";
import { removeUnpacked, type PreparedRestore } from "./restore.ts";
import type { BackupOptions, BackupReport, Progress, RestoreOptions, VerifyOptions, VerifyReport } from "./types.ts";

/** What is done in a thread: the options without what cannot be sent to it. `at`: when it begins; names of files have it. */
export type BackupWork =
  | { readonly kind: "create"; readonly at: number; readonly options: Omit<BackupOptions, "clock" | "progress"> }
  | { readonly kind: "verify"; readonly options: Omit<VerifyOptions, "progress"> }
  | { readonly kind: "restore"; readonly at: number; readonly options: Omit<RestoreOptions, "clock" | "progress" | "isHeld"> };

/** A verified backup, without its long list of files. */
export type VerifySummary = Omit<VerifyReport, "manifest"> & { readonly createdAt?: string; readonly madeBy?: string; readonly files?: number };

/** A backup that was unpacked beside the state folder and verified. */
export type StagedRestore = Pick<PreparedRestore, "stateDir" | "staging" | "stamp" | "files">;

export interface BackupResults {
  readonly create: BackupReport;
  readonly verify: VerifySummary;
  readonly restore: StagedRestore;
}

export type ThreadMessage =
  | { readonly kind: "progress"; readonly done: number; readonly total: number; readonly label: string }
  | { readonly kind: "done"; readonly result: unknown }
  | { readonly kind: "failed"; readonly code: ErrorCode; readonly message: string };

/** Where a bundle has the thread's file, relative to the chunk that contains this code. */
const BUNDLED = ["./backup-worker.js", "../backup-worker.js", "../../backup-worker.js"];

function threadFile(): URL {
  if (import.meta.url.endsWith(".ts")) return new URL("./thread/worker.ts", import.meta.url);
  for (const path of BUNDLED) {
    const url = new URL(path, import.meta.url);
    if (existsSync(url)) return url;
  }
  throw new AppError("UNAVAILABLE", `backup-worker.js is missing beside ${import.meta.url}; the installation is incomplete, install it again`);
}

/** Work that is cut off leaves no copies of the state behind. */
function removeLeftovers(work: BackupWork): void {
  if (work.kind === "create") removeUnfinished(work.options.into, work.at);
  else if (work.kind === "restore") removeUnpacked(work.options.stateDir, work.at);
}

/** Makes, verifies or unpacks a backup in a thread of its own, for a process that has other things to do. Aborting ends the thread. */
export function inBackupThread<W extends BackupWork>(work: W, progress: Progress, signal: AbortSignal): Promise<BackupResults[W["kind"]]> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(threadFile(), { name: "backup", workerData: work, execArgv: [] });
    let isDone = false;
    const end = (): void => void worker.terminate();
    const stop = (): void => {
      reject(new AppError("UNAVAILABLE", "the gateway stopped before the backup job was done; start it again"));
      end();
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    worker.on("message", (message: ThreadMessage) => {
      if (message.kind === "progress") return progress(message.done, message.total, message.label);
      isDone = true;
      if (message.kind === "done") resolve(message.result as BackupResults[W["kind"]]);
      else reject(new AppError(message.code, message.message));
      end();
    });
    worker.once("error", reject);
    worker.once("exit", (code) => {
      signal.removeEventListener("abort", stop);
      if (!isDone) removeLeftovers(work);
      reject(new AppError("INTERNAL", `the backup thread exited with code ${code}`));
    });
  });
}
