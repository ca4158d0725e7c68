import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ProjectionProblem } from "../projection/index.ts";
import type { CommitRequest } from "../sqlite/messages.ts";
import { createLocations, lookAt } from "./locations.ts";
import { createSchedule } from "./schedule.ts";
import { createFileProblems, isForeign, isStale } from "./state.ts";
import type * as takingIn from "./take-in.ts";
import type { TouchedSession } from "./take-in.ts";
import { writeIndexes, type WriteResult } from "./write.ts";

/** Between two steps of a write others have their turn. */
const NEXT_MS = 4;
/** How long closing waits for a last write. */
const CLOSE_MS = 10_000;

export interface SessionIndexDeps {
  readonly db: DatabaseSync;
  readonly sql: (text: string) => StatementSync;
  readonly stateDir: string;
  /** Absolute path with `{agentId}` from `session.store`; the documented place without it. */
  readonly template: string | undefined;
  readonly now: () => number;
  readonly log: (message: string, details?: Readonly<Record<string, unknown>>) => void;
  readonly later: (ms: number, fn: () => void) => unknown;
  /** Called after something was written to the database. */
  readonly wrote: () => void;
  /** Called when sessions were taken in while the store is in use. */
  readonly takenIn: (touched: readonly TouchedSession[]) => void;
}

/**
 * The `sessions.json` of each agent: the documented list of sessions, for other programs. It follows the database, a little later. What another program
 * wrote to it is taken in at the start, and before it would be overwritten.
 */
export interface SessionIndex {
  /** Takes in what was written while no gateway ran. Looks at sizes and times only, unless they differ. */
  open(): Promise<readonly TouchedSession[]>;
  /** Notes which files have to be written after these commits. Cheap. */
  committed(commits: readonly CommitRequest[]): void;
  problems(): readonly ProjectionProblem[];
  /** Writes what has not been written yet. */
  close(): void;
}

const loadTakeIn = async (): Promise<typeof takingIn> => import("./take-in.ts");

export function createSessionIndex(deps: SessionIndexDeps): SessionIndex {
  const locations = createLocations(deps.stateDir, deps.template, deps.sql);
  const schedule = createSchedule(locations);
  const problems = createFileProblems(deps.now, deps.log);
  const parts = { ...deps, locations };
  let armed = false;
  let writing: ReturnType<typeof writeIndexes> | undefined;
  let closed = false;

  function arm(ms: number): void {
    if (armed || closed) return;
    armed = true;
    deps.later(ms, () => {
      armed = false;
      if (!closed) step();
    });
  }

  function armWhenDue(): void {
    if (schedule.isDue()) arm(schedule.wait());
  }

  /** Does a step of the write that is going on, or begins one. Gives the results with the last step. */
  function advance(): readonly WriteResult[] | undefined {
    if (!writing) {
      const { paths, gone } = schedule.take();
      writing = writeIndexes(parts, paths, gone);
    }
    const next = writing.next();
    if (!next.done) return undefined;
    writing = undefined;
    schedule.settle(next.value);
    for (const { path, problem } of next.value) problems.note(path, problem);
    return next.value;
  }

  function step(): void {
    const results = advance();
    if (!results) return arm(NEXT_MS);
    const foreign = results.filter(({ outcome }) => outcome === "foreign").map(({ path }) => path);
    if (foreign.length === 0) return armWhenDue();
    void loadTakeIn().then((module) => deps.later(0, () => takeInNow(module, foreign)));
  }

  function takeInFile({ takeIn }: typeof takingIn, path: string): readonly TouchedSession[] {
    const stat = lookAt(path);
    const taken = stat && problems.attempt(path, () => takeIn(deps, path, locations.all().get(path) ?? "main", stat));
    if (taken) problems.note(path, taken.problem);
    return taken?.touched ?? [];
  }

  /** While the store is in use, what is held of sessions in memory has to be read again. */
  function takeInNow(module: typeof takingIn, paths: readonly string[]): void {
    if (closed) return;
    const touched = paths.flatMap((path) => takeInFile(module, path));
    if (touched.length > 0) deps.takenIn(touched);
    armWhenDue();
  }

  return {
    async open() {
      const paths = [...locations.all().keys()];
      const foreign = paths.filter((path) => problems.attempt(path, () => isForeign(parts, path)));
      const module = foreign.length > 0 ? await loadTakeIn() : undefined;
      const touched = module ? foreign.flatMap((path) => takeInFile(module, path)) : [];
      for (const path of paths) if (problems.attempt(path, () => isStale(parts, path))) schedule.add(path);
      armWhenDue();
      return touched;
    },
    committed(commits) {
      if (closed) return;
      for (const commit of commits) schedule.committed(commit);
      if (!writing) armWhenDue();
    },
    problems: problems.list,
    close() {
      if (closed) return;
      closed = true;
      const until = performance.now() + CLOSE_MS;
      while ((writing || schedule.isDue()) && performance.now() < until) {
        // What another program wrote is taken in by the next start; a file that could not be written is tried again there.
        for (const { path, outcome } of advance() ?? []) if (outcome === "failed" || outcome === "foreign") schedule.drop(path);
      }
      if (writing) deps.log("there was no time to write sessions.json; it is written at the next start", {});
      writing?.return([]);
    },
  };
}
