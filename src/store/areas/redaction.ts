/** Where a look at the records goes on: behind this row of a table. */
export interface RecordsCursor {
  readonly table: number;
  readonly after?: readonly (string | number)[] | undefined;
}

export interface RecordsInput {
  readonly agentId: string;
  readonly texts: readonly string[];
  /** What the call before gave as `next`. */
  readonly from?: RecordsCursor | undefined;
  /** Rows looked at in this call. Default 500: some milliseconds. */
  readonly rows?: number | undefined;
}

export interface RecordsResult {
  readonly records: number;
  /** There are more rows to look at. */
  readonly next?: RecordsCursor;
}

export interface RedactionWrites {
  /**
   * Overwrites every text that contains one of `texts`, in any case and spacing, in the working records of an agent: inbox, turns and their journals,
   * outbox, approvals, sub-agents, plugin data, deleted sessions, remembered answers. Transcripts have `transcripts.redact`. Follow it with
   * `store.checkpoint({ truncate: true })` to remove the old text from the log, too. One call looks at some rows, so that other writes need not wait:
   * call it again with `from: next` until there is no `next`.
   */
  "records.redact": { input: RecordsInput; result: RecordsResult };
}

export interface RedactionReads {
  /** How many records `records.redact` would change among the rows that it would look at. */
  "records.matching": { input: RecordsInput; result: RecordsResult };
}
