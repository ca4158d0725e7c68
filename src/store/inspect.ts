import { existsSync } from "node:fs";
import { join } from "node:path";
import { AppError, messageOf } from "../base/errors.ts";
import type { ReadInput, ReadKind, ReadResult } from "./areas/index.ts";
import { createStatements, runRead } from "./sqlite/connection.ts";
import { isDamage, storeError } from "./sqlite/failure.ts";
import { assertReadable, MIGRATIONS } from "./sqlite/migrations.ts";
import { markSuspect, openReader } from "./sqlite/open.ts";

/** A look into the state from another process: reads only, in this thread, whether a gateway runs or not. */
export interface Inspection extends Disposable {
  read<K extends ReadKind>(kind: K, input: ReadInput<K>): ReadResult<K>;
}

/** Opens the state for reading. Undefined when there is no database yet. */
export function inspectStore(stateDir: string): Inspection | undefined {
  const file = join(stateDir, "openclaw.db");
  if (!existsSync(file)) return undefined;
  try {
    const db = openReader(file);
    assertReadable(db, MIGRATIONS);
    const context = { sql: createStatements(db) };
    return {
      read(kind, input) {
        try {
          return runRead(context, kind, input);
        } catch (error) {
          if (isDamage(error)) markSuspect(file, messageOf(error));
          throw storeError(`could not read ${file}`, error);
        }
      },
      [Symbol.dispose]: () => db.close(),
    };
  } catch (error) {
    throw error instanceof AppError ? error : storeError(`could not read ${file}`, error);
  }
}
