import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { compareKeys, keyOf, middleKey, type Key } from "./keys.ts";

export type Row = Readonly<Record<string, SQLOutputValue>>;

export interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  /** The columns by which rows lie in the file. */
  readonly key: readonly string[];
  /** Which of them are numbers; the others are texts. */
  readonly numeric: readonly boolean[];
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
    // A number that no column of ours can hold is damage, too.
    if (code === "ERR_OUT_OF_RANGE") return undefined;
    if (code !== "ERR_SQLITE_ERROR" || NOT_DAMAGE.has(Number(errcode) & 0xff)) throw error;
    return undefined;
  }
}

function statements(db: DatabaseSync, table: Table) {
  const quote = (name: string): string => `"${name}"`;
  // Named, because SQLite gives `rowid` the name of the column that stands for it.
  const named = (name: string): string => `${quote(name)} AS ${quote(name)}`;
  const all = [...new Set([...table.key, ...table.columns])].map(named).join(", ");
  const key = table.key.map(quote).join(", ");
  const keyNamed = table.key.map(named).join(", ");
  const marks = table.key.map(() => "?").join(", ");
  const from = `FROM ${quote(table.name)}`;
  const order = (way: string): string => `ORDER BY ${table.key.map((name) => `${quote(name)} ${way}`).join(", ")}`;
  const up = `${from} WHERE (${key}) > (${marks}) ${order("ASC")}`;
  const down = `${from} WHERE (${key}) < (${marks}) ${order("DESC")}`;
  return {
    first: db.prepare(`SELECT ${keyNamed} ${from} ${order("ASC")} LIMIT 1`),
    last: db.prepare(`SELECT ${keyNamed} ${from} ${order("DESC")} LIMIT 1`),
    one: db.prepare(`SELECT ${all} ${from} WHERE (${key}) = (${marks})`),
    next: { asc: db.prepare(`SELECT ${keyNamed} ${up} LIMIT 1`), desc: db.prepare(`SELECT ${keyNamed} ${down} LIMIT 1`) },
    rows: { asc: db.prepare(`SELECT ${all} ${up}`), desc: db.prepare(`SELECT ${all} ${down}`) },
  };
}

type Way = "asc" | "desc";

const show = (key: Key): string => key.map(String).join(", ");

function* beginnings(): Generator<string> {
  const letters = Array.from({ length: 95 }, (_, n) => String.fromCharCode(32 + n));
  yield* letters;
  for (const first of letters) for (const second of letters) yield first + second;
}

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

  /** Undefined when it could not be read, without a key when there is no such row. */
  function keyFrom(statement: StatementSync, ...key: SQLInputValue[]): { readonly key: Key | undefined } | undefined {
    const found = attempt(() => statement.get(...key));
    if (!found?.value) return found && { key: undefined };
    const read = keyOf(found.value, table.key);
    return read && { key: read };
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
    const above = keyFrom(sql.next.asc, ...bind(middle));
    const below = keyFrom(sql.next.desc, ...bind(middle));
    const isBetween = (key: Key | undefined): key is Key => key !== undefined && compareKeys(key, low) > 0 && compareKeys(key, high) < 0;
    const found = [above?.key, below?.key].find(isBetween);
    if (found) return split(low, high, found);
    // A look that ended outside of the gap without an error says that its half is empty.
    if (!below) gap(low, middle);
    if (!above) gap(middle, high);
  }

  /** With an end unreadable nothing tells where texts lie: tries all beginnings of one and two letters. */
  function seek(low: Key, high: Key): Key | undefined {
    if (table.numeric[0]) return undefined;
    for (const start of beginnings()) {
      const found = keyFrom(sql.next.asc, ...bind([start, ...table.key.slice(1).map(() => Number.MIN_SAFE_INTEGER)]))?.key;
      if (found && compareKeys(found, low) > 0 && compareKeys(found, high) < 0) return found;
    }
    return undefined;
  }

  function split(low: Key, high: Key, known: Key): void {
    takeOne(known);
    between(low, known, known);
    between(known, high, known);
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
  if (first && last && !first.key && !last.key) return result;
  const low = first?.key ?? table.numeric.map((numeric) => (numeric ? 0 : ""));
  const high = last?.key ?? table.numeric.map((numeric) => (numeric ? Number.MAX_SAFE_INTEGER : "\x7f\x7f"));
  if (first?.key) takeOne(low);
  if (last?.key && compareKeys(low, high) !== 0) takeOne(high);
  if (compareKeys(low, high) >= 0) return result;
  const stoppedUp = first?.key ? sweep(low, high, "asc") : low;
  if (stoppedUp === undefined) return result;
  const stoppedDown = last?.key ? sweep(high, stoppedUp, "desc") : high;
  if (stoppedDown === undefined) return result;
  const known = first?.key && last?.key ? undefined : seek(stoppedUp, stoppedDown);
  if (known) split(stoppedUp, stoppedDown, known);
  else gap(stoppedUp, stoppedDown);
  return result;
}
