import { t } from "../words/words.ts";

/** The answer of a request to the browser's database. */
export function answered<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error ?? new Error(t("The browser’s storage failed."))));
  });
}

/** Resolves when everything of a transaction is written. */
export function written(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.addEventListener("complete", () => resolve());
    transaction.addEventListener("abort", () => reject(transaction.error ?? new Error(t("The browser’s storage failed."))));
  });
}

/** Opens a database of this browser, with these tables from the first time on, for as long as `use` takes. */
export async function inDatabase<T>(name: string, tables: readonly string[], use: (database: IDBDatabase) => Promise<T>): Promise<T> {
  const request = indexedDB.open(name, 1);
  request.addEventListener("upgradeneeded", () => tables.forEach((table) => request.result.createObjectStore(table)));
  const database = await answered(request);
  try {
    return await use(database);
  } finally {
    database.close();
  }
}
