import type { ErrorCode } from "../base/errors.ts";
import type { ReadInput, ReadKind, ReadResult, Results, Write, WriteInput, WriteKind, WriteResult } from "./areas/index.ts";
import type { ChangeCounts } from "./change-counts.ts";
import type { LockingProcess } from "./lock-holders.ts";
import type { MaintenanceReport, RetentionPolicy } from "./retention.ts";

/** Proof that the writer still holds a lease. */
export interface Fence {
  readonly lease: string;
  readonly token: number;
}

export interface CommitOptions {
  /** The commit is refused with `FENCED` unless this is the lease's current token. */
  readonly fence?: Fence | undefined;
  /**
   * Acknowledged before it is synced: it outlives the process at once, and the machine with the next commit that is not lazy. For what would
   * simply be done again.
   */
  readonly lazy?: boolean | undefined;
  /** It may wait for the next request, a commit or a read, and go with it; after some milliseconds it goes alone. For what nobody waits for. */
  readonly patient?: boolean | undefined;
}

/** Why no write is acknowledged any more. */
export interface StoreFailure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly at: number;
}

export interface StoreHealth {
  /** `failed` never becomes `open` again: the process has to be started anew. */
  readonly state: "open" | "failed" | "closed";
  readonly failure?: StoreFailure;
  /** The last commit was refused for want of space; set until one succeeds. */
  readonly diskFull: boolean;
  /** Commits that wait for their fsync, and roughly their bytes. */
  readonly waiting: number;
  readonly waitingBytes: number;
  /** How long the oldest of them has waited, in milliseconds. */
  readonly waitingMs: number;
  /** Another process holds the database for writing: commits wait for it some seconds, and are refused then. */
  readonly held?: { readonly file: string; readonly by: readonly LockingProcess[] };
  /** Things a person should know: a salvaged database, transcript files that could not be written. */
  readonly notices: readonly StoreNotice[];
}

export interface StoreNotice {
  readonly kind: "salvaged" | "import" | "projection" | "retention";
  readonly message: string;
  readonly at: number;
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface MaintainOptions {
  /** Ends after about this time, done or not. Default 1000 ms. */
  readonly budgetMs?: number | undefined;
  readonly policy?: Partial<RetentionPolicy> | undefined;
}

/**
 * Durable state. A promise of `commit` or `write` resolves after the fsync, never before. Writes of one commit happen together or not at
 * all, in their order; commits happen in the order of their calls. What was acknowledged is seen by every later read.
 */
export interface Store extends AsyncDisposable {
  commit<const T extends readonly Write[]>(writes: T, options?: CommitOptions): Promise<Results<T>>;
  /** A commit of one write. */
  write<K extends WriteKind>(kind: K, input: WriteInput<K>, options?: CommitOptions): Promise<WriteResult<K>>;
  read<K extends ReadKind>(kind: K, input: ReadInput<K>): Promise<ReadResult<K>>;
  /** Only there while all that is written goes through this object. */
  changeCounts?(sessionKey: string, file: string): ChangeCounts;
  health(): StoreHealth;
  /** Told once when the store fails; at once when it already has. */
  onFailure(listener: (failure: StoreFailure) => void): Disposable;
  /** Called when sessions were changed by what another program wrote to `sessions.json`: what is held of them in memory may be out of date. */
  onTakenIn?(listener: () => void): Disposable;
  /** Moves the log into the database. With `truncate` nothing that was overwritten is left in the log: `LOCKED` when a reader stands in the way. */
  checkpoint(options?: { readonly truncate?: boolean | undefined }): Promise<void>;
  /** Deletes what is past its time and gives space back, between commits. */
  maintain(options?: MaintainOptions): Promise<MaintenanceReport>;
  /** Resolves when what was found in files at the first start has been taken over. */
  imported(): Promise<void>;
  /** Waits for what was accepted, then closes. Later calls are refused with `UNAVAILABLE`. */
  [Symbol.asyncDispose](): Promise<void>;
}
