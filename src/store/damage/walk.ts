import type { DatabaseSync } from "node:sqlite";
import { compareKeys, middleKey, type Key } from "./keys.ts";
import { createReader, isBefore, type Row, type Table, type TableReader, type Way } from "./reader.ts";

/** Probes gaps at most this often per table. Each probe is a few page reads; two damaged pages need about a dozen. */
const MAX_PROBES = 4000;

/** The range between two keys at which reading had to stop. */
interface Gap {
  readonly low: Key;
  readonly high: Key;
  /** Ends that are guesses, because that end of the table could not be read. */
  readonly guessed: { readonly low: boolean; readonly high: boolean };
}

interface Walk {
  readonly table: Table;
  readonly reader: TableReader;
  readonly take: (row: Row) => void;
  /** Probed in this order: widest first, so that each probe halves the unknown range. */
  readonly gaps: Gap[];
  /** Single rows that could not be read, and gaps that were given up. */
  readonly rows: Key[];
  readonly lost: Gap[];
}

const show = (key: Key): string => key.map(String).join(", ");

function takeOne(walk: Walk, key: Key): void {
  const row = walk.reader.row(key);
  if (row) walk.take(row);
  else walk.rows.push(key);
}

/**
 * Reads from `start` towards `limit`, both exclusive, skipping single rows whose own pages are bad. Returns where it had to stop;
 * undefined when it reached the limit or the end.
 */
function sweep(walk: Walk, start: Key, limit: Key, way: Way): Key | undefined {
  for (let from = start; ;) {
    const { at, complete } = walk.reader.run(from, limit, way, walk.take);
    if (complete) return undefined;
    const next = walk.reader.next(way, at);
    if (!next?.key || !isBefore(at, next.key, way)) return at;
    if (!isBefore(next.key, limit, way)) return undefined;
    takeOne(walk, next.key);
    from = next.key;
  }
}

/** Given a readable key inside a gap, reads from it in both directions. */
function split(walk: Walk, { low, high, guessed }: Gap, known: Key): void {
  takeOne(walk, known);
  const down = sweep(walk, known, low, "desc");
  if (down) walk.gaps.push({ low, high: down, guessed: { ...guessed, high: false } });
  const up = sweep(walk, known, high, "asc");
  if (up) walk.gaps.push({ low: up, high, guessed: { ...guessed, low: false } });
}

const isInside = (key: Key | undefined, { low, high }: Gap): key is Key => key !== undefined && compareKeys(key, low) > 0 && compareKeys(key, high) < 0;

/** Probes the middle of a gap. */
function probe(walk: Walk, gap: Gap): void {
  if (gap.guessed.low || gap.guessed.high) {
    const known = seek(walk, gap);
    if (known) return split(walk, gap, known);
  }
  const middle = middleKey(gap.low, gap.high);
  if (!middle) return void walk.lost.push(gap);
  const above = walk.reader.next("asc", middle);
  const below = walk.reader.next("desc", middle);
  const found = [above?.key, below?.key].find((key) => isInside(key, gap));
  if (found) return split(walk, gap, found);
  // A probe that ended outside of the gap without an error shows that its half is empty.
  const guessed = { low: false, high: false };
  if (!below) walk.gaps.push({ low: gap.low, high: middle, guessed });
  if (!above) walk.gaps.push({ low: middle, high: gap.high, guessed });
}

/** Keys to try when an end of the table cannot be read and its key range is unknown. */
function* guesses(table: Table): Generator<Key> {
  const rest = table.key.slice(1).map(() => Number.MIN_SAFE_INTEGER);
  if (table.numeric[0]) {
    for (let power = 0; power < 53; power += 1) yield [2 ** power, ...rest];
    if (table.numeric[1]) for (let first = 1; first <= 200; first += 1) for (let power = 0; power < 24; power += 1) yield [first, 2 ** power, ...rest.slice(1)];
    return;
  }
  const letters = Array.from({ length: 95 }, (_, n) => String.fromCharCode(32 + n));
  for (const letter of letters) yield [letter, ...rest];
  for (const first of letters) for (const second of letters) yield [first + second, ...rest];
}

function seek(walk: Walk, gap: Gap): Key | undefined {
  for (const guess of guesses(walk.table)) {
    if (!isInside(guess, gap)) continue;
    for (const way of ["asc", "desc"] as const) {
      const found = walk.reader.next(way, guess)?.key;
      if (isInside(found, gap)) return found;
    }
  }
  return undefined;
}

/** Reads from both ends. Returns the gap in between. */
function fromEnds(walk: Walk): Gap | undefined {
  const { table, reader } = walk;
  const first = reader.end("asc");
  const last = reader.end("desc");
  if (first && last && !first.key && !last.key) return undefined;
  const low = first?.key ?? table.numeric.map((numeric) => (numeric ? 0 : ""));
  const high = last?.key ?? table.numeric.map((numeric) => (numeric ? Number.MAX_SAFE_INTEGER : "\x7f\x7f"));
  if (first?.key) takeOne(walk, low);
  if (last?.key && compareKeys(low, high) !== 0) takeOne(walk, high);
  if (compareKeys(low, high) >= 0) return undefined;
  const up = first?.key ? sweep(walk, low, high, "asc") : low;
  if (up === undefined) return undefined;
  const down = last?.key ? sweep(walk, high, up, "desc") : high;
  return down && { low: up, high: down, guessed: { low: !first?.key, high: !last?.key } };
}

/** Merges neighbouring gaps and formats them. */
function describe(gaps: readonly Gap[]): string[] {
  const merged: Gap[] = [];
  for (const gap of gaps.toSorted((a, b) => compareKeys(a.low, b.low))) {
    const before = merged.at(-1);
    if (before && compareKeys(before.high, gap.low) >= 0) merged[merged.length - 1] = { ...before, high: gap.high };
    else merged.push(gap);
  }
  return merged.map(({ low, high }) => `between ${show(low)} and ${show(high)}`);
}

/**
 * Reads all readable rows of a damaged table, each once and in no order. A row whose own pages are bad is skipped; a page full of
 * rows is approached from both sides; the remaining gap is searched by bisection. Returns what could not be read, as text.
 */
export function walkTable(db: DatabaseSync, table: Table, take: (row: Row) => void): string[] {
  const reader = createReader(db, table);
  if (!reader) return ["the whole table"];
  const walk: Walk = { table, reader, take, gaps: [], rows: [], lost: [] };
  const gap = fromEnds(walk);
  if (gap) walk.gaps.push(gap);
  for (let probes = 0; probes < MAX_PROBES; probes += 1) {
    const next = walk.gaps.shift();
    if (!next) break;
    probe(walk, next);
  }
  return [...walk.rows.map(show), ...describe([...walk.lost, ...walk.gaps])];
}
