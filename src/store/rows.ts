/** The one place that trusts the schema: rows as the types that their columns have. */
import type { SQLInputValue, StatementSync } from "node:sqlite";
import { AppError } from "../base/errors.ts";

/** All rows. `T` names the columns of the statement; with `setReturnArrays` it is a tuple. */
export function allRows<T>(statement: StatementSync, ...values: readonly SQLInputValue[]): T[] {
  const rows: unknown[] = statement.all(...values);
  return rows as T[];
}

/** The rows one after the other, for results that are too large to hold. */
export function eachRow<T>(statement: StatementSync, ...values: readonly SQLInputValue[]): Iterable<T> {
  const rows: Iterable<unknown> = statement.iterate(...values);
  return rows as Iterable<T>;
}

/** Undefined when the statement gives no row. */
export type FirstRow<T> = T | undefined;

export function firstRow<T>(statement: StatementSync, ...values: readonly SQLInputValue[]): FirstRow<T> {
  const row: unknown = statement.get(...values);
  return row as FirstRow<T>;
}

/** What has to be there by the schema, or because it was just written. */
export function need<T>(row: T | undefined): T {
  if (row === undefined) throw new AppError("INTERNAL", "a store statement returned no row where one is always expected");
  return row;
}

/** The number in the only column of a statement that always gives a row: a count, a setting. */
export function numberOf(statement: StatementSync, ...values: readonly SQLInputValue[]): number {
  return Number(Object.values(need(statement.get(...values)))[0]);
}
