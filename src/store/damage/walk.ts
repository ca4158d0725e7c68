import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { compareKeys, keyOf, middleKey, type Key } from "./keys.ts";

export type Row = Readonly<Record<string, SQLOutputValue>>;

export interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  /** The columns by which rows lie in the file. */
  readonly key: readonly string[];
}

export interface WalkResult {
  /** Keys of rows, or gaps between keys, that could not be read. */
  readonly unreadable: string[];
}

/** Looks into gaps at most this often per table. Each look is a few page reads; two damaged pages need about a dozen. */
const MAX_PROBES = 2000;
/** Of SQLite's own codes those that say nothing about the file: busy, locked, no memory, disk full. */
const NOT_DAMAGE = new Set([5, 6, 7, 13]);

/** Undefined when the file could not be read there; anything that is not the file's fault is thrown. */
function attempt<T>(work: () => T): { readonly value: T } | undefined {
  try {
    return { value: work() };
  } catch (error) {
    const { code, errcode } = error as { code?: unknown; errcode?: unknown };
    if (code !== "ERR_SQLITE_ERROR" || NOT_DAMAGE.has(Number(errcode) & 0xff)) throw error;
    return undefined;
  }
}

function statements(db: DatabaseSync, table: Table) {
  const quote = (name: string): string => `"${name}"`;
  const all = [...new Set([...table.key, ...table.columns])].map(quote).join(", ");
  const key = table.key.map(quote).join(", ");
  const marks = table.key.map(() => "?").join(", ");
  const from = `FROM ${quote(table.name)}`;
  const order = (way: string): string => `ORDER BY ${table.key.map((name) => `${quote(name)} ${way}`).join(", ")}`;
  const up = `${from} WHERE (${key}) > (${marks}) ${order("ASC")}`;
  const down = `${from} WHERE (${key}) < (${marks}) ${order("DESC")}`;
  return {
    first: db.prepare(`SELECT ${key} ${from} ${order("ASC")} LIMIT 1`),
    last: db.prepare(`SELECT ${key} ${from} ${order("DESC")} LIMIT 1`),
    one: db.prepare(`SELECT ${all} ${from} WHERE (${key}) = (${marks})`),
    next: { asc: db.prepare(`SELECT ${key} ${up} LIMIT 1`), desc: db.prepare(`SELECT ${key} ${down} LIMIT 1`) },
    rows: { asc: db.prepare(`SELECT ${all} ${up}`), desc: db.prepare(`SELECT ${all} ${down}`) },
  };
}

type Way = "asc" | "desc";

const show = (key: Key): string => key.map(String).join(", ");
const BEFORE_ALL: Key = [Number.MIN_SAFE_INTEGER];
const AFTER_ALL: Key = ["\u{10FFFF}"];

/**
 * Reads all rows of a damaged table that can be read, each once and in no order. A row whose own pages are bad is stepped over; a page full of
 * rows is come at from both sides; what is left between is looked into by halves.
 */
export function walkTable(db: DatabaseSync, table: Table, take: (row: Row) => void): WalkResult {
  const result: WalkResult = { unreadable: [] };
  const prepared = attempt(() => statements(db, table));
  if (!prepared) return { unreadable: ["the whole table"] };
  const sql = prepared.value;
  const bind = (key: Key): SQLInputValue[] => table.key.map((_, at) => key[at] ?? key[0]!) as SQLInputValue[];
  const inside = (key: Key, limit: Key, way: Way): boolean => (way === "asc" ? compareKeys(key, limit) < 0 : compareKeys(key, limit) > 0);

  function keyFrom(statement: StatementSync, ...key: SQLInputValue[]): { readonly key: Key | undefined } | undefined {
    const found = attempt(() => statement.get(...key));
    return found && { key: found.value && keyOf(found.value, table.key) };
  }

  function takeOne(key: Key): void {
    const row = attempt(() => sql.one.get(...bind(key)));
    if (row?.value) take(row.value);
    else result.unreadable.push(show(key));
  }

  /** Reads from `start` towards `limit`, both not included. Returns where it had to stop; undefined when it reached the limit or the end. */
  function sweep(start: Key, limit: Key, way: Way): Key | undefined {
    let at = start;
    for (;;) {
      const reached = attempt(() => {
        for (const row of sql.rows[way].iterate(...bind(at))) {
          const key = keyOf(row, table.key);
          if (!key || !inside(at, key, way)) throw Object.assign(new Error("keys out of order"), { code: "ERR_SQLITE_ERROR", errcode: 11 });
          if (!inside(key, limit, way)) break;
          take(row);
          at = key;
        }
      });
      if (reached) return undefined;
      const next = keyFrom(sql.next[way], ...bind(at));
      if (!next?.key || !inside(at, next.key, way)) return at;
      if (!inside(next.key, limit, way)) return undefined;
      takeOne(next.key);
      at = next.key;
    }
  }

  let probes = 0;
  /** What lies between two keys at which reading had to stop. */
  function gap(low: Key, high: Key): void {
    const middle = (probes += 1) > MAX_PROBES ? undefined : middleKey(low, high);
    if (!middle) return void result.unreadable.push(`between ${show(low)} and ${show(high)}`);
    for (const way of ["asc", "desc"] as const) {
      const found = keyFrom(sql.next[way], ...bind(middle))?.key;
      if (!found || compareKeys(found, low) <= 0 || compareKeys(found, high) >= 0) continue;
      takeOne(found);
      between(low, found, found);
      between(found, high, found);
      return;
    }
    gap(low, middle);
    gap(middle, high);
  }

  /** Reads away from a key that was read, then looks into what stays. */
  function between(low: Key, high: Key, known: Key): void {
    const stopped = known === low ? sweep(low, high, "asc") : sweep(high, low, "desc");
    if (stopped === undefined) return;
    if (known === low) gap(stopped, high);
    else gap(low, stopped);
  }

  const first = keyFrom(sql.first);
  const last = keyFrom(sql.last);
  if (first && !first.key && last && !last.key) return result;
  const low = first?.key;
  const high = last?.key;
  if (low) takeOne(low);
  if (high && (!low || compareKeys(low, high) !== 0)) takeOne(high);
  if (low && high && compareKeys(low, high) >= 0) return result;
  const stoppedUp = low ? sweep(low, high ?? AFTER_ALL, "asc") : undefined;
  if (low && stoppedUp === undefined) return result;
  const stoppedDown = high ? sweep(high, stoppedUp ?? BEFORE_ALL, "desc") : undefined;
  if (high && stoppedDown === undefined) return result;
  if (stoppedUp && stoppedDown) gap(stoppedUp, stoppedDown);
  else result.unreadable.push(stoppedUp ? `after ${show(stoppedUp)}` : stoppedDown ? `before ${show(stoppedDown)}` : "the whole table");
  return result;
}
