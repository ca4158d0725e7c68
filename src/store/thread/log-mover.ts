import { Worker } from "node:worker_threads";

/** How long the thread stays after its last request. */
const IDLE_MS = 5000;

/** A connection per request: none stays open that closing the store would have to wait for. */
const CODE = `
const { workerData, parentPort } = require("node:worker_threads");
const { DatabaseSync } = require("node:sqlite");
parentPort.on("message", () => {
  try {
    const db = new DatabaseSync(workerData.file, { timeout: 0 });
    try {
      db.exec("PRAGMA wal_autocheckpoint = 0");
      db.prepare("PRAGMA wal_checkpoint(PASSIVE)").get();
    } finally {
      db.close();
    }
    parentPort.postMessage({});
  } catch (error) {
    parentPort.postMessage({ problem: { message: error.message, code: error.code, errcode: error.errcode, errstr: error.errstr } });
  }
});
`;

/** Outcome of a request: moved, failed with SQLite's error, or not tried since there is no thread. */
export type Moved = { readonly error?: Error; readonly unavailable?: boolean };

/**
 * Moves the log into the database in a thread of its own. Background work fills the log quickly, and moving it syncs the database: on a slow disk
 * every
 * request to the store would wait for that.
 */
export interface LogMover {
  move(done: (moved: Moved) => void): void;
}

export function createLogMover(file: string): LogMover {
  let worker: Worker | undefined;
  let waiting: ((moved: Moved) => void) | undefined;
  let idle: NodeJS.Timeout | undefined;

  function settle(moved: Moved): void {
    const done = waiting;
    waiting = undefined;
    done?.(moved);
  }

  function start(): Worker {
    const started = new Worker(CODE, { eval: true, workerData: { file }, execArgv: [], resourceLimits: { maxYoungGenerationSizeMb: 1 } });
    started.unref();
    const lost = (): void => {
      if (worker !== started) return;
      worker = undefined;
      settle({ unavailable: true });
    };
    started.on("message", ({ problem }: { readonly problem?: { readonly message: string } }) => {
      idle = setTimeout(() => {
        worker = undefined;
        void started.terminate();
      }, IDLE_MS).unref();
      settle(problem ? { error: Object.assign(new Error(problem.message), problem) } : {});
    });
    started.on("error", lost);
    started.on("exit", lost);
    return started;
  }

  return {
    move(done) {
      clearTimeout(idle);
      waiting = done;
      try {
        worker ??= start();
        worker.postMessage("move");
      } catch {
        settle({ unavailable: true });
      }
    },
  };
}
