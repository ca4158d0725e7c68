import { existsSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { AppError, messageOf, systemCode } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { hasCompressed } from "../projection/compressed-file.ts";
import { isTranscriptFile } from "../projection/transcript-path.ts";
import { transaction } from "../projection/rows.ts";
import { importDatabase, stateDatabases, writeTranscript, writeTranscripts } from "./databases.ts";
import { progressOf, recordProgress, sourcesIn } from "./progress.ts";
import { importCronJobs, importDevices, importPairingRequests, importSubagentRuns } from "./records.ts";
import { importIndex } from "./session-index.ts";
import { filesLeft, liveTranscripts, sessionFolders, sourceName } from "./sources.ts";
import { importChunk, type TranscriptSource } from "./transcript.ts";
import type { ImportOptions, ImportProblem, ImportReport, ImportStep } from "./types.ts";

/** Commits of the running gateway wait for a step: this much takes some 100 ms. */
const CHUNK_BYTES = 1024 * 1024;

interface Run {
  readonly db: DatabaseSync;
  readonly options: ImportOptions;
  readonly report: { -readonly [K in keyof ImportReport]: ImportReport[K] } & { problems: ImportProblem[] };
}

function start(db: DatabaseSync, options: ImportOptions): Run {
  return { db, options, report: { sessions: 0, transcripts: 0, entries: 0, cronJobs: 0, devices: 0, subagentRuns: 0, problems: [], left: [] } };
}

function reportProblem(run: Run, source: string, problem: string): void {
  run.report.problems.push({ source, problem });
  run.options.log("import", { source, problem });
}

/** Imports a small file as a whole. Undefined when it does not exist or was imported before. */
function wholeFile(run: Run, kind: ImportStep["kind"], path: string, work: (problem: (text: string) => void) => number): ImportStep | undefined {
  const { db, options } = run;
  const stat = statSync(path, { throwIfNoEntry: false });
  const source = sourceName(options.stateDir, path);
  if (!stat || progressOf(db, source)?.state === "done") return undefined;
  const problems: string[] = [];
  let rows = 0;
  try {
    rows = transaction(db, () => {
      const written = work((text) => problems.push(text));
      recordProgress(db, source, stat, { state: "done", detail: { rows: written } }, options.now());
      return written;
    });
    for (const text of problems) reportProblem(run, source, text);
  } catch (error) {
    if (db.isTransaction || systemCode(error) === "ERR_SQLITE_ERROR") throw error;
    const problem = messageOf(error);
    recordProgress(db, source, stat, { state: "failed", detail: { problem } }, options.now());
    reportProblem(run, source, `left unchanged and not imported: ${problem}`);
  }
  failpoint("import.file.committed");
  return { kind, source, rows, done: true };
}

/** True for an index that this program writes: changes by other programs are imported by `session-index`. */
function isOwnIndex(db: DatabaseSync, path: string): boolean {
  const known = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'session_files'").get();
  return known !== undefined && db.prepare("SELECT 1 FROM session_files WHERE path = ?").get(path) !== undefined;
}

/** What a newer version has in databases instead of files. A database that another program has locked is tried again at the next start. */
function* databases(run: Run): Generator<ImportStep> {
  const { db, options, report } = run;
  for (const source of stateDatabases(options.stateDir)) {
    const context = { stateDir: options.stateDir, now: options.now };
    const step = wholeFile(run, "sessions", source.path, (problem) => {
      const { sessions, cronJobs, devices } = importDatabase(db, source, { ...context, problem });
      report.sessions += sessions;
      report.cronJobs += cronJobs;
      report.devices += devices;
      return sessions + cronJobs + devices;
    });
    if (step) yield step;
  }
}

/** The transcripts in databases of agents become files, which are imported like others. */
function* transcriptFiles(run: Run): Generator<ImportStep> {
  const { db, options } = run;
  const isKnown = (file: string): boolean => db.prepare("SELECT 1 FROM transcripts WHERE file = ?").get(file) !== undefined;
  for (const { path, agentId } of stateDatabases(options.stateDir)) {
    const source = `${sourceName(options.stateDir, path)}#transcripts`;
    if (agentId === undefined || progressOf(db, source)?.state === "done") continue;
    try {
      for (const { file, rows } of writeTranscripts({ stateDir: options.stateDir, path, agentId }, isKnown))
        yield { kind: "transcript", source: file, rows, done: false };
      recordProgress(db, source, statSync(path), { state: "done", detail: {} }, options.now());
    } catch (error) {
      if (systemCode(error) === "ERR_SQLITE_ERROR") throw error;
      const problem = messageOf(error);
      recordProgress(db, source, statSync(path), { state: "failed", detail: { problem } }, options.now());
      reportProblem(run, source, `left unchanged and not imported: ${problem}`);
    }
  }
}

function* indexes(run: Run): Generator<ImportStep> {
  const { db, options, report } = run;
  const standard = sessionFolders(options.stateDir).map(({ agentId, path, legacy }) => ({ agentId, legacy, path: join(path, "sessions.json") }));
  const moved = (options.indexes ?? []).map((index) => ({ ...index, legacy: false }));
  for (const index of [...standard, ...moved]) {
    if (isOwnIndex(db, index.path)) continue;
    const step = wholeFile(run, "sessions", index.path, (problem) => importIndex(db, { ...index, stateDir: options.stateDir, now: options.now, problem }));
    if (!step) continue;
    report.sessions += step.rows;
    yield step;
  }
}

function* records(run: Run): Generator<ImportStep> {
  const { db, options, report } = run;
  const files = [
    ["cron", "cron/jobs.json", importCronJobs, "cronJobs"],
    ["devices", "devices/paired.json", importDevices, "devices"],
    ["devices", "devices/pending.json", importPairingRequests, undefined],
    ["subagents", "subagents/runs.json", importSubagentRuns, "subagentRuns"],
  ] as const;
  for (const [kind, file, read, count] of files) {
    const path = join(options.stateDir, file);
    const step = wholeFile(run, kind, path, (problem) => read(db, { path, now: options.now, problem }));
    if (!step) continue;
    if (count) report[count] += step.rows;
    yield step;
  }
}

/** Unfinished transcripts and those named by an index come first, newest session first; then the files that no index names. */
function transcriptsToDo(run: Run): TranscriptSource[] {
  const { db, options } = run;
  const base = { now: options.now, chunkBytes: options.chunkBytes ?? CHUNK_BYTES };
  const begun = sourcesIn(db, "pending", "partial").map((source) => fromProgress(run, source));
  const rank = new Map<string, number>();
  const owners = new Map<string, string>();
  const known = db.prepare("SELECT agent_id, session_id, json_extract(entry, '$.sessionFile') AS file FROM sessions ORDER BY updated_at DESC").all();
  for (const row of known) {
    const file = row["file"] === null ? `agents/${String(row["agent_id"])}/sessions/${String(row["session_id"])}.jsonl` : String(row["file"]);
    rank.set(file, rank.size);
    owners.set(file, String(row["session_id"]));
  }
  const skip = new Set(sourcesIn(db, "done", "pending", "partial"));
  for (const row of db.prepare("SELECT file FROM transcripts").all()) skip.add(String(row["file"]));
  const found = sessionFolders(options.stateDir).flatMap(({ agentId, path }) =>
    liveTranscripts(path).map((name) => ({ agentId, path: join(path, name), file: sourceName(options.stateDir, join(path, name)) })),
  );
  const fresh = found
    .filter(({ file }) => isTranscriptFile(file) && !skip.has(file))
    .map((source) => ({ ...base, ...source, source: source.file, sessionId: owners.get(source.file) }))
    .sort((a, b) => (rank.get(a.file) ?? Infinity) - (rank.get(b.file) ?? Infinity) || 0);
  return [...begun, ...fresh];
}

function fromProgress(run: Run, source: string): TranscriptSource {
  const { db, options } = run;
  const detail = progressOf(db, source)?.detail ?? {};
  const file = String(detail["file"]);
  const row = db.prepare("SELECT agent_id, session_id FROM transcripts WHERE file = ?").get(file);
  return {
    path: isAbsolute(source) ? source : join(options.stateDir, source),
    source,
    file,
    agentId: String(row?.["agent_id"] ?? detail["agentId"]),
    sessionId: String(row?.["session_id"] ?? detail["sessionId"]),
    now: options.now,
    chunkBytes: options.chunkBytes ?? CHUNK_BYTES,
  };
}

/** Imports one file to its end, a transaction at a time. An unreadable file is reported and tried again at the next start. */
function* transcript(run: Run, source: TranscriptSource): Generator<ImportStep> {
  const { db, report } = run;
  for (let done = false; !done;) {
    let rows = 0;
    try {
      const chunk = importChunk(db, source);
      ({ rows, done } = chunk);
      for (const problem of chunk.problems) reportProblem(run, source.source, problem);
    } catch (error) {
      if (systemCode(error) === "ERR_SQLITE_ERROR") throw error;
      reportProblem(run, source.source, `left unchanged and not imported: ${messageOf(error)}`);
      return;
    }
    failpoint("import.file.committed");
    report.entries += rows;
    if (done) report.transcripts += 1;
    yield { kind: "transcript", source: source.source, rows, done };
  }
}

/**
 * Imports a state folder, one transaction per step: indexes, cron, devices and subagent runs first, so that a gateway can start, then
 * the transcripts. May be interrupted after any step; the next run continues there, in any process. Nothing is imported twice.
 */
export function* importState(db: DatabaseSync, options: ImportOptions): Generator<ImportStep, ImportReport> {
  const run = start(db, options);
  yield* databases(run);
  yield* indexes(run);
  yield* records(run);
  yield* transcriptFiles(run);
  for (const source of transcriptsToDo(run)) {
    // Between two steps a session may have requested its transcript with `importTranscript`.
    if (progressOf(db, source.source)?.state !== "done") yield* transcript(run, source);
  }
  run.report.left = filesLeft(options.stateDir);
  return run.report;
}

/** The source of the transcript that belongs in `file`; undefined when it is already in the database, or does not exist. */
function sourceFor(run: Run, file: string, sessionId: string | undefined): TranscriptSource | undefined {
  const { db, options } = run;
  const begun = db.prepare("SELECT source FROM imports WHERE state IN ('pending', 'partial') AND json_extract(detail, '$.file') = ?").get(file);
  if (begun) return fromProgress(run, String(begun["source"]));
  const path = join(options.stateDir, file);
  const agentId = /^agents\/([^/]+)\//.exec(file)?.[1] ?? "main";
  if (db.prepare("SELECT 1 FROM transcripts WHERE file = ?").get(file)) return undefined;
  const isThere = existsSync(path) || hasCompressed(path) || writeTranscript({ stateDir: options.stateDir, agentId, file });
  if (!isThere) return undefined;
  return { path, source: file, file, agentId, sessionId, now: options.now, chunkBytes: options.chunkBytes ?? CHUNK_BYTES };
}

/**
 * Imports one transcript completely, now: a session in use must not wait. `file` is its name relative to the state
 * folder. Does nothing when the database has it.
 */
export function importTranscript(db: DatabaseSync, file: string, options: ImportOptions & { readonly sessionId?: string }): ImportReport {
  if (!isTranscriptFile(file)) throw new AppError("INVALID_INPUT", `not the name of a transcript file: ${JSON.stringify(file.slice(0, 200))}`);
  const run = start(db, options);
  const source = sourceFor(run, file, options.sessionId);
  if (source) for (const _ of transcript(run, source)) continue;
  return run.report;
}
