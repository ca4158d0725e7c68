import type { NoInput } from "./input.ts";

/** What became of a command that somebody was asked about. */
export interface CommandFate {
  /** `running` is written before it starts: one that was found so by a later process is `lost`, what it did is not known. */
  readonly state: "running" | "ended" | "denied" | "lost";
  /** The name under which the `process` tool knows it. */
  readonly session?: string;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly exitCode?: number | null;
  readonly signal?: string | null;
  readonly timedOut?: boolean;
  /** Why it did not run. */
  readonly why?: string;
  /** The end of what it wrote. */
  readonly output?: string;
  /** Its session was told, or nobody is left to be. */
  readonly told?: boolean;
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
  /** Of commands of the agent only. */
  readonly fate: CommandFate | null;
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
  /** Ends what nobody decided in time. Returns the ids. */
  "approvals.expire": { input: NoInput; result: readonly string[] };
  /** Says what became of the command, in place of what was said before. `NOT_FOUND` when nobody asked about it. */
  "approvals.fate": { input: { readonly id: string; readonly sessionKey: string; readonly fate: CommandFate }; result: void };
  /** Ends what a turn still waits for. Returns the ids. */
  "approvals.cancel": { input: { readonly turnId: string }; result: readonly string[] };
}

export interface ApprovalsReads {
  "approvals.get": { input: { readonly id: string }; result: ApprovalRow | undefined };
  "approvals.pending": { input: { readonly kind?: string | undefined; readonly turnId?: string | undefined }; result: readonly ApprovalRow[] };
  /** Those of the ids that there are. */
  "approvals.some": { input: { readonly ids: readonly string[] }; result: readonly ApprovalRow[] };
  /** Of a kind and asked in a span of time: those whose session was not told how they ended, the oldest first. */
  "approvals.untold": { input: { readonly kind: string; readonly since: number; readonly before: number }; result: readonly ApprovalRow[] };
}
