import { closeSync, existsSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { messageOf } from "../../base/errors.ts";
import { syncFolder } from "../../base/files.ts";
import { importState } from "../import/index.ts";
import { copyTable, tablesOf } from "./copy.ts";
import { damagedFolder, finishSalvage, SALVAGED, syncFile, UNFINISHED } from "./swap.ts";
import { completeTranscripts } from "./transcripts.ts";
import type { SalvagedTable, SalvageOptions, SalvageReport } from "./types.ts";

/** Opens a damaged file for reading. Undefined when SQLite does not recognize a database. */
function openDamaged(file: string): { readonly db: DatabaseSync } | { readonly why: string } {
  if (!existsSync(file)) return { why: "the file does not exist" };
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, { readOnly: true });
    db.exec("PRAGMA cell_size_check = ON");
    const tables = db.prepare("SELECT count(*) AS n FROM sqlite_schema").get();
    if (Number(tables?.["n"]) === 0) throw new Error("it holds no tables");
    return { db };
  } catch (error) {
    db?.close();
    return { why: messageOf(error) };
  }
}

function findingsOf(db: DatabaseSync): string[] {
  try {
    const rows = db
      .prepare("PRAGMA integrity_check(100)")
      .all()
      .map((row) => String(row["integrity_check"]));
    return rows.filter((text) => text !== "ok");
  } catch (error) {
    return [messageOf(error)];
  }
}

/** Sources whose rows were read from the database are not imported from their old files again: those are older. */
function forgetOldSources(db: DatabaseSync, options: SalvageOptions, tables: readonly SalvagedTable[]): void {
  const copied = (name: string): boolean => tables.some(({ table, copied }) => table === name && copied > 0);
  const done = db.prepare("INSERT OR REPLACE INTO imports (source, size, mtime, state, detail, at) VALUES (?, 0, 0, 'done', '{\"salvaged\":true}', ?)");
  const sources = [
    ["cron_jobs", ["cron/jobs.json"]],
    ["devices", ["devices/paired.json", "devices/pending.json"]],
    ["subagents", ["subagents/runs.json"]],
  ] as const;
  for (const [table, files] of sources) if (copied(table)) for (const file of files) done.run(file, options.now());
  if (!copied("sessions")) return;
  const agents = db
    .prepare("SELECT DISTINCT agent_id FROM sessions")
    .all()
    .map((row) => `agents/${String(row["agent_id"])}/sessions/sessions.json`);
  for (const source of [...agents, "sessions/sessions.json"]) done.run(source, options.now());
}

/** Imports from the state folder what the database no longer has. */
function importMissing(db: DatabaseSync, options: SalvageOptions): number {
  db.exec(`DELETE FROM imports WHERE source LIKE '%.jsonl' AND coalesce(json_extract(detail, '$.file'), source) NOT IN (SELECT file FROM transcripts)`);
  // Sessions that the damaged database lost are imported from the index files: these are at most some seconds older.
  for (const { name } of db.prepare("SELECT name FROM sqlite_schema WHERE name IN ('session_files', 'session_projected')").all())
    db.exec(`DELETE FROM ${String(name)}`);
  const steps = importState(db, { stateDir: options.stateDir, now: options.now, log: () => {} });
  for (let next = steps.next(); ; next = steps.next()) if (next.done) return next.value.entries;
}

/** A transcript without a session gets a key of its own, so that it can be found. */
function makeSessions(db: DatabaseSync): number {
  const lost = db
    .prepare(
      `SELECT agent_id, session_id, file, created_at, (SELECT max(ts) FROM transcript_entries e WHERE e.tid = t.tid) AS last
       FROM transcripts t WHERE archived_at IS NULL AND session_id NOT IN (SELECT session_id FROM sessions)`,
    )
    .all();
  const insert = db.prepare("INSERT OR IGNORE INTO sessions (key, agent_id, session_id, updated_at, label, version, entry) VALUES (?, ?, ?, ?, ?, 1, ?)");
  let made = 0;
  for (const row of lost) {
    const [agentId, sessionId] = [String(row["agent_id"]), String(row["session_id"])];
    const updatedAt = Number(row["last"] ?? row["created_at"]);
    const label = `Recovered ${sessionId}`;
    const entry = JSON.stringify({ sessionId, updatedAt, sessionFile: row["file"], label });
    made += Number(insert.run(`agent:${agentId}:recovered:${sessionId}`, agentId, sessionId, updatedAt, label, entry).changes);
  }
  return made;
}

function build(fresh: DatabaseSync, options: SalvageOptions): Omit<SalvageReport, "folder" | "reason"> & { readonly why?: string } {
  fresh.exec("PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF");
  options.prepare(fresh);
  const damaged = openDamaged(options.file);
  const tables: SalvagedTable[] = [];
  let findings = "why" in damaged ? [damaged.why] : [];
  if ("db" in damaged) {
    try {
      findings = findingsOf(damaged.db);
      for (const table of tablesOf(fresh)) tables.push(copyTable(damaged.db, fresh, table));
    } finally {
      damaged.db.close();
    }
  }
  const readable = tables.some(({ copied }) => copied > 0);
  if (readable) forgetOldSources(fresh, options, tables);
  const filled = completeTranscripts(fresh, options);
  const imported = importMissing(fresh, options);
  const lostSessions = !readable || tables.some(({ table, unreadable, refused }) => table === "sessions" && unreadable.length + refused > 0);
  const sessionsFromFiles = lostSessions ? makeSessions(fresh) : 0;
  return { readable, findings, tables, linesFromFiles: filled + imported, sessionsFromFiles, ...("why" in damaged ? { why: damaged.why } : {}) };
}

/**
 * Sets a damaged database aside and replaces it by a new one with everything that could be read, completed from the transcript files.
 * Nothing is deleted. The damaged file stays in place until the new one is complete and on disk: after a kill at any point, the next
 * call starts over or continues.
 */
export function salvage(options: SalvageOptions): SalvageReport {
  const { file, stateDir } = options;
  const ended = finishSalvage(file, stateDir);
  if (ended !== undefined) return JSON.parse(readFileSync(join(ended, "report.json"), "utf8"));
  const folder = damagedFolder(stateDir, options.now());
  const unfinished = join(folder, UNFINISHED);
  closeSync(openSync(unfinished, "wx", 0o600));
  const fresh = new DatabaseSync(unfinished);
  let built: ReturnType<typeof build>;
  try {
    built = build(fresh, options);
    fresh.close();
  } catch (error) {
    fresh.close();
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  const { why, ...rest } = built;
  const reason = options.reason ?? why ?? "unknown";
  const report: SalvageReport = { folder, reason, ...rest };
  writeFileSync(join(folder, "reason.txt"), `${reason}\n`, { mode: 0o600 });
  writeFileSync(join(folder, "report.json"), `${JSON.stringify(report, null, 2)}\n`, { mode: 0o600 });
  syncFile(unfinished);
  renameSync(unfinished, join(folder, SALVAGED));
  syncFolder(folder);
  finishSalvage(file, stateDir);
  return report;
}
