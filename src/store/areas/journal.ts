/** Type of a step. A `tool.intent` is committed before its tool runs, the `tool.result` after; both carry the call's id. */
export type StepKind = "model.result" | "tool.intent" | "tool.result" | "reply.block" | "compaction" | "note";

export interface StepRow {
  readonly turnId: string;
  /** 0, 1, 2, … within each turn. */
  readonly step: number;
  readonly kind: StepKind;
  readonly callId: string | null;
  readonly data: unknown;
  readonly at: number;
}

export interface JournalWrites {
  /** Adds the next step of a running turn. `CONFLICT` when the turn has ended, `NOT_FOUND` when it does not exist. */
  "journal.append": {
    input: { readonly turnId: string; readonly kind: StepKind; readonly callId?: string | undefined; readonly data: unknown };
    result: { readonly step: number };
  };
}

export interface JournalReads {
  "journal.steps": { input: { readonly turnId: string; readonly after?: number | undefined; readonly limit?: number | undefined }; result: readonly StepRow[] };
  /** Intents without a result: of one turn, or of every unfinished turn. Nobody knows whether these tools ran. */
  "journal.dangling": { input: { readonly turnId?: string | undefined }; result: readonly StepRow[] };
}
