import type { KeyStore } from "openclaw/client";
import { answered, inDatabase } from "../base/database.ts";

type Pair = NonNullable<Awaited<ReturnType<KeyStore["load"]>>>;

const DATABASE = "openclaw";
const TABLE = "identity";

const inTable = <T>(mode: IDBTransactionMode, use: (table: IDBObjectStore) => IDBRequest<T>): Promise<T> =>
  inDatabase(DATABASE, [TABLE], (database) => answered(use(database.transaction(TABLE, mode).objectStore(TABLE))));

/** The browser's key pair in IndexedDB, which keeps keys that nobody can read out. */
export const browserKeys: KeyStore = {
  load: async () => ((await inTable("readonly", (table) => table.get("pair"))) as Pair | undefined) ?? undefined,
  save: async (pair) => void (await inTable("readwrite", (table) => table.put(pair, "pair"))),
};
