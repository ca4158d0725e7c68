const DAY_MS = 86_400_000;

/** Retention times of finished rows, in milliseconds. Deduplication depends on these rows: less than 7 days is raised to 7 days. */
export interface RetentionPolicy {
  readonly inboxMs: number;
  readonly turnsMs: number;
  readonly outboxMs: number;
  readonly idempotencyMs: number;
  readonly approvalsMs: number;
  readonly injectionsMs: number;
  readonly cronSlotsMs: number;
  readonly usageMs: number;
  /** Transcripts unused for this time are stored compressed, and so are their files. Undefined leaves them as they are. */
  readonly compressMs: number | undefined;
  /** Archived transcripts are removed from the database after this time; their files stay. Undefined keeps them. */
  readonly archivedTranscriptsMs: number | undefined;
}

export const DEFAULT_RETENTION: RetentionPolicy = {
  inboxMs: 14 * DAY_MS,
  turnsMs: 14 * DAY_MS,
  outboxMs: 14 * DAY_MS,
  idempotencyMs: 7 * DAY_MS,
  approvalsMs: 30 * DAY_MS,
  injectionsMs: 7 * DAY_MS,
  cronSlotsMs: 90 * DAY_MS,
  usageMs: 400 * DAY_MS,
  compressMs: undefined,
  archivedTranscriptsMs: undefined,
};

/** The shortest time in which a platform may still repeat a message. */
export const SHORTEST_RETENTION_MS: number = 7 * DAY_MS;

export interface MaintenanceReport {
  /** False when the time budget ran out before the work was done. */
  readonly done: boolean;
  /** Rows deleted, by table. */
  readonly deleted: Readonly<Record<string, number>>;
  /** Pages returned to the file system. */
  readonly pagesFreed: number;
  /** Lines of old transcripts that were compressed, and their bytes before and after. */
  readonly compressed?: { readonly lines: number; readonly bytes: number; readonly packedBytes: number };
  /** The table whose oldest row is most overdue, when the work was not done and that is more than a day. */
  readonly behind?: { readonly table: string; readonly lateMs: number };
}

/** The policy with its defaults, raised to the allowed minimum. */
export function resolveRetention(policy: Partial<RetentionPolicy> = {}): RetentionPolicy {
  const raised = Object.entries({ ...DEFAULT_RETENTION, ...policy }).map(([key, ms]) => [
    key,
    ms === undefined ? undefined : Math.max(ms, SHORTEST_RETENTION_MS),
  ]);
  return Object.fromEntries(raised) as RetentionPolicy;
}
