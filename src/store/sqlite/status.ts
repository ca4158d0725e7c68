import { AppError } from "../../base/errors.ts";
import { lockingProcesses } from "../lock-holders.ts";
import type { MaintenanceReport } from "../retention.ts";
import type { StoreFailure, StoreHealth, StoreNotice } from "../store.ts";
import type { WaitingRequests } from "./waiting.ts";

/** The store's status, as the caller's thread knows it. */
export interface StoreStatus {
  phase: "opening" | "open" | "closing" | "closed";
  diskFull: boolean;
  /** The last commit was refused because another process held the database. */
  refusedAsHeld: boolean;
  readonly failure: StoreFailure | undefined;
  fail(reason: StoreFailure): void;
  readonly onFailure: (listener: (failure: StoreFailure) => void) => Disposable;
  /** Sessions changed through another program's file. */
  changedExternally(): void;
  readonly onExternalChange: (listener: () => void) => Disposable;
  /** Replaces the notices of the kinds that are passed, and always those of transcript files, whose list is always complete. */
  notice(reported: readonly StoreNotice[]): void;
  /** Sets or clears the notice about overdue rows. */
  behind(late: MaintenanceReport["behind"], at: number): void;
  /** Why nothing can be read or written, if so. */
  closed(): AppError | undefined;
  /** Why nothing can be written, if so. */
  unwritable(): AppError | undefined;
  health(waiting: WaitingRequests): StoreHealth;
}

/** A commit that has waited longer than this waits for another process. */
const LONG_MS = 1000;

export function createStoreStatus(file: string, log: (message: string, details: Readonly<Record<string, unknown>>) => void): StoreStatus {
  const listeners = new Set<(failure: StoreFailure) => void>();
  const changeListeners = new Set<() => void>();
  const notices = new Map<StoreNotice["kind"], readonly StoreNotice[]>();
  let failure: StoreFailure | undefined;

  return {
    phase: "opening",
    diskFull: false,
    refusedAsHeld: false,
    get failure() {
      return failure;
    },
    fail(reason) {
      if (failure) return;
      failure = reason;
      log("the store has failed", { ...reason });
      for (const listener of listeners) listener(reason);
    },
    onFailure(listener) {
      if (failure) listener(failure);
      else listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    changedExternally() {
      for (const listener of changeListeners) listener();
    },
    onExternalChange(listener) {
      changeListeners.add(listener);
      return { [Symbol.dispose]: () => void changeListeners.delete(listener) };
    },
    notice(reported) {
      for (const kind of new Set<StoreNotice["kind"]>(["projection", ...reported.map((one) => one.kind)])) {
        notices.set(
          kind,
          reported.filter((one) => one.kind === kind),
        );
      }
    },
    behind(late, at) {
      const days = Math.floor((late?.lateMs ?? 0) / 86_400_000);
      const message = `deleting old rows is behind: the oldest of ${late?.table} should have gone ${days} ${days === 1 ? "day" : "days"} ago; it goes on in the background`;
      notices.set("retention", late ? [{ kind: "retention", message, at, details: { ...late } }] : []);
    },
    closed() {
      return this.phase === "closing" || this.phase === "closed" ? new AppError("UNAVAILABLE", "the store is closed; nothing was read or written") : undefined;
    },
    unwritable() {
      if (!failure) return this.closed();
      return new AppError("STORE_FAILED", `the store has failed and takes no more writes: ${failure.message}`, { details: { code: failure.code } });
    },
    health(waiting) {
      const open = this.phase === "open" || this.phase === "opening";
      const waitingMs = waiting.oldest();
      const by = this.refusedAsHeld || waitingMs > LONG_MS ? lockingProcesses(file) : [];
      // Where the system does not say who holds the lock, the last refusal is all that is known.
      const held = by ? by.length > 0 : this.refusedAsHeld;
      return {
        state: failure ? "failed" : open ? "open" : "closed",
        ...(failure ? { failure } : {}),
        diskFull: this.diskFull,
        waiting: waiting.commits,
        waitingBytes: waiting.bytes,
        waitingMs,
        ...(held ? { held: { file, by: by ?? [] } } : {}),
        notices: [...notices.values()].flat(),
      };
    },
  };
}
