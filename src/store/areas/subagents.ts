export interface SubagentRow {
  readonly runId: string;
  readonly childSessionKey: string;
  readonly requesterSessionKey: string;
  readonly state: "queued" | "running" | "ended";
  readonly outcome: string | null;
  /** The requester was notified of the result. */
  readonly announced: boolean;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** When its session is to be archived. */
  readonly archiveAt: number | null;
  /** Task, label, model, origin, cleanup, … */
  readonly data: unknown;
}

export interface SubagentPatch {
  readonly state?: SubagentRow["state"] | undefined;
  readonly outcome?: string | undefined;
  readonly announced?: boolean | undefined;
  readonly startedAt?: number | undefined;
  readonly endedAt?: number | undefined;
  readonly archiveAt?: number | null | undefined;
  readonly data?: unknown;
}

export interface SubagentsWrites {
  "subagents.add": {
    input: {
      readonly runId: string;
      readonly childSessionKey: string;
      readonly requesterSessionKey: string;
      readonly data: unknown;
      readonly archiveAt?: number | undefined;
    };
    result: void;
  };
  /** `CONFLICT` when the run has ended and the patch has another state or outcome. */
  "subagents.patch": { input: { readonly runId: string; readonly patch: SubagentPatch }; result: SubagentRow };
  "subagents.delete": { input: { readonly runId: string }; result: { readonly deleted: boolean } };
}

export interface SubagentsReads {
  "subagents.get": { input: { readonly runId: string }; result: SubagentRow | undefined };
  /** Oldest first. */
  "subagents.list": {
    input: {
      readonly requesterSessionKey?: string | undefined;
      readonly childSessionKey?: string | undefined;
      readonly unfinished?: boolean | undefined;
      readonly unannounced?: boolean | undefined;
      /** Only those to be archived at or before this time. */
      readonly archiveUntil?: number | undefined;
    };
    result: readonly SubagentRow[];
  };
}
