/** Values by key that outlive the process. What a call wrote is on the disk when it returns. */
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import type { Clock } from "../../../base/clock.ts";
import { AppError, fileError } from "../../../base/errors.ts";

export interface KeyedStoreOptions {
  /** Part of the plugin's state that the keys belong to. */
  readonly namespace: string;
  /** Default 10 000. */
  readonly maxEntries?: number | undefined;
  /** What happens to one more than that: the oldest goes (default), or the new one is refused. */
  readonly overflowPolicy?: "evict-oldest" | "reject-new" | undefined;
  readonly defaultTtlMs?: number | undefined;
}

export interface KeyedEntry<T> {
  key: string;
  value: T;
  createdAt: number;
  expiresAt?: number | undefined;
}

/** A value as it was seen, to be compared when it is changed. */
export interface Observed<T> {
  value: T | undefined;
  comparison: string;
}

export type Change<T> =
  | { readonly operation?: string | undefined; readonly action: "set"; readonly value: T; readonly ttlMs?: number | undefined }
  | { readonly operation?: string | undefined; readonly action: "delete" };
export type Applied<T> = { status: "applied"; current: Observed<T> } | { status: "conflict"; current: Observed<T> };

export interface SyncKeyedStore<T = unknown> {
  register(key: string, value: T, options?: { ttlMs?: number }): void;
  registerIfAbsent(key: string, value: T, options?: { ttlMs?: number }): boolean;
  lookup(key: string): T | undefined;
  /** Gives the value and takes it away. */
  consume(key: string): T | undefined;
  delete(key: string): boolean;
  entries(): KeyedEntry<T>[];
  clear(): void;
  observe(key: string): Observed<T>;
  /** Changes the value if it is still the one that was observed. */
  compareAndApply(key: string, comparison: string, change: Change<T>): Applied<T>;
}

interface Row {
  readonly key: string;
  readonly value: string;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly revision: number;
}

/** A row as it was written. */
function rowOf(found: Record<string, SQLOutputValue> | undefined): Row | undefined {
  if (!found) return undefined;
  const { key, value, created_at, expires_at, revision } = found;
  const expires = expires_at === null ? null : Number(expires_at);
  return { key: String(key), value: String(value), created_at: Number(created_at), expires_at: expires, revision: Number(revision) };
}

const DEFAULT_MAX = 10_000;
const MAX_VALUE_BYTES = 4 * 1024 * 1024;
const GONE = "absent";

function checkedKey(key: unknown): string {
  if (typeof key === "string" && key !== "" && key.length <= 1024) return key;
  throw new AppError("INVALID_INPUT", "a key of plugin state must be a string of 1 to 1024 characters");
}

function encoded(value: unknown): string {
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) throw new AppError("INVALID_INPUT", "a value of plugin state must be a JSON value");
  if (text.length > MAX_VALUE_BYTES)
    throw new AppError("INVALID_INPUT", `a value of plugin state may have at most ${MAX_VALUE_BYTES} bytes as JSON; store larger ones in a file`);
  return text;
}

/** A store over one namespace of a plugin's database. */
export function openSyncKeyedStore<T>(database: DatabaseSync, options: KeyedStoreOptions, clock: Pick<Clock, "now">): SyncKeyedStore<T> {
  const { namespace, maxEntries = DEFAULT_MAX, overflowPolicy, defaultTtlMs } = options;
  if (typeof namespace !== "string" || namespace.trim() === "")
    throw new AppError("INVALID_INPUT", "openKeyedStore needs a namespace: a name for this part of the plugin's state");
  const get = database.prepare("SELECT * FROM entries WHERE namespace = ? AND key = ? AND (expires_at IS NULL OR expires_at > ?)");
  // Never used twice, so that a value that was deleted and added again differs from the previous one.
  const advance = database.prepare("UPDATE revisions SET last = last + 1");
  const put = database.prepare("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, (SELECT last FROM revisions))");
  const remove = database.prepare("DELETE FROM entries WHERE namespace = ? AND key = ?");
  const expire = database.prepare("DELETE FROM entries WHERE namespace = ? AND expires_at <= ?");
  const count = database.prepare("SELECT COUNT(*) AS n FROM entries WHERE namespace = ?");
  const evict = database.prepare(
    "DELETE FROM entries WHERE namespace = ?1 AND key IN (SELECT key FROM entries WHERE namespace = ?1 ORDER BY revision LIMIT ?2)",
  );
  const all = database.prepare("SELECT * FROM entries WHERE namespace = ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY revision");

  const find = (key: string): Row | undefined => rowOf(get.get(namespace, checkedKey(key), clock.now()));
  const decoded = (row: Row): T => JSON.parse(row.value);
  const valueOf = (row: Row | undefined): T | undefined => row && decoded(row);

  /** All of it or nothing, alone. */
  function atomically<R>(work: () => R): R {
    try {
      database.exec("BEGIN IMMEDIATE");
    } catch (error) {
      throw fileError(`plugin state "${namespace}"`, "could not write", error);
    }
    try {
      const result = work();
      database.exec("COMMIT");
      return result;
    } catch (error) {
      database.exec("ROLLBACK");
      throw error instanceof AppError ? error : fileError(`plugin state "${namespace}"`, "could not write", error);
    }
  }

  function write(key: string, value: T, ttlMs: number | undefined): void {
    const now = clock.now();
    const before = find(key);
    if (!before) makeSpace(now);
    const ttl = ttlMs ?? defaultTtlMs;
    advance.run();
    put.run(namespace, checkedKey(key), encoded(value), before?.created_at ?? now, ttl === undefined ? null : now + ttl);
  }

  function makeSpace(now: number): void {
    expire.run(namespace, now);
    const n = Number(count.get(namespace)?.["n"] ?? 0);
    if (n < maxEntries) return;
    if (overflowPolicy === "reject-new")
      throw new AppError("OVERLOADED", `plugin state "${namespace}" holds ${maxEntries} entries, the maximum; delete some first`);
    evict.run(namespace, n - maxEntries + 1);
  }

  const seen = (row: Row | undefined): Observed<T> => ({ value: valueOf(row), comparison: row ? `${row.revision}` : GONE });

  return {
    register: (key, value, opts) => atomically(() => write(key, value, opts?.ttlMs)),
    registerIfAbsent: (key, value, opts) => atomically(() => !find(key) && (write(key, value, opts?.ttlMs), true)),
    lookup: (key) => valueOf(find(key)),
    consume: (key) =>
      atomically(() => {
        const row = find(key);
        if (row) remove.run(namespace, key);
        return valueOf(row);
      }),
    delete: (key) => atomically(() => Number(remove.run(namespace, checkedKey(key)).changes) > 0),
    entries: () =>
      all.all(namespace, clock.now()).flatMap((found) => {
        const row = rowOf(found);
        if (!row) return [];
        return [{ key: row.key, value: decoded(row), createdAt: row.created_at, ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }) }];
      }),
    clear: () => void database.prepare("DELETE FROM entries WHERE namespace = ?").run(namespace),
    observe: (key) => seen(find(key)),
    compareAndApply: (key, comparison, change) =>
      atomically((): Applied<T> => {
        const current = seen(find(key));
        if (current.comparison !== comparison) return { status: "conflict", current };
        if (change.action === "set") write(key, change.value, change.ttlMs);
        else remove.run(namespace, key);
        return { status: "applied", current: seen(find(key)) };
      }),
  };
}

type Promised<S> = { [K in keyof S]: S[K] extends (...args: infer A) => infer R ? (...args: A) => Promise<R> : S[K] };
export type KeyedStore<T = unknown> = Promised<SyncKeyedStore<T>>;

/** The same with promises: a failure rejects. The database is opened when the first call needs it. */
export function openKeyedStore<T>(open: () => SyncKeyedStore<T>): KeyedStore<T> {
  let store: SyncKeyedStore<T> | undefined;
  const opened = (): SyncKeyedStore<T> => (store ??= open());
  return {
    register: async (...args) => opened().register(...args),
    registerIfAbsent: async (...args) => opened().registerIfAbsent(...args),
    lookup: async (...args) => opened().lookup(...args),
    consume: async (...args) => opened().consume(...args),
    delete: async (...args) => opened().delete(...args),
    entries: async () => opened().entries(),
    clear: async () => opened().clear(),
    observe: async (...args) => opened().observe(...args),
    compareAndApply: async (...args) => opened().compareAndApply(...args),
  };
}
