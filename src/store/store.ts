import type { ErrorCode } from "../base/errors.ts";
import type { ReadInput, ReadKind, ReadResult, Results, Write, WriteInput, WriteKind, WriteResult } from "./areas/index.ts";
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
   * Acknowledged before it is synced: it survives the process at once, and a power cut from the next commit on that is not lazy. For work that would
   * simply be done again.
   */
  readonly lazy?: boolean | undefined;
  /** May wait for the next request, a commit or a read, and go with it; after some milliseconds it goes alone. For commits that nothing waits for. */
  readonly patient?: boolean | undefined;
  /** Who commits, for listeners of `onWrites` that know their own writes. */
  readonly by?: object | undefined;
}

/** Why no write is acknowledged any more. */
export interface StoreFailure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly at: number;
}

export interface StoreHealth {
  /** `failed` never becomes `open` again: the process has to be restarted. */
  readonly state: "open" | "failed" | "closed";
  readonly failure?: StoreFailure;
  /** The last commit was refused for lack of space; set until one succeeds. */
  readonly diskFull: boolean;
  /** Commits that wait for their fsync, and roughly their bytes. */
  readonly waiting: number;
  readonly waitingBytes: number;
  /** How long the oldest of them has waited, in milliseconds. */
  readonly waitingMs: number;
  /** Another process holds the database for writing: commits wait some seconds for it, then they are refused. */
  readonly held?: { readonly file: string; readonly by: readonly LockingProcess[] };
  /** Things an operator should know: a salvaged database, transcript files that could not be written. */
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
 * all, in their order; commits happen in the order of their calls. Every later read sees what was acknowledged.
 */
export interface Store extends AsyncDisposable {
  commit<const T extends readonly Write[]>(writes: T, options?: CommitOptions): Promise<Results<T>>;
  /** A commit of one write. */
  write<K extends WriteKind>(kind: K, input: WriteInput<K>, options?: CommitOptions): Promise<WriteResult<K>>;
  read<K extends ReadKind>(kind: K, input: ReadInput<K>): Promise<ReadResult<K>>;
  /** Called with the writes of each commit when it is sent, before it is done; without writes when any session may have changed. */
  onWrites(listener: (writes: readonly Write[] | undefined, by: object | undefined) => void): Disposable;
  /** Called with the writes of each commit once they are on disk, before the commit resolves. It must not throw, and it must be quick. */
  onCommit(listener: (writes: readonly Write[]) => void): Disposable;
  health(): StoreHealth;
  /** Called once when the store fails; immediately when it already has. */
  onFailure(listener: (failure: StoreFailure) => void): Disposable;
  /** Moves the log into the database. With `truncate` no overwritten data is left in the log: `LOCKED` when a reader prevents it. */
  checkpoint(options?: { readonly truncate?: boolean | undefined }): Promise<void>;
  /** Deletes overdue rows and returns free space, between commits. */
  maintain(options?: MaintainOptions): Promise<MaintenanceReport>;
  /** Resolves when the files found at the first start have been imported. */
  imported(): Promise<void>;
  /** Waits for accepted requests, then closes. Later calls are refused with `UNAVAILABLE`. */
  [Symbol.asyncDispose](): Promise<void>;
}
