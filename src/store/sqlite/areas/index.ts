import type { Reads, Writes } from "../../areas/index.ts";
import type { ReadHandlers, WriteHandlers } from "../handlers.ts";
import { approvalsReads, approvalsWrites, commandsReads, commandsWrites } from "./approvals.ts";
import { cronReads, cronWrites } from "./cron.ts";
import { devicesReads, devicesWrites } from "./devices.ts";
import { extensionsReads, extensionsWrites } from "./extensions.ts";
import { idempotencyReads, idempotencyWrites } from "./idempotency.ts";
import { inboxReads, inboxWrites } from "./inbox.ts";
import { leasesReads, leasesWrites } from "./leases.ts";
import { metaReads, metaWrites } from "./meta.ts";
import { outboxReads, outboxWrites } from "./outbox.ts";
import { redactionReads, redactionWrites } from "./redaction.ts";
import { sessionsReads, sessionsWrites } from "./sessions.ts";
import { subagentsReads, subagentsWrites } from "./subagents.ts";
import { transcriptsReads, transcriptsWrites } from "./transcripts.ts";
import { trashReads, trashWrites } from "./trash.ts";
import { journalReads, journalWrites, turnsReads, turnsWrites } from "./turns.ts";
import { usageReads, usageWrites } from "./usage.ts";

export const WRITES: WriteHandlers<Writes> = {
  ...inboxWrites,
  ...turnsWrites,
  ...journalWrites,
  ...outboxWrites,
  ...sessionsWrites,
  ...transcriptsWrites,
  ...leasesWrites,
  ...idempotencyWrites,
  ...approvalsWrites,
  ...commandsWrites,
  ...subagentsWrites,
  ...cronWrites,
  ...devicesWrites,
  ...extensionsWrites,
  ...usageWrites,
  ...redactionWrites,
  ...trashWrites,
  ...metaWrites,
};

export const READS: ReadHandlers<Reads> = {
  ...inboxReads,
  ...turnsReads,
  ...journalReads,
  ...outboxReads,
  ...sessionsReads,
  ...transcriptsReads,
  ...leasesReads,
  ...idempotencyReads,
  ...approvalsReads,
  ...commandsReads,
  ...subagentsReads,
  ...cronReads,
  ...devicesReads,
  ...extensionsReads,
  ...usageReads,
  ...redactionReads,
  ...trashReads,
  ...metaReads,
};
