import type { NoInput } from "./input.ts";
import type { Outcome } from "./outcome.ts";

/** One input as it arrived. Unique by channel, account, conversation and message id; clients without message ids pass their idempotency key. */
export interface InboxInput {
  readonly channel: string;
  readonly account: string;
  readonly conversation: string;
  readonly messageId: string;
  /** What kind of input it is: `message`, `cron`, `heartbeat`, `webhook`, `subagent`, … */
  readonly kind: string;
  readonly text: string;
  /** Everything else that processing needs, as JSON. */
  readonly payload?: unknown;
  readonly sender?: string | undefined;
  /** May be unknown until routing; see `inbox.assign`. */
  readonly sessionKey?: string | undefined;
  readonly agentId?: string | undefined;
  /** The input is settled on arrival: refused, or not addressed to an agent. */
  readonly settled?: { readonly outcome: Outcome; readonly why: string } | undefined;
}

export type InboxState = "pending" | "claimed" | "settled";

export interface InboxRow {
  /** Assigned by the store, in order of arrival, never reused. */
  readonly id: number;
  readonly channel: string;
  readonly account: string;
  readonly conversation: string;
  readonly messageId: string;
  readonly kind: string;
  readonly text: string;
  readonly payload: unknown;
  readonly sender: string | null;
  readonly sessionKey: string | null;
  readonly agentId: string | null;
  readonly state: InboxState;
  readonly outcome: Outcome | null;
  readonly why: string | null;
  readonly turnId: string | null;
  readonly receivedAt: number;
  readonly claimedAt: number | null;
  readonly settledAt: number | null;
}

export interface InboxAccepted {
  /** The row of this message: a new one, or the one of its first arrival. */
  readonly id: number;
  readonly duplicate: boolean;
  readonly state: InboxState;
  readonly outcome: Outcome | null;
}

/** An input that is not in its session's transcript yet. */
export interface UntranscribedRow extends Pick<InboxRow, "id" | "channel" | "messageId" | "kind" | "text" | "sender" | "turnId" | "receivedAt"> {
  /** The sender's name, where the channel provides it. */
  readonly senderName: string | null;
  /** The channel that a gateway client named. */
  readonly via: string | null;
  /** Attached pictures and files. */
  readonly files: number;
}

/** A failed input, without its text. */
export interface FailedInput extends Pick<InboxRow, "id" | "channel" | "sessionKey" | "turnId" | "why"> {
  readonly at: number;
}

/** Pending inputs of one session. */
export interface InboxQueue {
  readonly sessionKey: string;
  readonly waiting: number;
  /** Arrival of the first one. */
  readonly oldestAt: number;
}

/** How many messages arrived from a channel in one step of time, and how many of them were answered or failed. Others wait, or were not for an agent. */
export interface InboxArrivals {
  /** Where the step begins. */
  readonly from: number;
  readonly channel: string;
  readonly count: number;
  readonly answered: number;
  readonly failed: number;
}

export interface InboxWrites {
  /** Accepts an input. A duplicate changes nothing and returns the existing row. */
  "inbox.accept": { input: InboxInput; result: InboxAccepted };
  /** Assigns an unsettled input to a session. */
  "inbox.assign": { input: { readonly id: number; readonly sessionKey: string; readonly agentId: string }; result: void };
  /** Stores decisions made before the turn in the payload under `decided`. Settled inputs are skipped. */
  "inbox.decide": { input: { readonly inputs: readonly { readonly id: number; readonly decided: unknown }[] }; result: void };
  /** Binds pending inputs to a turn. `CONFLICT` when one is settled or bound to another turn. */
  "inbox.claim": { input: { readonly ids: readonly number[]; readonly turnId: string }; result: void };
  /** Releases claimed inputs: the turn will not process them. `CONFLICT` when one is settled. */
  "inbox.release": { input: { readonly ids: readonly number[] }; result: void };
  /** Settles inputs for good. `CONFLICT` when one is already settled, which refuses the whole commit. */
  "inbox.settle": {
    input: {
      readonly ids: readonly number[];
      readonly outcome: Outcome;
      readonly why?: string | undefined;
      readonly turnId?: string | undefined;
      /** Stores results of plugin hooks that ran before the turn, in the payload under `hooks`. */
      readonly hooks?: readonly unknown[] | undefined;
    };
    result: void;
  };
  /** Replaces the text and drops the payload. Follow it with `store.checkpoint({ truncate: true })` to remove the old text from the log, too. */
  "inbox.redact": { input: { readonly id: number; readonly text: string }; result: void };
}

export interface InboxReads {
  "inbox.get": { input: { readonly id: number }; result: InboxRow | undefined };
  /** Every arrival of a platform's message id, newest first: shown by `why`. */
  "inbox.find": {
    input: {
      readonly messageId: string;
      readonly channel?: string | undefined;
      readonly account?: string | undefined;
      readonly conversation?: string | undefined;
    };
    result: readonly InboxRow[];
  };
  /** Unsettled inputs, in order of arrival. */
  "inbox.open": {
    input: {
      readonly sessionKey?: string | undefined;
      readonly state?: "pending" | "claimed" | undefined;
      /** Only inputs that arrived at or before this time. */
      readonly until?: number | undefined;
      /** Only inputs that arrived after this row. */
      readonly after?: number | undefined;
      readonly limit?: number | undefined;
    };
    result: readonly InboxRow[];
  };
  /**
   * Unsettled inputs of a session that are not in its transcript yet: they are pending, or their turn has not written its first step. In order of
   * arrival; texts are cut to `chars`.
   */
  "inbox.untranscribed": { input: { readonly sessionKey: string; readonly chars: number; readonly limit: number }; result: readonly UntranscribedRow[] };
  "inbox.ofTurn": { input: { readonly turnId: string }; result: readonly InboxRow[] };
  /** The latest inputs, newest first. */
  "inbox.recent": { input: { readonly sessionKey?: string | undefined; readonly limit?: number | undefined }; result: readonly InboxRow[] };
  /** Inputs of one chat, newest first: its recent history. */
  "inbox.ofConversation": {
    input: {
      readonly channel: string;
      readonly account: string;
      readonly conversation: string;
      /** Only inputs that arrived before this row. */
      readonly before?: number | undefined;
      readonly limit?: number | undefined;
    };
    result: readonly InboxRow[];
  };
  /** Sessions with pending inputs, the longest-waiting first. */
  "inbox.queues": { input: { readonly limit: number }; result: readonly InboxQueue[] };
  /** Failures among the last `among` settled inputs after which no input of the same session was answered, newest first. */
  "inbox.failures": { input: { readonly among: number; readonly limit: number }; result: readonly FailedInput[] };
  /** Messages that arrived at or after `since`, by steps of `stepMs` from there and by channel. Steps without messages are left out. */
  "inbox.arrivals": { input: { readonly since: number; readonly stepMs: number }; result: readonly InboxArrivals[] };
  /** When the last input before this time arrived; null without one. */
  "inbox.lastBefore": { input: { readonly before: number }; result: number | null };
  "inbox.counts": { input: NoInput; result: { readonly pending: number; readonly claimed: number; readonly oldestAt: number | null } };
}
