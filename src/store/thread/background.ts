import type { DatabaseSync } from "node:sqlite";
import type { AppError } from "../../base/errors.ts";
import type { MaintenanceReport } from "../retention.ts";
import { createCheckpoints, type CheckpointsDeps } from "./checkpoints.ts";
import { storeError } from "../sqlite/failure.ts";
import { createMaintenance, type MaintenanceDeps } from "./maintenance.ts";
import type { ControlRequest } from "../messages.ts";
import { createSessionIndexes } from "./session-indexes.ts";

type MaintainRequest = Extract<ControlRequest, { type: "maintain" }>;
type Done = (error: AppError | undefined, report?: MaintenanceReport) => void;

/** Low-priority work, in steps of a few milliseconds. */
export interface Background {
  /** Called after each group was acknowledged, with its number of commits. */
  readonly committed: (commits: number) => void;
  /** Called after background work wrote something. */
  readonly wrote: () => void;
  /** Does one step; true when there is more to do at once. */
  readonly step: () => boolean;
  /** True when there is something to do at once. */
  waiting(): boolean;
  maintain(request: MaintainRequest, done: Done): void;
  whenImported(done: () => void): void;
  /** Continues with more import steps when the current ones are done. */
  importMore(steps: Iterator<unknown>): void;
  /** Moves the log into the database. `done` gets the error, if any. */
  readonly checkpoint: (truncate: boolean, done: (error: AppError | undefined) => void) => void;
}

export interface BackgroundDeps extends CheckpointsDeps {
  readonly db: DatabaseSync;
  readonly files: MaintenanceDeps["files"];
  /** Steps of an unfinished import. */
  readonly importing: Iterator<unknown> | undefined;
  /** Called when the import is done. */
  readonly imported: () => void;
}

interface Maintaining {
  readonly request: MaintainRequest;
  readonly done: Done;
  readonly until: number;
  readonly work: ReturnType<typeof createMaintenance>;
}

/** Indexes over sessions wait until well after the start, and let other work run between two steps. */
const INDEX_FIRST_MS = 10_000;
const INDEX_NEXT_MS = 4;
/** Delay while the log is being moved. */
const INDEX_WAIT_MS = 100;

/** Keeps the indexes over sessions up to date, on a timer that runs only while there is something to do. */
function createIndexing(deps: BackgroundDeps, stepped: () => boolean): { committed(commits: number): void; catchUp(): void } {
  const index = createSessionIndexes(deps.db, deps.sql);
  /** Delay of the current timer; a timer overtaken by a shorter one does nothing. */
  let armed: { readonly ms: number } | undefined;
  function arm(ms: number): void {
    if (armed && armed.ms <= ms) return;
    const mine = { ms };
    armed = mine;
    deps.later(ms, () => {
      if (armed !== mine) return;
      armed = undefined;
      if (!index.due()) return;
      index.step();
      arm(stepped() ? INDEX_NEXT_MS : INDEX_WAIT_MS);
    });
  }
  arm(INDEX_FIRST_MS);
  return {
    committed(commits) {
      if (index.committed(commits)) arm(INDEX_FIRST_MS);
    },
    catchUp() {
      index.catchUp();
      arm(INDEX_NEXT_MS);
    },
  };
}

/** Runs one job after the other. */
function* chain(...parts: readonly Iterator<unknown>[]): Generator<void> {
  for (const part of parts) while (part.next().done !== true) yield;
}

export function createBackground(deps: BackgroundDeps): Background {
  const maintaining: Maintaining[] = [];
  const awaitingImport: (() => void)[] = [];
  const cursor = { tid: 0 };
  /** False while maintenance waits for the log to be moved. */
  let mayGoOn = true;
  const log = createCheckpoints({
    ...deps,
    resume() {
      mayGoOn = true;
      deps.resume();
    },
  });
  const indexing = createIndexing(deps, log.swept);
  let importing = deps.importing;

  /** An interrupted import is not reported as done: the next start continues it. */
  function importStep(): void {
    let through = true;
    try {
      through = importing?.next().done === true;
      if (through) deps.imported();
    } finally {
      if (through) {
        importing = undefined;
        for (const done of awaitingImport.splice(0)) done();
      }
    }
  }

  function maintainStep(): void {
    const current = maintaining[0];
    if (!current || !mayGoOn) return;
    try {
      const through = current.work.steps.next().done === true;
      mayGoOn = log.swept();
      if (!through && (performance.now() < current.until || !current.work.canStop())) return;
      maintaining.shift();
      current.done(undefined, current.work.report(through));
    } catch (error) {
      maintaining.shift();
      current.done(storeError("maintenance stopped", error));
      throw error;
    }
  }

  const waiting = (): boolean => importing !== undefined || (mayGoOn && maintaining.length > 0);

  return {
    waiting,
    committed(commits) {
      log.committed(commits);
      indexing.committed(commits);
    },
    wrote: () => log.committed(1),
    checkpoint: log.checkpoint,
    step() {
      if (importing) importStep();
      else maintainStep();
      return waiting();
    },
    maintain(request, done) {
      indexing.catchUp();
      maintaining.push({
        request,
        done,
        until: performance.now() + request.budgetMs,
        work: createMaintenance({ ...deps, cursor }, request.now, request.policy),
      });
    },
    importMore(steps) {
      const first = importing;
      importing = first ? chain(first, steps) : steps;
    },
    whenImported(done) {
      if (importing) awaitingImport.push(done);
      else done();
    },
  };
}
