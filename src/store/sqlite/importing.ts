import type { DatabaseSync, StatementSync } from "node:sqlite";
import type * as importing from "../import/index.ts";

/** Says in `meta` that the files found at the first start are taken over. */
const IMPORTED = "store.imported";

export interface ImportingDeps {
  readonly db: DatabaseSync;
  readonly sql: (text: string) => StatementSync;
  readonly stateDir: string;
  readonly now: () => number;
  readonly log: (message: string, details?: Readonly<Record<string, unknown>>) => void;
}

export interface Importing {
  /** What is left to do between commits; undefined when nothing is. */
  readonly steps: Iterator<unknown> | undefined;
  /** Takes one transcript over at once, since somebody uses it now. */
  readonly adopt: (file: string) => void;
  /** Remembers that all is taken over, unless something could not be. */
  readonly finish: () => void;
  /** Looks for files that were added since: another program has used the state folder. */
  readonly again: () => Promise<Iterator<unknown>>;
}

/** Starts or goes on with the takeover of a state folder. Session indexes and other small files are taken before this returns. */
export async function openImport(deps: ImportingDeps): Promise<Importing> {
  const { db, sql, stateDir, now, log } = deps;
  let unfinished = sql("SELECT 1 FROM meta WHERE key = ?").get(IMPORTED) === undefined;
  const finish = (): void => {
    unfinished = false;
    // What could not be read may be mended by its owner: it is looked at again at the next start.
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
