import type { DatabaseSync, StatementSync } from "node:sqlite";
import type * as importing from "../import/index.ts";

/** Records in `meta` that the files found at the first start are imported. */
const IMPORTED = "store.imported";

export interface ImportingDeps {
  readonly db: DatabaseSync;
  readonly sql: (text: string) => StatementSync;
  readonly stateDir: string;
  readonly now: () => number;
  readonly log: (message: string, details?: Readonly<Record<string, unknown>>) => void;
}

export interface Importing {
  /** Work left to do between commits; undefined when there is none. */
  readonly steps: Iterator<unknown> | undefined;
  /** Imports one transcript at once, since it is in use. */
  readonly adopt: (file: string) => void;
  /** Records that everything is imported, unless something failed. */
  readonly finish: () => void;
  /** Looks for files that were added since: another program has used the state folder. */
  readonly again: () => Promise<Iterator<unknown>>;
}

/** Starts or continues the import of a state folder. Session indexes and other small files are imported before this returns. */
export async function openImport(deps: ImportingDeps): Promise<Importing> {
  const { db, sql, stateDir, now, log } = deps;
  let unfinished = sql("SELECT 1 FROM meta WHERE key = ?").get(IMPORTED) === undefined;
  const finish = (): void => {
    unfinished = false;
    // The owner may fix an unreadable file: it is tried again at the next start.
    if (sql("SELECT 1 FROM imports WHERE state = 'failed' LIMIT 1").get() !== undefined) return;
    sql("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)").run(IMPORTED, String(now()));
  };
  const options = { stateDir, now, log };
  let loaded: typeof importing | undefined;
  const load = async (): Promise<typeof importing> => (loaded ??= await import("../import/index.ts"));
  const rest = {
    adopt: (file: string) => void (unfinished && loaded?.importTranscript(db, file, options)),
    finish,
    async again() {
      const { importState } = await load();
      unfinished = true;
      return importState(db, options);
    },
  };
  if (!unfinished) return { steps: undefined, ...rest };

  const { importState } = await load();
  const steps = importState(db, options);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) {
      finish();
      return { steps: undefined, ...rest };
    }
    if (step.value.kind === "transcript") break;
  }
  return { steps, ...rest };
}
