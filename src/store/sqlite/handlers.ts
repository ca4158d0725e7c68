import type { StatementSync } from "node:sqlite";
import { need } from "../rows.ts";
import type { TranscriptTree } from "../transcript-tree.ts";

/** What the worker does after a commit is durable and acknowledged. */
export type Effect =
  | { readonly kind: "appended"; readonly file: string; readonly startBytes: number; readonly lines: readonly string[] }
  | { readonly kind: "renamed"; readonly file: string; readonly to: string }
  | { readonly kind: "rewritten"; readonly file: string }
  | { readonly kind: "removed"; readonly file: string };

/** Display fields of a session from its transcript, and the state that they were read from. */
export interface SessionPreview {
  readonly stamp: string;
  readonly title: string | undefined;
  readonly last: string | undefined;
  /** Text for searching, in lower case: the name and the like, and the last message. */
  readonly searchText: string;
  readonly lastSearchText: string;
}

/** Passed to every handler. */
export interface ReadContext {
  /** The prepared statement for this text, created once per connection. */
  readonly sql: (text: string) => StatementSync;
  /** Cached previews for lists of sessions, where caching pays off. */
  readonly previews?: Map<string, SessionPreview>;
  /** Cached trees of transcripts, by their internal numbers. */
  readonly trees?: Map<number, KnownTree>;
}

/** A tree holds while its transcript has as many lines. Numbers are used again. */
export interface KnownTree {
  readonly lines: number;
  readonly createdAt: number;
  readonly tree: TranscriptTree;
}

export interface WriteContext extends ReadContext {
  /** Time of the commit, from the store's clock. */
  readonly now: number;
  readonly effects: Effect[];
}

interface Exchange {
  readonly input: unknown;
  readonly result: unknown;
}

/** One function per kind of an area: a missing or surplus one does not compile. */
export type WriteHandlers<Kinds> = {
  readonly [K in keyof Kinds]: Kinds[K] extends Exchange ? (context: WriteContext, input: Kinds[K]["input"]) => Kinds[K]["result"] : never;
};
export type ReadHandlers<Kinds> = {
  readonly [K in keyof Kinds]: Kinds[K] extends Exchange ? (context: ReadContext, input: Kinds[K]["input"]) => Kinds[K]["result"] : never;
};

/** A value as the text of a JSON column. */
export function toJson(value: unknown): string | null {
  return value === undefined || value === null ? null : JSON.stringify(value);
}

/** The value of a JSON column. */
export function fromJson(text: unknown): unknown {
  return typeof text === "string" ? JSON.parse(text) : null;
}

export type Row = Record<string, unknown>;

/** A row whose column names are the fields of `T`; `json` columns are parsed, `flags` become booleans. */
export function shape<T extends object>(
  row: Row | undefined,
  json: readonly (keyof T & string)[] = [],
  flags: readonly (keyof T & string)[] = [],
): T | undefined {
  if (!row) return undefined;
  for (const column of json) row[column] = fromJson(row[column]);
  for (const column of flags) row[column] = row[column] === 1;
  return row as T;
}

export function shapeAll<T extends object>(
  rows: readonly Row[],
  json: readonly (keyof T & string)[] = [],
  flags: readonly (keyof T & string)[] = [],
): readonly T[] {
  return rows.map((row) => need(shape<T>(row, json, flags)));
}

/** The conditions with a value, joined for a WHERE clause, with their values in order. */
export function where(conditions: readonly (readonly [sql: string, value: string | number | undefined])[]): {
  readonly text: string;
  readonly values: (string | number)[];
} {
  const used = conditions.filter((condition): condition is readonly [string, string | number] => condition[1] !== undefined);
  return { text: used.length === 0 ? "1" : used.map(([sql]) => sql).join(" AND "), values: used.map(([, value]) => value) };
}

/** A LIKE pattern that matches `text` literally; use with `ESCAPE '\'`. */
export function likePrefix(text: string): string {
  return `${text.replaceAll(/[\\%_]/g, "\\$&")}%`;
}
