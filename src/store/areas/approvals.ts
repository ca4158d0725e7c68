import type { NoInput } from "./input.ts";

/** Outcome of a command that needed approval. */
export interface CommandOutcome {
  /** `running` is written before it starts. If a later process finds it, it becomes `lost`: nobody knows what the command did. */
  readonly state: "running" | "ended" | "denied" | "lost";
  /** Its name in the `process` tool. */
  readonly session?: string;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly exitCode?: number | null;
  readonly signal?: string | null;
  readonly timedOut?: boolean;
  /** Why it did not run. */
  readonly why?: string;
  /** The end of its output. */
  readonly output?: string;
  /** Its session was notified, or no longer exists. */
  readonly reported?: boolean;
}

export interface ApprovalRow {
  readonly id: string;
  /** `exec`, `plugin`, … */
  readonly kind: string;
  readonly sessionKey: string | null;
  readonly agentId: string | null;
  readonly turnId: string | null;
  readonly request: unknown;
  readonly state: "pending" | "decided" | "expired" | "cancelled";
  readonly decision: string | null;
  readonly decidedBy: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly decidedAt: number | null;
  /** For commands of the agent only. */
  readonly outcome: CommandOutcome | null;
}

export interface ApprovalsWrites {
  "approvals.request": {
    input: {
      readonly id: string;
      readonly kind: string;
      readonly request: unknown;
      readonly expiresAt: number;
      readonly sessionKey?: string | undefined;
      readonly agentId?: string | undefined;
      readonly turnId?: string | undefined;
    };
    result: void;
  };
  /** The first decision counts; later ones, and those after the expiry, are `CONFLICT`. */
  "approvals.decide": { input: { readonly id: string; readonly decision: string; readonly by?: string | undefined }; result: ApprovalRow };
  /** Expires requests that nobody decided in time. Returns the ids. */
  "approvals.expire": { input: NoInput; result: readonly string[] };
  /** Records the outcome of the command, replacing an earlier one. `NOT_FOUND` without a request. */
  "approvals.outcome": { input: { readonly id: string; readonly sessionKey: string; readonly outcome: CommandOutcome }; result: void };
  /** Cancels the open requests of a turn. Returns the ids. */
  "approvals.cancel": { input: { readonly turnId: string }; result: readonly string[] };
}

export interface ApprovalsReads {
  "approvals.get": { input: { readonly id: string }; result: ApprovalRow | undefined };
  "approvals.pending": { input: { readonly kind?: string | undefined; readonly turnId?: string | undefined }; result: readonly ApprovalRow[] };
  /** The rows that exist for these ids. */
  "approvals.some": { input: { readonly ids: readonly string[] }; result: readonly ApprovalRow[] };
  /** Requests that are over, the newest end first; `before` is the time of an end, exclusive. */
  "approvals.history": { input: { readonly limit: number; readonly before?: number | undefined }; result: readonly ApprovalRow[] };
  /** Requests of a kind created in a time span whose session was not notified of the outcome, oldest first; of all sessions, or of one. */
  "approvals.unreported": {
    input: { readonly kind: string; readonly since: number; readonly before: number; readonly sessionKey?: string | undefined };
    result: readonly ApprovalRow[];
  };
}

/** A command that the user allowed permanently. */
export interface AllowedCommand {
  readonly id: string;
  readonly agentId: string;
  /** Path of the program. */
  readonly program: string;
  /** Which calls of the program are allowed; the tools define its format. */
  readonly rule: unknown;
  /** The command line that was approved. */
  readonly command: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

export interface CommandsWrites {
  /** The same rule for the same agent is stored once. */
  "commands.allow": {
    input: { readonly id: string; readonly agentId: string; readonly program: string; readonly rule: unknown; readonly command: string };
    result: void;
  };
  "commands.used": { input: { readonly ids: readonly string[] }; result: void };
  /** False when it did not exist. */
  "commands.remove": { input: { readonly id: string }; result: boolean };
}

export interface CommandsReads {
  /** Of one agent or of all, oldest first. */
  "commands.list": { input: { readonly agentId?: string | undefined }; result: readonly AllowedCommand[] };
}
