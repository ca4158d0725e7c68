/**
 * Copies of the whole state: made while the gateway runs, verified to the byte, restored in one step. Runs in the process of the command
 * line, not in the store's thread. Entry point of this part of the store.
 */
export { BACKUPS } from "./contents.ts";
export { createBackup } from "./create.ts";
export { verifyBackup } from "./read.ts";
export { inBackupThread, type BackupResults, type BackupWork, type StagedRestore } from "./in-thread.ts";
export { lastRestore, listBackups, type ListedBackup } from "./listing.ts";
export { finishRestore, prepareRestore, restoreBackup, type PreparedRestore } from "./restore.ts";
export { applyRestoreRequest, handOver, outcomeOf, cancelHandOver, type AppliedRestore, type RestoreOutcome } from "./handover.ts";
export type { BackupOptions, BackupReport, Manifest, ManifestFile, Progress, RestoreOptions, RestoreReport, VerifyOptions, VerifyReport } from "./types.ts";
