import { AppError } from "../../base/errors.ts";
import { lockingProcesses } from "../lock-holders.ts";
import type { MaintenanceReport } from "../retention.ts";
import type { StoreFailure, StoreHealth, StoreNotice } from "../store.ts";
import type { WaitingRequests } from "./waiting.ts";

/** How the store stands, as the caller's thread knows it. */
export interface Standing {
  phase: "opening" | "open" | "closing" | "closed";
  diskFull: boolean;
  /** The last commit was refused because another process held the database. */
  refusedAsHeld: boolean;
  readonly failure: StoreFailure | undefined;
  fail(reason: StoreFailure): void;
  readonly onFailure: (listener: (failure: StoreFailure) => void) => Disposable;
  /** Sessions were changed by what another program wrote. */
  takenIn(): void;
  readonly onTakenIn: (listener: () => void) => Disposable;
  /** Replaces what was known of the kinds that are told of, and of transcript files, whose list is always told whole. */
  notice(told: readonly StoreNotice[]): void;
  /** What is past its time and still there, or that nothing is. */
  behind(late: MaintenanceReport["behind"], at: number): void;
  /** Why nothing can be asked or written, if so. */
  closed(): AppError | undefined;
  /** Why nothing can be written, if so. */
  unwritable(): AppError | undefined;
  health(waiting: WaitingRequests): StoreHealth;
}

/** A commit that has waited for longer than this waits for somebody. */
const LONG_MS = 1000;

export function createStanding(file: string, log: (message: string, details: Readonly<Record<string, unknown>>) => void): Standing {
  const listeners = new Set<(failure: StoreFailure) => void>();
  const takenIn = new Set<() => void>();
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
    takenIn() {
      for (const listener of takenIn) listener();
    },
    onTakenIn(listener) {
      takenIn.add(listener);
      return { [Symbol.dispose]: () => void takenIn.delete(listener) };
    },
    notice(told) {
      for (const kind of new Set<StoreNotice["kind"]>(["projection", ...told.map((one) => one.kind)])) {
        notices.set(
          kind,
          told.filter((one) => one.kind === kind),
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
      // Where the system does not tell who holds what, the last refusal is all that is known.
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
