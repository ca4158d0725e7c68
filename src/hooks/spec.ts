/** The vocabulary of the hook catalog. */

/** `observe`: concurrent, results ignored. `decide`: one after the other, results merged. `sync`: the same, synchronously. */
export type HookMode = "observe" | "decide" | "sync";

export type HookArea = "agent" | "model" | "tools" | "messages" | "sessions" | "subagents" | "lifecycle";

/**
 * How a field of several results is merged: the `first` or `last` handler that sets it, texts `join`ed by a blank line, lists `append`ed, `narrow`ed
 * to
 * their intersection, records `assign`ed key by key over the event's own, flags true when `any` is.
 */
export type FieldMerge = "first" | "last" | "join" | "append" | "narrow" | "assign" | "any";

/** The type of a field; a list of words means one of them. */
export type FieldType = "text" | "flag" | "record" | "list" | "texts" | "approval" | readonly string[];

export interface FieldSpec {
  readonly type: FieldType;
  readonly merge: FieldMerge;
  /** Later handlers see it in their event under this key. */
  readonly rewrites?: string;
  /** Part of a prompt: dropped where the operator does not allow it. */
  readonly prompt?: true;
  /** Counts only in a terminal result. */
  readonly withTerminal?: true;
  /** An invalid value blocks instead of being ignored. */
  readonly wrong?: "block";
  /** Ignored once another plugin has set this field. */
  readonly frozenBy?: string;
  /** Longest value, as JSON. */
  readonly maxChars?: number;
}

/** A field with a value. */
export interface FieldValue {
  readonly field: string;
  readonly value: unknown;
}

/**
 * Copy functions for an event that no other hook shares: each is compiled for the one shape of its hook's events. For events in which
 * only the value under `key` is mutable.
 */
export interface EventCopies {
  readonly key: string;
  readonly copy: (event: Readonly<Record<string, unknown>>, value: object, context: object) => Record<string, unknown>;
}

export interface HookSpec {
  readonly area: HookArea;
  readonly mode: HookMode;
  readonly summary: string;
  /** Default budget of a handler in milliseconds; 0 for synchronous hooks. */
  readonly budgetMs: number;
  /** What a handler that throws means. */
  readonly onThrow: "skip" | "block";
  /** What a handler over its budget means; `operator`: skipped, or blocked with `hooks.failClosed`. */
  readonly onTimeout: "skip" | "block" | "operator";
  /** `conversation`: a plugin that is not bundled needs `hooks.allowConversationAccess`. */
  readonly access: "open" | "conversation";
  readonly fields: Readonly<Record<string, FieldSpec>>;
  /** Any of these ends the dispatch. */
  readonly terminal?: readonly FieldValue[];
  /** One handler's result is used as a whole: the terminal one, else the first with `provisional`. */
  readonly whole?: { readonly provisional?: FieldValue };
  /** A result of an unknown shape blocks. */
  readonly strict?: true;
  /** The result is a record of environment variables. */
  readonly environment?: true;
  /** The result of a block by the host; the text is the reason. */
  readonly blocked?: (reason: string) => Readonly<Record<string, unknown>>;
  /** Errors and reasons are never reported. */
  readonly sensitive?: true;
  /** Keys of the context that are the host's own objects and are passed unchanged. */
  readonly live?: readonly string[];
  /** Keys of a record in the event that handlers neither see nor set. */
  readonly hides?: { readonly in: string; readonly keys: readonly string[] };
  /** Copies its events faster than the generic code. */
  readonly copies?: EventCopies;
  readonly deprecated?: string;
  /** Not in the contract of 38, but known to newer plugins. */
  readonly newer?: true;
}
