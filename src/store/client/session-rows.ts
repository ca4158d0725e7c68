import { isRecord } from "../../base/records.ts";
import type { Write } from "../areas/index.ts";
import { patchedEntry, type SessionRow } from "../areas/sessions.ts";

/**
 * The sessions that were read last: a message needs its session several times, and each question to the store's thread takes 0.1 ms. What is held is right
 * by the order of requests: a commit replaces what is known of the sessions that it changes when it is sent, and a read that is sent later sees it. A row
 * is only derived from the one before it when their versions follow each other. What another process wrote is found by a refused `sessions.expect`.
 */
export interface SessionRows {
  get(key: string): Promise<SessionRow | undefined>;
  /** To be called when a commit is sent, with the promise of its results. */
  committing(writes: readonly Write[], results: Promise<readonly unknown[]>): void;
  /** Any session may have changed. */
  clear(): void;
}

const MOST_ROWS = 64;

export function createSessionRows(read: (key: string) => Promise<SessionRow | undefined>): SessionRows {
  const rows = new Map<string, Promise<SessionRow | undefined>>();

  function hold(key: string, row: Promise<SessionRow | undefined>): Promise<SessionRow | undefined> {
    const drop = (): void => {
      if (rows.get(key) === row) rows.delete(key);
    };
    row.then((found) => found ?? drop(), drop);
    rows.delete(key);
    rows.set(key, row);
    for (const oldest of rows.keys()) {
      if (rows.size <= MOST_ROWS) break;
      rows.delete(oldest);
    }
    return row;
  }

  /** Callers share what they get. */
  async function load(key: string): Promise<SessionRow | undefined> {
    const row = await read(key);
    return row && Object.freeze({ ...row, entry: Object.freeze(row.entry) });
  }

  /** The row after one write of a commit; what the store has when the commit was refused, or another writer came in between. */
  async function changed(
    key: string,
    patch: Readonly<Record<string, unknown>>,
    before: Promise<SessionRow | undefined>,
    result: Promise<unknown>,
  ): Promise<SessionRow | undefined> {
    const [row, done] = await Promise.all([before.catch(() => undefined), result.catch(() => undefined)]);
    const version = isRecord(done) ? done["version"] : undefined;
    if (!row || version !== row.version + 1) return load(key);
    return Object.freeze({ ...row, version, entry: Object.freeze(patchedEntry(row.entry, patch)) });
  }

  return {
    get: (key) => rows.get(key) ?? hold(key, load(key)),
    committing(writes, results) {
      for (const [at, [kind, input]] of writes.entries()) {
        if (kind === "sessions.expect") results.catch(() => rows.delete(input.key));
        else if (kind === "sessions.rename") rows.clear();
        else if (kind === "sessions.put" || kind === "sessions.delete") rows.delete(input.key);
        else if (kind === "sessions.merge" || kind === "sessions.patch") {
          const before = rows.get(input.key);
          if (before) {
            const result = results.then((all) => all[at]);
            void hold(input.key, changed(input.key, input.patch, before, result));
          }
        }
      }
    },
    clear: () => rows.clear(),
  };
}
