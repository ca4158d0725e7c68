export type IdempotencyBegun =
  /** The key is new: do the work, then `complete` (or `abandon`). */
  | { readonly status: "new" }
  /** The same request is in progress. */
  | { readonly status: "running"; readonly since: number }
  | { readonly status: "replay"; readonly result: unknown }
  /** The key was used for a different request. */
  | { readonly status: "mismatch" };

export interface IdempotencyWrites {
  /** `ttlMs` is raised to 7 days when shorter. `about` is for a process that finds the key running after a crash. */
  "idempotency.begin": {
    input: {
      readonly scope: string;
      readonly key: string;
      readonly payloadHash: string;
      readonly ttlMs?: number | undefined;
      readonly about?: unknown;
    };
    result: IdempotencyBegun;
  };
  /** `CONFLICT` unless it is running. */
  "idempotency.complete": { input: { readonly scope: string; readonly key: string; readonly result: unknown }; result: void };
  /** Releases a running key: nothing was done under it. */
  "idempotency.abandon": { input: { readonly scope: string; readonly key: string }; result: void };
}

export interface IdempotencyReads {
  /** Keys of a scope that are running, or were when the process died; oldest first. */
  "idempotency.running": { input: { readonly scope: string }; result: readonly { readonly key: string; readonly about: unknown }[] };
  "idempotency.get": {
    input: { readonly scope: string; readonly key: string };
    result:
      | { readonly payloadHash: string; readonly state: "running" | "done"; readonly result: unknown; readonly createdAt: number; readonly expiresAt: number }
      | undefined;
  };
}
