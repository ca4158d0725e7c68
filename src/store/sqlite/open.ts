import { existsSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

const READER_CACHE_KIB = 2000;
/** How long to wait for another process's lock. */
export const BUSY_MS = 5000;

/** A marker file beside the database: damage was found while it was open, so the next start must not trust it. */
export function suspectFile(file: string): string {
  return `${file}.suspect`;
}

/** Whether damage was found before. */
export function isSuspect(file: string): boolean {
  return existsSync(suspectFile(file));
}

/** Records for the next start that the database is damaged, since opening alone would not notice. */
export function markSuspect(file: string, reason: string): void {
  try {
    writeFileSync(suspectFile(file), `${reason}\n`, { mode: 0o600 });
  } catch {
    // The failed disk may not take the marker either; the caller reports the failure itself.
  }
}

/** A second connection that only reads. */
export function openReader(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { readOnly: true, timeout: BUSY_MS });
  db.exec(`PRAGMA cache_size = -${READER_CACHE_KIB}`);
  return db;
}

/** A reader that keeps the log from being removed until it is disposed of. */
export function openWitness(file: string): Disposable {
  const db = openReader(file);
  db.exec("BEGIN; SELECT count(*) FROM meta");
  return { [Symbol.dispose]: () => db.close() };
}
