import type { NoInput } from "./input.ts";
import type { Outcome } from "./outcome.ts";

/** One input as it arrived. Unique by channel, account, conversation and message id; clients without message ids give their idempotency key. */
export interface InboxInput {
  readonly channel: string;
  readonly account: string;
  readonly conversation: string;
  readonly messageId: string;
  /** What kind of input it is: `message`, `cron`, `heartbeat`, `webhook`, `subagent`, … */
  readonly kind: string;
  readonly text: string;
  /** Everything else the path needs, as JSON. */
  readonly payload?: unknown;
  readonly sender?: string | undefined;
  /** May be unknown until routing; see `inbox.assign`. */
  readonly sessionKey?: string | undefined;
  readonly agentId?: string | undefined;
  /** It ends as it arrives: refused, or not meant for us. */
  readonly settled?: { readonly outcome: Outcome; readonly why: string } | undefined;
}

export type InboxState = "pending" | "claimed" | "settled";

export interface InboxRow {
  /** Given by the store, in order of arrival, never twice. */
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
  /** The row that stands for this message: a new one, or the one of its first arrival. */
  readonly id: number;
  readonly duplicate: boolean;
  readonly state: InboxState;
  readonly outcome: Outcome | null;
}

/** An input that its session's transcript does not hold yet. */
export interface UnsaidRow extends Pick<InboxRow, "id" | "channel" | "messageId" | "kind" | "text" | "sender" | "turnId" | "receivedAt"> {
  /** How the sender is called, where the channel tells. */
  readonly senderName: string | null;
  /** What a client of the gateway named as its channel. */
  readonly via: string | null;
  /** Pictures and files that came with it. */
  readonly files: number;
}

/** An input that went wrong, without what it said. */
export interface FailedInput extends Pick<InboxRow, "id" | "channel" | "sessionKey" | "turnId" | "why"> {
  readonly at: number;
}

/** Inputs of one session that wait. */
export interface InboxQueue {
  readonly sessionKey: string;
  readonly waiting: number;
  /** When the first of them came. */
  readonly oldestAt: number;
}

export interface InboxWrites {
  /** Takes an input. A repeated one changes nothing and is answered with the row that is there. */
  "inbox.accept": { input: InboxInput; result: InboxAccepted };
  /** Says which session an unsettled input belongs to. */
  "inbox.assign": { input: { readonly id: number; readonly sessionKey: string; readonly agentId: string }; result: void };
  /** Keeps what was decided about unsettled inputs before their turn, in the payload under `decided`. One that has ended is passed over. */
  "inbox.decide": { input: { readonly inputs: readonly { readonly id: number; readonly decided: unknown }[] }; result: void };
  /** Binds pending inputs to a turn. `CONFLICT` when one is settled or bound to another turn. */
  "inbox.claim": { input: { readonly ids: readonly number[]; readonly turnId: string }; result: void };
  /** Gives claimed inputs back: the turn will not treat them. `CONFLICT` when one is settled. */
  "inbox.release": { input: { readonly ids: readonly number[] }; result: void };
  /** Ends inputs, once and for all. `CONFLICT` when one has ended before, so that the whole commit is refused. */
  "inbox.settle": {
    input: {
      readonly ids: readonly number[];
      readonly outcome: Outcome;
      readonly why?: string | undefined;
      readonly turnId?: string | undefined;
      /** What plugins said about them before they came to a turn: kept in the payload under `hooks`. */
      readonly hooks?: readonly unknown[] | undefined;
    };
    result: void;
  };
  /** Replaces text and drops the payload. Follow it with `store.checkpoint({ truncate: true })` to take the old text out of the log too. */
  "inbox.redact": { input: { readonly id: number; readonly text: string }; result: void };
}

export interface InboxReads {
  "inbox.get": { input: { readonly id: number }; result: InboxRow | undefined };
  /** Every arrival of a platform's message id, newest first: what `why` shows. */
  "inbox.find": {
    input: {
      readonly messageId: string;
      readonly channel?: string | undefined;
      readonly account?: string | undefined;
      readonly conversation?: string | undefined;
    };
    result: readonly InboxRow[];
  };
  /** Inputs without an end, in order of arrival. */
  "inbox.open": {
    input: {
      readonly sessionKey?: string | undefined;
      readonly state?: "pending" | "claimed" | undefined;
      /** Only what arrived at or before this time. */
      readonly until?: number | undefined;
      /** Only what arrived after this row. */
      readonly after?: number | undefined;
      readonly limit?: number | undefined;
    };
    result: readonly InboxRow[];
  };
  /**
   * Inputs of a session without an end, which its transcript does not hold yet: they wait, or their turn has not written its first step. In order of
   * arrival; texts are cut to `chars`.
   */
  "inbox.unsaid": { input: { readonly sessionKey: string; readonly chars: number; readonly limit: number }; result: readonly UnsaidRow[] };
  "inbox.ofTurn": { input: { readonly turnId: string }; result: readonly InboxRow[] };
  /** The latest inputs, newest first. */
  "inbox.recent": { input: { readonly sessionKey?: string | undefined; readonly limit?: number | undefined }; result: readonly InboxRow[] };
  /** Inputs of one chat, newest first: what was said there before. */
  "inbox.ofConversation": {
    input: {
      readonly channel: string;
      readonly account: string;
      readonly conversation: string;
      /** Only what arrived before this row. */
      readonly before?: number | undefined;
      readonly limit?: number | undefined;
    };
    result: readonly InboxRow[];
  };
  /** Sessions in which something waits, the one that waits longest first. */
  "inbox.queues": { input: { readonly limit: number }; result: readonly InboxQueue[] };
  /** Failures among the `among` inputs that ended last, newest first. */
  "inbox.failures": { input: { readonly among: number; readonly limit: number }; result: readonly FailedInput[] };
  "inbox.counts": { input: NoInput; result: { readonly pending: number; readonly claimed: number; readonly oldestAt: number | null } };
}
