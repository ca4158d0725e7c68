import type { DatabaseSync, StatementSync } from "node:sqlite";
import { AppError } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import type { Write } from "../areas/index.ts";
import { WRITES } from "../sqlite/areas/index.ts";
import { assertFence } from "../sqlite/areas/leases.ts";
import { errorMessage, isDiskFailure, isDiskFull, isHeld, storeError } from "../sqlite/failure.ts";
import type { Effect, WriteContext } from "../sqlite/handlers.ts";
import type { CommitRequest, Settled } from "../messages.ts";
import { numberOf } from "../rows.ts";

export interface GroupResult {
  /** One answer per commit; send them only now, after the fsync. */
  readonly settled: Settled[];
  /** Effects of the commits that succeeded. */
  readonly effects: readonly Effect[];
  /** The disk failed: the store must not acknowledge anything any more. */
  readonly fatal: AppError | undefined;
  /** Nothing of the group fitted on the disk. */
  readonly diskFull: boolean;
  /** Another process held the database for longer than the busy timeout. */
  readonly held: boolean;
}

export interface Groups {
  /** Runs commits as one transaction with one fsync, or without one when all are lazy. A commit with a refused write is rolled back alone. */
  run(commits: readonly CommitRequest[]): GroupResult;
}

type AnyWrite = (context: WriteContext, input: unknown) => unknown;

/** Aborts the whole group. */
class GroupAborted extends Error {
  readonly reason: AppError;
  constructor(reason: AppError) {
    super(reason.message, { cause: reason });
    this.reason = reason;
  }
}

interface Applying {
  /** Applies commits within the current transaction: an answer for each, and their effects. Throws when the transaction is lost. */
  apply(commits: readonly CommitRequest[]): { readonly settled: Settled[]; readonly effects: Effect[] };
  readonly rollback: () => void;
}

function createApplying(db: DatabaseSync, sql: (text: string) => StatementSync, begin: StatementSync): Applying {
  const save = db.prepare("SAVEPOINT one");
  const release = db.prepare("RELEASE one");

  function rollback(): void {
    if (db.isTransaction) db.exec("ROLLBACK");
  }

  function applyOne([id, now, writes, fence]: CommitRequest, effects: Effect[]): Settled {
    const context: WriteContext = { sql, now, effects };
    if (fence) assertFence(context, fence);
    return [id, true, writes.map(([kind, input]: Write) => (WRITES[kind] as AnyWrite)(context, input))];
  }

  /**
   * Applies all commits without savepoints: what SQLite keeps for rolling back is a good part of a commit's cost, and refusals
   * are rare. False when one is refused: everything is rolled back, and has to be applied again with savepoints.
   */
  function applyTogether(commits: readonly CommitRequest[], effects: Effect[], settled: Settled[]): boolean {
    try {
      for (const request of commits) settled.push(applyOne(request, effects));
      return true;
    } catch (error) {
      if (isDiskFailure(error) || !db.isTransaction) throw new GroupAborted(storeError("the write was refused", error));
    }
    rollback();
    begin.run();
    effects.length = 0;
    settled.length = 0;
    return false;
  }

  /** Applies one commit, or rolls it back and answers with its error. Throws when the transaction itself is lost. */
  function applyAlone(request: CommitRequest, shared: boolean, effects: Effect[]): Settled {
    const mark = effects.length;
    if (shared) save.run();
    try {
      const settled = applyOne(request, effects);
      if (shared) release.run();
      return settled;
    } catch (error) {
      effects.length = mark;
      const reason = storeError("the write was refused", error);
      if (isDiskFailure(error) || !db.isTransaction) throw new GroupAborted(reason);
      if (shared) db.exec("ROLLBACK TO one; RELEASE one");
      return [request[0], false, errorMessage(reason)];
    }
  }

  return {
    rollback,
    apply(commits) {
      const effects: Effect[] = [];
      const settled: Settled[] = [];
      const shared = commits.length > 1;
      if (!shared || !applyTogether(commits, effects, settled)) for (const request of commits) settled.push(applyAlone(request, shared, effects));
      return { settled, effects };
    },
  };
}

/** While another process holds the database, every wait also blocks the reads behind it: the first wait is long, the next ones are short. */
const SHORT_WAIT_MS = 200;

function createBusyTimeout(db: DatabaseSync): { /** Called with whether the last wait was in vain; returns it. */ after(inVain: boolean): boolean } {
  let usual: number | undefined;
  return {
    after(inVain) {
      if (inVain && usual === undefined) {
        usual = numberOf(db.prepare("PRAGMA busy_timeout"));
        db.exec(`PRAGMA busy_timeout = ${Math.min(usual, SHORT_WAIT_MS)}`);
      } else if (!inVain && usual !== undefined) {
        db.exec(`PRAGMA busy_timeout = ${usual}`);
        usual = undefined;
      }
      return inVain;
    },
  };
}

export function createGroups(db: DatabaseSync, sql: (text: string) => StatementSync): Groups {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const { apply, rollback } = createApplying(db, sql, begin);
  const patience = createBusyTimeout(db);

  function rejected(commits: readonly CommitRequest[], reason: AppError): Settled[] {
    const message = errorMessage(reason);
    return commits.map(([id]) => [id, false, message]);
  }

  /** The disk was full before anything was committed: the group is refused, the store continues. Any other disk error is final. */
  function aborted(commits: readonly CommitRequest[], error: unknown): GroupResult {
    rollback();
    const cause = error instanceof GroupAborted ? error.reason.cause : error;
    const reason = error instanceof GroupAborted ? error.reason : storeError("the commit could not begin", error);
    const diskFull = isDiskFull(cause);
    const fatal = isDiskFailure(cause) && !diskFull ? reason : undefined;
    return { settled: rejected(commits, reason), effects: [], fatal, diskFull, held: patience.after(isHeld(cause)) };
  }

  /** Everything but a lazy group is synced with its commit. This cannot be changed within a transaction. */
  const sync = (level: "FULL" | "NORMAL"): void => db.exec(`PRAGMA synchronous = ${level}`);

  return {
    run(commits) {
      const lazy = commits.every(([, , , , isLazy]) => isLazy);
      // If not even the rollback works, the store has failed anyway.
      using _sync = { [Symbol.dispose]: () => lazy && !db.isTransaction && sync("FULL") };
      let applied: ReturnType<Applying["apply"]>;
      try {
        if (lazy) sync("NORMAL");
        begin.run();
        patience.after(false);
        failpoint("store.group.begun");
        applied = apply(commits);
      } catch (error) {
        return aborted(commits, error);
      }
      const { settled, effects } = applied;
      failpoint("store.group.applied");
      if (settled.every(([, ok]) => !ok)) {
        rollback();
        return { settled, effects: [], fatal: undefined, diskFull: false, held: false };
      }
      try {
        commit.run();
      } catch (error) {
        const reason = storeError("the commit could not be made durable", error);
        const code = reason.code === "DISK_FULL" ? "DISK_FULL" : "STORE_FAILED";
        const failure = new AppError(code, reason.message, { cause: error, details: reason.details });
        try {
          rollback();
        } catch {
          // The disk has failed; the group is rejected and nothing is written any more.
        }
        return { settled: rejected(commits, failure), effects: [], fatal: failure, diskFull: code === "DISK_FULL", held: false };
      }
      failpoint("store.group.committed");
      return { settled, effects, fatal: undefined, diskFull: false, held: false };
    },
  };
}
