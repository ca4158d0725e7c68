import { lockingProcesses } from "../lock-holders.ts";
import type { MaintenanceReport } from "../retention.ts";
import type { StoreFailure, StoreHealth, StoreNotice } from "../store.ts";
import type { Requests } from "./requests.ts";

/** The store's status, as the caller's thread knows it. */
export interface StoreStatus {
  phase: "opening" | "open" | "closing" | "closed";
  diskFull: boolean;
  /** The last commit was refused because another process held the database. */
  refusedAsHeld: boolean;
  /** False once the thread has ended. */
  isAlive: boolean;
  failure: StoreFailure | undefined;
  fail(reason: StoreFailure): void;
  readonly onFailure: (listener: (failure: StoreFailure) => void) => Disposable;
  /** Replaces the notices of the kinds that are passed, and always those of transcript files, whose list is always complete. */
  notice(reported: readonly StoreNotice[]): void;
  /** Sets or clears the notice about overdue rows. */
  behind(late: MaintenanceReport["behind"], at: number): void;
  health(requests: Requests): StoreHealth;
}

/** A commit that has waited longer than this waits for another process. */
const LONG_MS = 1000;

export function createStoreStatus(file: string, log: (message: string, details: Readonly<Record<string, unknown>>) => void): StoreStatus {
  const listeners = new Set<(failure: StoreFailure) => void>();
  const notices = new Map<StoreNotice["kind"], readonly StoreNotice[]>();

  const status: StoreStatus = {
    phase: "opening",
    diskFull: false,
    refusedAsHeld: false,
    isAlive: true,
    failure: undefined,
    fail(reason) {
      if (status.failure) return;
      status.failure = reason;
      log("the store has failed", { ...reason });
      for (const listener of listeners) listener(reason);
    },
    onFailure(listener) {
      if (status.failure) listener(status.failure);
      else listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
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
      const message = `deleting old rows is behind: the oldest of ${late?.table} should have been deleted ${days} ${days === 1 ? "day" : "days"} ago; it continues in the background`;
      notices.set("retention", late ? [{ kind: "retention", message, at, details: { ...late } }] : []);
    },
    health(requests) {
      const { failure } = status;
      const open = status.phase === "open" || status.phase === "opening";
      const waitingMs = requests.oldest();
      const by = status.refusedAsHeld || waitingMs > LONG_MS ? lockingProcesses(file) : [];
      // Where the system does not say who holds the lock, the last refusal is all that is known.
      const held = by ? by.length > 0 : status.refusedAsHeld;
      return {
        state: failure ? "failed" : open ? "open" : "closed",
        ...(failure ? { failure } : {}),
        diskFull: status.diskFull,
        waiting: requests.waiting.commits,
        waitingBytes: requests.waiting.bytes,
        waitingMs,
        ...(held ? { held: { file, by: by ?? [] } } : {}),
        notices: [...notices.values()].flat(),
      };
    },
  };
  return status;
}
