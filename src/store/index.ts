/**
 * The store: the only module that touches durable state. What it acknowledges is on disk.
 * Entry point of the module.
 */
import type * as backup from "./backup/index.ts";

export { openStore, type OpenStoreOptions } from "./client/open-store.ts";
/** Starts the store's thread ahead of `openStore`: it gets ready on another core while the caller still resolves its options. */
export { startThread as warmUpStore, type StoreThread } from "./client/start-thread.ts";
export type { CommitOptions, Fence, MaintainOptions, Store, StoreFailure, StoreHealth, StoreNotice } from "./store.ts";
export { patchedEntry } from "./areas/sessions.ts";
export { DEFAULT_RETENTION, type MaintenanceReport, type RetentionPolicy } from "./retention.ts";
export type { ReadInput, ReadKind, ReadResult, Results, Write, WriteInput, WriteKind, WriteResult } from "./areas/index.ts";
export type { Outcome } from "./areas/outcome.ts";
export type { AllowedCommand, ApprovalRow, CommandOutcome } from "./areas/approvals.ts";
export type { CronJobRow, CronSlotRow } from "./areas/cron.ts";
export type { AllowRow, DeviceRow, DeviceTokenRow, PairingRow } from "./areas/devices.ts";
export type { ExtensionRow, InjectionRow } from "./areas/extensions.ts";
export type { IdempotencyBegun } from "./areas/idempotency.ts";
export type { InboxAccepted, InboxInput, InboxRow, InboxState, UntranscribedRow } from "./areas/inbox.ts";
export type { LeaseAcquired, LeaseRow } from "./areas/leases.ts";
export type { RecordsCursor, RecordsResult } from "./areas/redaction.ts";
export type { ImportRow } from "./areas/meta.ts";
export type { OutboxCounts, OutboxInput, OutboxMark, OutboxRow, OutboxState } from "./areas/outbox.ts";
export type { SessionFilter, SessionRow, ShownSession } from "./areas/sessions.ts";
export type { BudgetScope, SpawnBudget, SpawnLimits, SubagentOutcome, SubagentPatch, SubagentRow } from "./areas/subagents.ts";
export type { Appended, ConversationRow, EntryInput, EntryRow, SiblingRow, TranscriptRow } from "./areas/transcripts.ts";
export { UNDO_MS } from "./areas/trash.ts";
export type { StepKind, StepRow, TurnRow, TurnSpan } from "./areas/turns.ts";
export { NO_TOTALS } from "./areas/usage.ts";
export type { UsageDimension, UsageFilter, UsageGroup, UsageInput, UsageOfMany, UsageOfTurn, UsagePoint, UsageTotals } from "./areas/usage.ts";
/** Making, verifying and restoring backups, loaded on demand. */
export async function loadBackup(): Promise<typeof backup> {
  return import("./backup/index.ts");
}
export { lockingProcesses, nameHolders, type LockingProcess } from "./lock-holders.ts";
export { findRestoreRequest } from "./backup/restore-request.ts";
export type { AppliedRestore } from "./backup/handover.ts";
export type { BackupResults, BackupWork, StagedRestore } from "./backup/in-thread.ts";
export type { PreparedRestore } from "./backup/restore.ts";
export type { RestoreReport } from "./backup/types.ts";
export { archivedName, transcriptFile } from "./projection/index.ts";
export { examineStore, inspectStore, suspectStore, type Examination, type Inspection } from "./inspect.ts";
export { scheduleMaintenance, type MaintenanceDeps } from "./maintenance.ts";
