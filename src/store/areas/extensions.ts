import type { NoInput } from "./input.ts";

/** Small JSON state of a plugin in a session. */
export interface ExtensionRow {
  readonly sessionKey: string;
  readonly pluginId: string;
  readonly namespace: string;
  readonly value: unknown;
  readonly updatedAt: number;
}

/** Text that a plugin adds once to the next model turn of a session. */
export interface InjectionRow {
  readonly id: string;
  readonly sessionKey: string;
  readonly pluginId: string;
  readonly placement: string;
  readonly text: string;
  readonly payload: unknown;
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

export interface ExtensionsWrites {
  /** Null removes the value. */
  "extensions.set": { input: { readonly sessionKey: string; readonly pluginId: string; readonly namespace: string; readonly value: unknown }; result: void };
  /**
   * Removes state and pending injections: of a session (reset, delete), of a plugin (disable), or of one plugin in one session. `keepUnheard`: those with
   * `payload.untilHeard` stay.
   */
  "extensions.clear": {
    input: { readonly sessionKey?: string | undefined; readonly pluginId?: string | undefined; readonly keepUnheard?: true } & (
      | { readonly sessionKey: string }
      | { readonly pluginId: string }
    );
    result: { readonly values: number; readonly injections: number };
  };
  /** Deduplicated by plugin, session and `idempotencyKey`. */
  "injections.add": {
    input: {
      readonly id: string;
      readonly sessionKey: string;
      readonly pluginId: string;
      readonly placement: string;
      readonly text: string;
      readonly payload?: unknown;
      readonly idempotencyKey?: string | undefined;
      readonly expiresAt?: number | undefined;
      /**
       * Of more texts than this, of the same plugin and placement, the oldest go, except those with a payload that says more than `untilHeard`; one that equals
       * the last is a duplicate.
       */
      readonly most?: number | undefined;
      /** `OVERLOADED` when so many wait, of the same plugin and placement. */
      readonly limit?: number | undefined;
    };
    result: { readonly id: string; readonly duplicate: boolean };
  };
  /**
   * Claims all pending injections of a session for a turn, oldest first; expired ones are dropped. `waking`: only those that ask for a heartbeat.
   * `again`: the turn is resumed and gets the same ones again. What came in between is for the next: this one's prompt may be on disk already. `unheard`: nobody
   * hears the answer, so those with `payload.untilHeard` wait for another turn.
   */
  "injections.drain": {
    input: { readonly sessionKey: string; readonly turnId: string; readonly waking?: boolean; readonly again?: boolean; readonly unheard?: boolean };
    result: readonly InjectionRow[];
  };
  /** The answer of a turn reached nobody: what it had of `payload.untilHeard` waits again. */
  "injections.release": { input: { readonly sessionKey: string; readonly turnId: string }; result: void };
}

export interface ExtensionsReads {
  "extensions.get": {
    input: { readonly sessionKey: string; readonly pluginId?: string | undefined; readonly namespace?: string | undefined };
    result: readonly ExtensionRow[];
  };
  /** Sessions with lines that are to be acted on at once, and what those are about: `payload.wake`, with `payload.now`. */
  "injections.waking": { input: NoInput; result: readonly { readonly sessionKey: string; readonly source: string }[] };
  "injections.waiting": { input: { readonly sessionKey: string; readonly now: number }; result: readonly InjectionRow[] };
}
