import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { compareKeys, keyOf, type Key } from "./keys.ts";
import { systemCode } from "../../base/errors.ts";
import { sqliteCode } from "../sqlite/failure.ts";

export type Row = Readonly<Record<string, SQLOutputValue>>;

export interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  /** The columns that order rows in the file. */
  readonly key: readonly string[];
  /** Which of them are numbers; the others are text. */
  readonly numeric: readonly boolean[];
}

export type Way = "asc" | "desc";

/** SQLite result codes that say nothing about the file: busy, locked, no memory, disk full. */
const NOT_DAMAGE = new Set([5, 6, 7, 13]);

class OutOfOrder extends Error {}

/** Undefined when the file could not be read there; other errors are thrown. */
export function attempt<T>(work: () => T): { readonly value: T } | undefined {
  try {
    return { value: work() };
  } catch (error) {
    // A number that none of our columns can hold is damage, too.
    if (error instanceof OutOfOrder || systemCode(error) === "ERR_OUT_OF_RANGE") return undefined;
    if (systemCode(error) !== "ERR_SQLITE_ERROR" || NOT_DAMAGE.has((sqliteCode(error) ?? 0) & 0xff)) throw error;
    return undefined;
  }
}

/** Reads a damaged table key by key. */
export interface TableReader {
  /** The first (`asc`) or last (`desc`) key. `key` is undefined in an empty table; the result is undefined when it could not be read. */
  end(way: Way): { readonly key: Key | undefined } | undefined;
  /** The key after (`asc`) or before (`desc`) a position. */
  next(way: Way, from: Key): { readonly key: Key | undefined } | undefined;
  row(key: Key): Row | undefined;
  /** Rows from `start` towards `limit`, both exclusive, until one cannot be read. Returns the last key that was read, or `start`. */
  run(start: Key, limit: Key, way: Way, take: (row: Row) => void): { readonly at: Key; readonly complete: boolean };
}

/** True when `key` comes before `limit` in this direction. */
export function isBefore(key: Key, limit: Key, way: Way): boolean {
  return way === "asc" ? compareKeys(key, limit) < 0 : compareKeys(key, limit) > 0;
}

function statements(db: DatabaseSync, table: Table) {
  const quote = (name: string): string => `"${name}"`;
  // Aliased, because SQLite returns `rowid` under the name of its alias column.
  const named = (names: readonly string[]): string => names.map((name) => `${quote(name)} AS ${quote(name)}`).join(", ");
  const all = named([...new Set([...table.key, ...table.columns])]);
  const keys = named(table.key);
  const key = table.key.map(quote).join(", ");
  const marks = table.key.map(() => "?").join(", ");
  const from = `FROM ${quote(table.name)}`;
  const order = (way: Way): string => `ORDER BY ${table.key.map((name) => `${quote(name)} ${way}`).join(", ")}`;
  const beyond = { asc: `${from} WHERE (${key}) > (${marks}) ${order("asc")}`, desc: `${from} WHERE (${key}) < (${marks}) ${order("desc")}` };
  const both = (text: (way: Way) => string) => ({ asc: db.prepare(text("asc")), desc: db.prepare(text("desc")) });
  return {
    end: both((way) => `SELECT ${keys} ${from} ${order(way)} LIMIT 1`),
    next: both((way) => `SELECT ${keys} ${beyond[way]} LIMIT 1`),
    rows: both((way) => `SELECT ${all} ${beyond[way]}`),
    one: db.prepare(`SELECT ${all} ${from} WHERE (${key}) = (${marks})`),
  };
}

/** Undefined when not even the table's definition can be read. */
export function createReader(db: DatabaseSync, table: Table): TableReader | undefined {
  const prepared = attempt(() => statements(db, table));
  if (!prepared) return undefined;
  const sql = prepared.value;
  const keyed = (work: () => Row | undefined): { readonly key: Key | undefined } | undefined => {
    const found = attempt(work);
    if (!found?.value) return found && { key: undefined };
    const key = keyOf(found.value, table.key);
    return key && { key };
  };
  return {
    end: (way) => keyed(() => sql.end[way].get()),
    next: (way, from) => keyed(() => sql.next[way].get(...from)),
    row: (key) => attempt(() => sql.one.get(...key))?.value,
    run(start, limit, way, take) {
      let at = start;
      const complete = attempt(() => {
        for (const row of sql.rows[way].iterate(...start)) {
          const key = keyOf(row, table.key);
          if (!key || !isBefore(at, key, way)) throw new OutOfOrder();
          if (!isBefore(key, limit, way)) return;
          take(row);
          at = key;
        }
      });
      return { at, complete: complete !== undefined };
    },
  };
}
