import { answered, inDatabase, written } from "./database.ts";

/** Values too large for `keep`: files that were attached and not sent yet. */
export interface Shelf {
  load(key: string): Promise<unknown>;
  /** Stores it in place of the previous value; the oldest values are evicted, unless they are `firm`. False when the browser does not store it. */
  put(key: string, value: unknown, bytes: number, options?: { readonly firm?: boolean }): Promise<boolean>;
  remove(key: string): Promise<void>;
  /** Nothing is kept from now on of what was. */
  clear(): Promise<void>;
}

/** How large something is, and when it was put there. */
export interface Held {
  readonly key: string;
  readonly at: number;
  readonly bytes: number;
  /** It is never evicted: the user relies on it. */
  readonly firm?: boolean | undefined;
}

/** Bytes that the shelf holds altogether. */
export const SHELF_BYTES = 64 * 1024 * 1024;

/** What has to go, oldest first, so that the new one fits; undefined when it never will. Whatever has its name goes anyway. */
export function toDrop(held: readonly Held[], coming: Pick<Held, "key" | "bytes">, limit = SHELF_BYTES): readonly string[] | undefined {
  const others = held.filter(({ key }) => key !== coming.key).toSorted((a, b) => a.at - b.at);
  let total = others.reduce((sum, { bytes }) => sum + bytes, coming.bytes);
  const dropped: string[] = [];
  for (const { key, bytes, firm } of others) {
    if (total <= limit) break;
    if (firm) continue;
    dropped.push(key);
    total -= bytes;
  }
  return total <= limit ? dropped : undefined;
}

const DATABASE = "openclaw-drafts";
/** Sizes stand by themselves, so that nothing large is read to find out what there is. */
const FILES = "files";
const SIZES = "sizes";

type Change = (files: IDBObjectStore, sizes: IDBObjectStore) => void | Promise<void>;

const change = (work: Change): Promise<void> =>
  inDatabase(DATABASE, [FILES, SIZES], async (database) => {
    const transaction = database.transaction([FILES, SIZES], "readwrite");
    const done = written(transaction);
    await Promise.all([work(transaction.objectStore(FILES), transaction.objectStore(SIZES)), done]);
  });

async function place(key: string, value: unknown, { bytes, firm }: Pick<Held, "bytes" | "firm">): Promise<boolean> {
  let kept = false;
  await change(async (files, sizes) => {
    const dropped = toDrop((await answered(sizes.getAll())) as Held[], { key, bytes });
    kept = dropped !== undefined;
    for (const old of dropped ?? [key]) [files, sizes].forEach((table) => table.delete(old));
    if (!kept) return;
    files.put(value, key);
    sizes.put({ key, at: Date.now(), bytes, firm } satisfies Held, key);
  });
  return kept;
}

/** The shelf of this browser. One thing after the other: what is cleared does not come back by something that was on its way. A browser that forbids it keeps nothing. */
export function createShelf(): Shelf {
  let last: Promise<unknown> = Promise.resolve();
  function next<T>(work: () => Promise<T>, otherwise: T): Promise<T> {
    const done = last.then(work).catch(() => otherwise);
    last = done;
    return done;
  }
  const erase = (work: Change): Promise<void> => next(() => change(work), undefined);
  return {
    load: (key) => next(() => inDatabase(DATABASE, [FILES, SIZES], (database) => answered(database.transaction(FILES).objectStore(FILES).get(key))), undefined),
    put: (key, value, bytes, { firm } = {}) => next(() => place(key, value, { bytes, firm }), false),
    remove: (key) => erase((...tables) => tables.forEach((table) => table.delete(key))),
    clear: () => erase((...tables) => tables.forEach((table) => table.clear())),
  };
}
