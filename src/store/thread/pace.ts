import type { DatabaseSync } from "node:sqlite";

/** Rows and pages per statement: fewer where one takes long, as on a cold disk, more where it does not. */
const FEWEST = 2;
const QUICK_MS = 0.5;
const SLOW_MS = 1.5;

/** How much one statement of background work does, depending on how long the last one took. */
export interface Pace {
  readonly size: number;
  took(ms: number): void;
}

export function createPace(most: number): Pace {
  let size = FEWEST * 4;
  return {
    get size() {
      return size;
    },
    took(ms) {
      if (ms > SLOW_MS) size = Math.max(FEWEST, Math.floor(size / 2));
      else if (ms < QUICK_MS) size = Math.min(most, size * 2);
    },
  };
}

/** Runs work that need not be synced by itself: if lost in a power cut, it is done again. */
export function unsynced<T>(db: DatabaseSync, work: () => T): T {
  db.exec("PRAGMA synchronous = NORMAL");
  try {
    return work();
  } finally {
    if (db.isTransaction) db.exec("ROLLBACK");
    db.exec("PRAGMA synchronous = FULL");
  }
}
