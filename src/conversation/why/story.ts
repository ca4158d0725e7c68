import type { Redactor } from "../../base/redaction.ts";
import type { Outcome, ReadInput, ReadKind, ReadResult } from "../../store/index.ts";

/** What a step of a story is. */
export type StoryStepKind =
  | "received"
  | "gate"
  | "route"
  | "hook"
  | "queue"
  | "merged"
  | "start"
  | "resumed"
  | "model"
  | "attempt"
  | "tool"
  | "approval"
  | "compaction"
  | "block"
  | "end"
  | "delivery";

export interface StoryStep {
  /** When it began. */
  readonly at: number;
  /** How long it took, where that is known. */
  readonly ms?: number;
  readonly kind: StoryStepKind;
  /** One line for people. */
  readonly text: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Where a step is drawn. */
export type StoryLane = "arrival" | "queue" | "plugins" | "turn" | "model" | "tools" | "delivery";

/** A step in its story. */
export interface PlacedStep extends StoryStep {
  readonly lane: StoryLane;
  /** The step that it is a part of: its place among the steps. */
  readonly parent?: number;
}

/** How it stands, in one line. */
export interface Verdict {
  readonly outcome: Outcome | "waiting" | "running" | "delivery";
  /** `bad`: someone should look at it. */
  readonly level: "ok" | "wait" | "bad";
  readonly text: string;
  /** What to do about it. */
  readonly todo?: string;
}

/** What started a run that nobody wrote a message for. */
export interface RunStart {
  readonly kind: "job" | "hook" | "heartbeat" | "webhook" | "subagent" | "report" | "session" | "command";
  /** Of the job, hook, agent, webhook or sub-agent. */
  readonly name?: string;
  readonly id?: string;
  /** The session that started it, or that it is the result of. */
  readonly sessionKey?: string;
  /** One line for people. */
  readonly text: string;
}

/** Which message, turn or delivery a story is about. */
export interface StoryAbout {
  readonly inboxId?: number;
  readonly outboxId?: number;
  readonly turnId?: string;
  readonly messageId?: string;
  readonly channel?: string;
  readonly account?: string;
  readonly conversation?: string;
  readonly sender?: string;
  readonly sessionKey?: string;
  readonly agentId?: string;
  /** How the message begins, in one line. */
  readonly asked?: string;
  readonly start?: RunStart;
}

/** From receipt to outcome. */
export interface Story {
  readonly about: StoryAbout;
  readonly verdict: Verdict;
  /** In the order in which they began. */
  readonly steps: readonly PlacedStep[];
  /** Other messages that the same words could mean, newest first: ask for `in:<inboxId>`. */
  readonly others: readonly StoryAbout[];
}

/** Reads of the store, from inside of the gateway or beside it. */
export interface StoryStore {
  read<K extends ReadKind>(kind: K, input: ReadInput<K>): ReadResult<K> | Promise<ReadResult<K>>;
}

export interface WhyDeps {
  readonly store: StoryStore;
  readonly now: () => number;
  /** Knows the secrets that are never shown. Without it those that look like one are masked. */
  readonly redactor?: Pick<Redactor, "text" | "value"> | undefined;
  /** Makes the commands in a text run as they are printed. */
  readonly runnable?: ((text: string) => string) | undefined;
}

/** Fields that have a value. */
export function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined | null> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)) as never;
}
