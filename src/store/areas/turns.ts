import type { Outcome } from "./outcome.ts";

export interface TurnRow {
  readonly id: string;
  readonly sessionKey: string;
  readonly agentId: string;
  readonly state: "running" | "ended";
  readonly outcome: Outcome | null;
  readonly why: string | null;
  /** How often it was resumed after a crash. */
  readonly resumptions: number;
  /** Number of journal steps. */
  readonly steps: number;
  readonly startedAt: number;
  /** Time of the last step, resumption or note. */
  readonly touchedAt: number;
  readonly endedAt: number | null;
  /** The turn's own data: what it needs to continue after a restart. */
  readonly detail: unknown;
}

/** When a turn ran, and for whom. */
export interface TurnSpan extends Pick<TurnRow, "id" | "startedAt" | "endedAt"> {
  /** From the input that it answers. Null when the input was deleted. */
  readonly channel: string | null;
  readonly kind: string | null;
  readonly sender: string | null;
  readonly senderName: string | null;
}

export interface TurnsWrites {
  /** `CONFLICT` when the id is taken. */
  "turns.start": { input: { readonly id: string; readonly sessionKey: string; readonly agentId: string; readonly detail?: unknown }; result: void };
  /** Counts one more resumption and returns the number. `CONFLICT` when the turn has ended. */
  "turns.resume": { input: { readonly id: string }; result: { readonly resumptions: number } };
  /** Replaces the turn's own data. `CONFLICT` when it has ended. */
  "turns.note": { input: { readonly id: string; readonly detail: unknown }; result: void };
  /** `CONFLICT` when it has already ended: a turn ends once. `detail` replaces the turn's own data. */
  "turns.end": { input: { readonly id: string; readonly outcome: Outcome; readonly why?: string | undefined; readonly detail?: unknown }; result: void };
}

export interface TurnsReads {
  "turns.get": { input: { readonly id: string }; result: TurnRow | undefined };
  /** Turns that are running, or were when the process died; oldest first. */
  "turns.unfinished": { input: { readonly limit?: number | undefined }; result: readonly TurnRow[] };
  /** Turns that ran between two times, newest first. */
  "turns.spans": {
    input: { readonly sessionKey: string; readonly from: number; readonly until: number; readonly limit: number };
    result: readonly TurnSpan[];
  };
  /** Newest first. */
  "turns.ofSession": { input: { readonly sessionKey: string; readonly limit?: number | undefined }; result: readonly TurnRow[] };
}

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
