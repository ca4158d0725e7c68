import type { DatabaseSync, StatementSync } from "node:sqlite";
import { messageOf, systemCode } from "../../base/errors.ts";
import type { ProjectionProblem } from "../projection/index.ts";
import { lookAt, type Locations } from "./locations.ts";
import { unsyncedTransaction } from "../sqlite/connection.ts";
import { newRecord, recognise, recordOf, saveRecord } from "./record.ts";

export interface StateDeps {
  readonly db: DatabaseSync;
  readonly sql: (text: string) => StatementSync;
  readonly stateDir: string;
  readonly locations: Locations;
}

/** True when the file contains something unknown here. */
export function isForeign({ db, sql, stateDir }: StateDeps, path: string): boolean {
  const stat = lookAt(path);
  if (!stat?.isFile()) return false;
  const record = recordOf(sql, path);
  if (record) {
    const known = recognise(record, stat);
    if (known && known !== record) unsyncedTransaction(db, () => saveRecord(sql, known));
    return known === undefined;
  }
  const name = path.startsWith(`${stateDir}/`) ? path.slice(stateDir.length + 1) : path;
  const imported = sql("SELECT 1 FROM imports WHERE source IN (?, ?) AND state = 'done' AND size = ? AND mtime = ?");
  if (imported.get(name, path, stat.size, Math.trunc(stat.mtimeMs)) === undefined) return true;
  // Imported by an earlier version of this program, and unchanged since.
  unsyncedTransaction(db, () => saveRecord(sql, { ...newRecord(sql, path), size: stat.size, mtime: stat.mtimeMs }));
  return false;
}

/** True when the file cannot match what the database would write. */
export function isStale({ sql, locations }: StateDeps, path: string): boolean {
  const record = lookAt(path) ? recordOf(sql, path) : undefined;
  const agents = sql("SELECT agent_id AS id, n FROM session_counts WHERE n > 0").all();
  let [count, newest] = [0, -1];
  for (const { id, n } of agents.filter((agent) => locations.pathOf(String(agent["id"])) === path)) {
    count += Number(n);
    newest = Math.max(newest, Number(sql("SELECT max(updated_at) AS at FROM session_list WHERE agent_id = ?").get(String(id))?.["at"] ?? -1));
  }
  return record ? record.sessions !== count || record.newest !== newest : count > 0;
}

/** Problems with files. They have no further effect: the database has everything. */
export interface FileProblems {
  note(path: string, problem: string | undefined): void;
  /** Runs work on a file and records its problems. A database error throws. */
  attempt<T>(path: string, work: () => T): T | undefined;
  list(): readonly ProjectionProblem[];
}

export function createFileProblems(now: () => number, log: (message: string, details: Readonly<Record<string, unknown>>) => void): FileProblems {
  const problems = new Map<string, ProjectionProblem>();
  function note(path: string, problem: string | undefined): void {
    if (problem === undefined) {
      problems.delete(path);
      return;
    }
    if (problems.get(path)?.problem !== problem) log("sessions.json is behind the database", { path, problem });
    problems.set(path, { file: path, problem, at: now() });
  }
  return {
    note,
    attempt(path, work) {
      try {
        return work();
      } catch (error) {
        if (systemCode(error) === "ERR_SQLITE_ERROR") throw error;
        note(path, messageOf(error));
        return undefined;
      }
    },
    list: () => [...problems.values()],
  };
}
