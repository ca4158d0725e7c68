/** What is to be forgotten: a text, some lines of a note, or one entry of a transcript. */
export type ForgetTarget =
  | { readonly text: string }
  | { readonly path: string; readonly startLine: number; readonly endLine: number }
  | { readonly sessionId: string; readonly entryId: string };

export interface ForgetRequest {
  readonly target: ForgetTarget;
  /** Nothing is changed. */
  readonly preview?: boolean | undefined;
  /** Of the preview: `CONFLICT` when something else would be removed by now. */
  readonly plan?: string | undefined;
  /** Only these of the listed ones, by their numbers. */
  readonly only?: readonly number[] | undefined;
}

/**
 * How an answer begins that shows what would be removed, for texts that were found as they are and by their words. Such an answer stands in its
 * conversation and repeats what is to go: it is no finding of its own, and goes with whatever is removed.
 */
export const PREVIEW_HEADS = { phrase: "This would be permanently removed:", words: "No exact match. These contain all of its words:" } as const;

/** One line of a note or one message. */
export interface ForgottenItem {
  readonly n: number;
  readonly kind: "note" | "message";
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
  /** The line, or an excerpt of the message around the text. */
  readonly text: string;
  /** Why it stays although it was found: its file is not changed. */
  readonly kept?: string;
  readonly at?: string;
  readonly role?: string;
  readonly sessionId?: string;
  readonly sessionKey?: string;
  readonly entryId?: string;
}

export interface ForgetReport {
  /** False for a preview. */
  readonly removed: boolean;
  readonly plan: string;
  readonly match: "phrase" | "words" | "lines" | "entry";
  readonly items: readonly ForgottenItem[];
  /** Other records that repeat it: results of tools, summaries, deliveries, the queue. */
  readonly copies: number;
  readonly truncated: boolean;
  /** Where it may still be. */
  readonly unreachable: readonly string[];
}

/** Removes what its owner wants gone, from everything that the gateway keeps. */
export interface Forgetting {
  forget(agentId: string, request: ForgetRequest): Promise<ForgetReport>;
}
