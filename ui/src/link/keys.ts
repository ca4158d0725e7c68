import type { KeyStore } from "openclaw/client";

type Pair = NonNullable<Awaited<ReturnType<KeyStore["load"]>>>;

const DATABASE = "openclaw";
const TABLE = "identity";

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error ?? new Error("the browser's database failed")));
  });
}

async function open(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, 1);
  request.addEventListener("upgradeneeded", () => void request.result.createObjectStore(TABLE));
  return done(request);
}

async function inTable<T>(mode: IDBTransactionMode, use: (table: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const database = await open();
  try {
    return await done(use(database.transaction(TABLE, mode).objectStore(TABLE)));
  } finally {
    database.close();
  }
}

/** The browser's key pair in IndexedDB, which keeps keys that nobody can read out. */
export const browserKeys: KeyStore = {
  load: async () => ((await inTable("readonly", (table) => table.get("pair"))) as Pair | undefined) ?? undefined,
  save: async (pair) => void (await inTable("readwrite", (table) => table.put(pair, "pair"))),
};
