import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ReadKind } from "../areas/index.ts";
import { READS } from "./areas/index.ts";
import type { ReadContext } from "./handlers.ts";

/** Queries built from filters have many forms; beyond this number the oldest statement is dropped. */
const MAX_STATEMENTS = 400;

/** Statements of one connection, prepared when first used. */
export function createStatements(db: DatabaseSync): (text: string) => StatementSync {
  const statements = new Map<string, StatementSync>();
  return (text) => {
    let statement = statements.get(text);
    if (!statement) {
      statement = db.prepare(text);
      if (statements.size >= MAX_STATEMENTS) for (const oldest of statements.keys().take(1)) statements.delete(oldest);
      statements.set(text, statement);
    }
    return statement;
  };
}

type AnyRead = (context: ReadContext, input: unknown) => unknown;

/** Answers one read. */
export function runRead(context: ReadContext, kind: ReadKind, input: unknown): unknown {
  return (READS[kind] as AnyRead)(context, input);
}

/** A transaction that is not synced by itself: if lost in a power cut, its work is done again. */
export function unsyncedTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec("PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } finally {
    if (db.isTransaction) db.exec("ROLLBACK");
    db.exec("PRAGMA synchronous = FULL");
  }
}
