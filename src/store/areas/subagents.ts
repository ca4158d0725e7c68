import type { NoInput } from "./input.ts";

/** How a child ended. `killed`: someone stopped it, and nobody waits for its result. */
export type SubagentOutcome = "ok" | "error" | "timeout" | "killed";

/** Limits that a new child must be inside of. They hold for any number of spawns at once: they are checked in the commit that adds the child. */
export interface SpawnLimits {
  /** Children of one session that have not ended. */
  readonly children: number;
  /** Children of all sessions that have not ended. */
  readonly total: number;
  /** So many children of one session that failed in a row stop further ones, until the last failure is so long ago (ms). */
  readonly failures: number;
  readonly pauseMs: number;
  /** Children that reports of other children led to, without a person in between: how long such a chain may be, and how many of one chain there may be. */
  readonly chain?: { readonly root: string; readonly generation: number; readonly maxGenerations: number; readonly maxChildren: number } | undefined;
}

/** A budget in its current period: what of the usage counts for it, from `since` until before `before`. */
export interface BudgetScope {
  readonly since: number;
  readonly before: number;
  readonly agentId?: string | undefined;
  readonly sender?: string | undefined;
  readonly provider?: string | undefined;
}

/** US dollars and tokens. */
export interface BudgetAmounts {
  readonly usd?: number | undefined;
  readonly tokens?: number | undefined;
}

/** A budget that a new child gets a part of. */
export interface SpawnBudget extends BudgetScope {
  /** For people: `per day`. */
  readonly name: string;
  readonly limit: BudgetAmounts;
}

/** What is reserved of a budget for one child. */
export interface BudgetShare extends BudgetScope, BudgetAmounts {}

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
  /**
   * Adds a child inside the limits. `OVERLOADED` when one is reached: `details.limit` is `children`, `total`, `failures`, `chain`, `budget`, or `killed` when the
   * session that starts it was itself stopped. A refusal refuses the whole commit, with the run in it.
   *
   * Of each budget the child gets a share of what is free, so large that the session can still start all the children it may have and goes on itself. A child
   * that starts children shares its own. What a child does not use is free again when it ends.
   */
  "subagents.spawn": {
    input: {
      readonly runId: string;
      readonly childSessionKey: string;
      readonly requesterSessionKey: string;
      readonly data: unknown;
      readonly limits: SpawnLimits;
      readonly budgets?: readonly SpawnBudget[] | undefined;
    };
    result: void;
  };
  /**
   * Records how a child ended, once: whatever comes later, or for a run that is no child, changes nothing. Its session may be archived `archiveMs` later.
   * When it began is what its turn says, where `startedAt` is not passed.
   */
  "subagents.end": {
    input: {
      readonly runId: string;
      readonly outcome: SubagentOutcome;
      readonly error?: string | undefined;
      readonly startedAt?: number | undefined;
      readonly archiveMs?: number | undefined;
      /** Not while a command of its session waits for approval, or runs after one: the child goes on then. */
      readonly unlessWaiting?: boolean | undefined;
      /** Also one that has ended and was not announced: it waited for its own children when it was stopped. */
      readonly orUnannounced?: boolean | undefined;
    };
    result: { readonly ended: boolean };
  };
  /** The requester was notified of these. `CONFLICT` when one was announced before or was stopped, which refuses the whole commit. */
  "subagents.announced": { input: { readonly runIds: readonly string[] }; result: void };
  /** A child that has not ended goes on under another run. `CONFLICT` when it has ended. */
  "subagents.replace": { input: { readonly runId: string; readonly by: string; readonly data: unknown }; result: void };
  /** `CONFLICT` when the run has ended and the patch has another state or outcome. */
  "subagents.patch": { input: { readonly runId: string; readonly patch: SubagentPatch }; result: SubagentRow };
  "subagents.delete": { input: { readonly runId: string }; result: { readonly deleted: boolean } };
}

export interface SubagentsReads {
  /** What a start has to know: children that have not ended or were not announced, and when the next session is to be archived. */
  "subagents.pending": { input: NoInput; result: { readonly open: number; readonly archiveAt: number | null } };
  /** How much of a budget is reserved for children that run and not used by them yet. Those of `exceptFor`, a session, do not count. */
  "subagents.reserved": {
    input: BudgetScope & { readonly exceptFor?: string | undefined };
    result: { readonly usd: number; readonly tokens: number };
  };
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
      /** Those that ended before this time are left out. */
      readonly endedSince?: number | undefined;
      /** Only so many: those that have not ended, then the newest. */
      readonly limit?: number | undefined;
    };
    result: readonly SubagentRow[];
  };
}
