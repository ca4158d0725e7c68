import type { WatchRequest } from "../base/watchdog/watch-main-thread.ts";
import type { ReadKind, Write } from "./areas/index.ts";
import type { RetentionPolicy } from "./retention.ts";
import type { Fence, StoreFailure, StoreNotice } from "./store.ts";
import type { ErrorMessage } from "./sqlite/failure.ts";

/** The first message to a thread. */
export interface OpenRequest {
  readonly type: "open";
  readonly mode: "write" | "read";
  readonly file: string;
  readonly stateDir: string;
  /** The store's clock at the start. */
  readonly now: number;
  /** Session index files are written and imported; `path` is their location, with `{agentId}`, when it is not the documented one. */
  readonly sessionIndex?: { readonly path?: string | undefined } | undefined;
  /** The thread also watches the main one. */
  readonly watch?: WatchRequest | undefined;
}

/** Arrays rather than objects: these cross the thread thousands of times a second. */
export type CommitRequest = readonly [id: number, now: number, writes: readonly Write[], fence: Fence | undefined, lazy: boolean];
export type ReadRequest = readonly [id: number, kind: ReadKind, input: unknown];

export type ControlRequest =
  | { readonly type: "checkpoint"; readonly id: number; readonly truncate: boolean }
  | { readonly type: "maintain"; readonly id: number; readonly now: number; readonly budgetMs: number; readonly policy: RetentionPolicy }
  | { readonly type: "imported"; readonly id: number }
  | { readonly type: "close"; readonly id: number };

export type Request = { readonly type: "batch"; readonly commits: readonly CommitRequest[]; readonly reads: readonly ReadRequest[] } | ControlRequest;

/** The answer to one request: its value, or its error. */
export type Settled = readonly [id: number, ok: true, value: unknown] | readonly [id: number, ok: false, error: ErrorMessage];

export type Reply =
  | { readonly type: "opened" }
  | { readonly type: "refused"; readonly error: ErrorMessage }
  | { readonly type: "settled"; readonly settled: readonly Settled[]; readonly diskFull: boolean; readonly held: boolean }
  | { readonly type: "failed"; readonly failure: StoreFailure }
  | { readonly type: "notices"; readonly notices: readonly StoreNotice[] }
  /** Sessions changed through another program's file. */
  | { readonly type: "takenIn" }
  | { readonly type: "log"; readonly message: string; readonly details: Readonly<Record<string, unknown>> | undefined };
