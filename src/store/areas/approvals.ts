import type { NoInput } from "./input.ts";

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
  /** Ends what a turn still waits for. Returns the ids. */
  "approvals.cancel": { input: { readonly turnId: string }; result: readonly string[] };
}

export interface ApprovalsReads {
  "approvals.get": { input: { readonly id: string }; result: ApprovalRow | undefined };
  "approvals.pending": { input: { readonly kind?: string | undefined; readonly turnId?: string | undefined }; result: readonly ApprovalRow[] };
}
