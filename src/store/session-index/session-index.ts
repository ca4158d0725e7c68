import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { CommitRequest } from "../messages.ts";
import type { ProjectionProblem } from "../projection/index.ts";
import { isTranscriptFile } from "../projection/transcript-path.ts";
import { createLocations, lookAt } from "./locations.ts";
import { createSchedule } from "./schedule.ts";
import { createFileProblems, isForeign, isStale } from "./state.ts";
import type * as takingIn from "./import-changes.ts";
import type { TouchedSession } from "./import-changes.ts";
import { writeIndexes, type WriteResult } from "./write.ts";

/** Between two steps of a write other work runs. */
const NEXT_MS = 4;
/** How long closing waits for a last write. */
const CLOSE_MS = 10_000;

export interface SessionIndexDeps {
  readonly db: DatabaseSync;
  readonly sql: (text: string) => StatementSync;
  readonly stateDir: string;
  /** Absolute path with `{agentId}` from `session.store`; without it the documented location. */
  readonly template: string | undefined;
  readonly now: () => number;
  readonly log: (message: string, details?: Readonly<Record<string, unknown>>) => void;
  readonly later: (ms: number, fn: () => void) => unknown;
  /** Called after something was written to the database. */
  readonly wrote: () => void;
  /** Called when sessions were imported while the store is in use. */
  readonly imported: (touched: readonly TouchedSession[]) => void;
}

/**
 * The `sessions.json` of each agent: the documented list of sessions, for other programs. It follows the database with a short delay. Changes by
 * other
 * programs are imported at the start, and before the file would be overwritten.
 */
export interface SessionIndex {
  /** Imports changes made while no gateway ran. Checks only sizes and times, unless they differ. */
  open(): Promise<readonly TouchedSession[]>;
  /** Marks the files that these commits change. Cheap. */
  committed(commits: readonly CommitRequest[]): void;
  problems(): readonly ProjectionProblem[];
  /** Writes pending changes. */
  close(): void;
}

const loadImport = async (): Promise<typeof takingIn> => import("./import-changes.ts");

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

  /** Does one step of the current write, or starts one. Returns the results with the last step. */
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
    void loadImport().then((module) => deps.later(0, () => takeInNow(module, foreign)));
  }

  function takeInFile({ importChanges }: typeof takingIn, path: string): readonly TouchedSession[] {
    const stat = lookAt(path);
    const taken = stat && problems.attempt(path, () => importChanges(deps, path, locations.all().get(path) ?? "main", stat));
    if (taken) problems.note(path, taken.problem);
    return taken?.touched ?? [];
  }

  /** While the store is in use, cached sessions have to be read again. */
  function takeInNow(module: typeof takingIn, paths: readonly string[]): void {
    if (closed) return;
    const touched = paths.flatMap((path) => takeInFile(module, path));
    if (touched.length > 0) deps.imported(touched);
    armWhenDue();
  }

  return {
    async open() {
      const paths = [...locations.all().keys()];
      const foreign = paths.filter((path) => problems.attempt(path, () => isForeign(parts, path)));
      const module = foreign.length > 0 ? await loadImport() : undefined;
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
        // Changes by another program are imported at the next start, where failed writes are tried again, too.
        for (const { path, outcome } of advance() ?? []) if (outcome === "failed" || outcome === "foreign") schedule.drop(path);
      }
      if (writing) deps.log("there was no time to write sessions.json; it will be written at the next start", {});
      writing?.return([]);
    },
  };
}

interface FollowDeps {
  readonly sql: (text: string) => StatementSync;
  readonly stateDir: string;
  readonly now: () => number;
  /** Compares a transcript with its file and imports added lines. */
  readonly importLines: (file: string) => void;
}

/** Names of archived transcripts, by their former name. */
function archivedIn(folder: string): Map<string, string> {
  const found = new Map<string, string>();
  try {
    for (const name of readdirSync(folder).sort()) {
      const live = /^(.+\.jsonl)\.(?:reset|deleted)\./.exec(name)?.[1];
      if (live !== undefined) found.set(live, name);
    }
  } catch {
    // The folder does not exist.
  }
  return found;
}

/** Updates the transcripts of sessions that another program used: imports added lines, and follows archived transcripts to their new names. */
export function* followTranscripts({ sql, stateDir, now, importLines }: FollowDeps, touched: readonly TouchedSession[]): Generator<void> {
  const folders = new Map<string, Map<string, string>>();
  for (const { agentId, sessionId } of touched) {
    for (const { tid, file } of sql("SELECT tid, file FROM transcripts WHERE agent_id = ? AND session_id = ? AND archived_at IS NULL").all(
      agentId,
      sessionId,
    )) {
      const live = String(file);
      if (existsSync(join(stateDir, live))) {
        importLines(live);
        continue;
      }
      const folder = dirname(live);
      const archives = folders.get(folder) ?? archivedIn(join(stateDir, folder));
      folders.set(folder, archives);
      const name = archives.get(basename(live));
      const archived = name === undefined ? undefined : `${folder}/${name}`;
      if (archived === undefined || !isTranscriptFile(archived)) continue;
      const { changes } = sql("UPDATE OR IGNORE transcripts SET file = ?, archived_at = ? WHERE tid = ?").run(archived, now(), Number(tid));
      if (Number(changes) > 0) importLines(archived);
    }
    yield;
  }
}
