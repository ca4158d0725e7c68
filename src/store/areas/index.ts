import type { ApprovalsReads, ApprovalsWrites, CommandsReads, CommandsWrites } from "./approvals.ts";
import type { CronReads, CronWrites } from "./cron.ts";
import type { DevicesReads, DevicesWrites } from "./devices.ts";
import type { ExtensionsReads, ExtensionsWrites } from "./extensions.ts";
import type { IdempotencyReads, IdempotencyWrites } from "./idempotency.ts";
import type { InboxReads, InboxWrites } from "./inbox.ts";
import type { LeasesReads, LeasesWrites } from "./leases.ts";
import type { MetaReads, MetaWrites } from "./meta.ts";
import type { OutboxReads, OutboxWrites } from "./outbox.ts";
import type { RedactionReads, RedactionWrites } from "./redaction.ts";
import type { SessionsReads, SessionsWrites } from "./sessions.ts";
import type { SubagentsReads, SubagentsWrites } from "./subagents.ts";
import type { TranscriptsReads, TranscriptsWrites } from "./transcripts.ts";
import type { TrashReads, TrashWrites } from "./trash.ts";
import type { JournalReads, JournalWrites, TurnsReads, TurnsWrites } from "./turns.ts";
import type { UsageReads, UsageWrites } from "./usage.ts";

/** Every kind of write, with its input and result. */
export interface Writes
  extends
    InboxWrites,
    TurnsWrites,
    JournalWrites,
    OutboxWrites,
    SessionsWrites,
    TranscriptsWrites,
    LeasesWrites,
    IdempotencyWrites,
    ApprovalsWrites,
    CommandsWrites,
    SubagentsWrites,
    CronWrites,
    DevicesWrites,
    ExtensionsWrites,
    UsageWrites,
    RedactionWrites,
    TrashWrites,
    MetaWrites {}

/** Every kind of read. */
export interface Reads
  extends
    InboxReads,
    TurnsReads,
    JournalReads,
    OutboxReads,
    SessionsReads,
    TranscriptsReads,
    LeasesReads,
    IdempotencyReads,
    ApprovalsReads,
    CommandsReads,
    SubagentsReads,
    CronReads,
    DevicesReads,
    ExtensionsReads,
    UsageReads,
    RedactionReads,
    TrashReads,
    MetaReads {}

export type WriteKind = keyof Writes;
export type ReadKind = keyof Reads;
export type WriteInput<K extends WriteKind> = Writes[K]["input"];
export type WriteResult<K extends WriteKind> = Writes[K]["result"];
export type ReadInput<K extends ReadKind> = Reads[K]["input"];
export type ReadResult<K extends ReadKind> = Reads[K]["result"];

/** One write, as data. */
export type Write = { [K in WriteKind]: readonly [K, WriteInput<K>] }[WriteKind];

/** The results of a list of writes: one per write, in order. */
export type Results<T extends readonly Write[]> = {
  -readonly [I in keyof T]: T[I] extends readonly [infer K extends WriteKind, unknown] ? WriteResult<K> : never;
};
