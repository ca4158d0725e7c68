/**
 * State of newer versions of the reference system: databases with the documents that used to be files. Sessions, jobs, devices and paired senders become rows;
 * what other modules read as files (transcripts, logins, command approvals) becomes these files, where they are missing. The databases are only read.
 */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdDecompressSync } from "node:zlib";
import { AppError, messageOf, systemCode } from "../../base/errors.ts";
import { writeAtomic } from "../../base/files.ts";
import { isRecord } from "../../base/records.ts";
import { hasCompressed } from "../projection/compressed-file.ts";
import { archivedName, isPathId, resolveFile, transcriptFile } from "../projection/transcript-path.ts";
import type { Json } from "./loose-json.ts";
import { putCronJobs, putDevices } from "./records.ts";
import { importEntries } from "./session-index.ts";

/** One database. Those of agents hold sessions, the one without an agent everything else. */
export interface StateDatabase {
  readonly path: string;
  readonly agentId: string | undefined;
}

export interface DatabaseContext {
  readonly stateDir: string;
  readonly now: () => number;
  readonly problem: (text: string) => void;
}

export interface DatabaseCounts {
  readonly sessions: number;
  readonly cronJobs: number;
  readonly devices: number;
}

/** A longer event is not a line of a transcript. */
const MAX_EVENT_BYTES = 64 * 1024 * 1024;

const agentDatabase = (stateDir: string, agentId: string): string => join(stateDir, "agents", agentId, "agent", "openclaw-agent.sqlite");

/** The databases of a state folder: the shared one, then one for each agent. */
export function stateDatabases(stateDir: string): StateDatabase[] {
  let agents: string[] = [];
  try {
    agents = readdirSync(join(stateDir, "agents")).filter(isPathId).sort();
  } catch {
    // No agents yet.
  }
  const all = [
    { path: join(stateDir, "state", "openclaw.sqlite"), agentId: undefined },
    ...agents.map((agentId) => ({ path: agentDatabase(stateDir, agentId), agentId })),
  ];
  return all.filter(({ path }) => existsSync(path));
}

type Row = Readonly<Record<string, unknown>>;

/** An error of a database that is read here, so that nobody takes it for one of the store's own. */
function readError(error: unknown): AppError {
  const reason = messageOf(error);
  if (!/locked|busy/.test(reason)) return new AppError("INVALID_INPUT", reason, { cause: error });
  return new AppError("LOCKED", "it is in use by another program, probably another gateway: stop it, then restart this one", { cause: error });
}

function openSource(path: string): DatabaseSync {
  try {
    return new DatabaseSync(path, { readOnly: true });
  } catch (error) {
    throw readError(error);
  }
}

/** Rows of a query; none, with a problem reported, where this version of the database has no such table or column. */
function* rowsOf(source: DatabaseSync, query: string, what: string, problem: (text: string) => void): Generator<Row> {
  try {
    yield* source.prepare(query).iterate();
  } catch (error) {
    if (!/no such (?:table|column)/.test(messageOf(error))) throw readError(error);
    problem(`${what} were not imported: ${messageOf(error)}`);
  }
}

const textOf = (value: unknown): string => (typeof value === "string" ? value.trim() : "");

function json(text: unknown): unknown {
  try {
    return typeof text === "string" ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

const object = (text: unknown): Json => {
  const value = json(text);
  return isRecord(value) ? value : {};
};

/** Writes a file for its owner alone, unless there is one. */
function writeMissing(path: string, content: string): void {
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.import`;
  rmSync(temporary, { force: true });
  writeAtomic(path, content, { mode: 0o600, temporary });
}

function writeDocument(path: string, text: unknown): void {
  const value = json(text);
  if (isRecord(value)) writeMissing(path, `${JSON.stringify(value, null, 2)}\n`);
}

function importSessions(db: DatabaseSync, from: DatabaseSync, { path, agentId }: StateDatabase, context: DatabaseContext): number {
  const source = { ...context, path, agentId: agentId ?? "main", legacy: false };
  const marked: { readonly key: string; readonly pinned: number | null; readonly archived: number | null }[] = [];
  const time = (value: unknown): number | null => (typeof value === "number" ? value : null);
  function* entries(): Generator<readonly [string, Json]> {
    const query = "SELECT session_key, current_session_id, updated_at, entry_json, pinned_at, archived_at FROM session_nodes";
    for (const row of rowsOf(from, query, "sessions", context.problem)) {
      const key = String(row["session_key"]);
      const { sessionFile: _, ...entry }: Json = { sessionId: row["current_session_id"], updatedAt: row["updated_at"], ...object(row["entry_json"]) };
      const [pinned, archived] = [time(row["pinned_at"]), time(row["archived_at"])];
      if (pinned !== null || archived !== null) marked.push({ key, pinned, archived });
      const mode = entry["permissionMode"];
      if (mode !== undefined && mode !== "default")
        context.problem(
          `the session ${JSON.stringify(key)} had the permission mode ${JSON.stringify(mode)}, which this version does not have: limit its agent's tools instead`,
        );
      yield [key, entry];
    }
  }
  const written = importEntries(db, source, entries());
  const mark = db.prepare("INSERT OR IGNORE INTO session_marks (session_key, pinned_at, archived_at) SELECT key, ?, ? FROM sessions WHERE key = ?");
  for (const { key, pinned, archived } of marked) mark.run(pinned, archived, key);
  return written;
}

const KINDS = { schedule: ["at", "every", "cron"], payload: ["agentTurn", "systemEvent"] } as const;

/** What a job asks for that this version does not have. Run in another way, it would do something else than it was made for. */
function unknownIn(job: Json): string | undefined {
  for (const part of ["schedule", "payload"] as const) {
    const value = job[part];
    const kind = isRecord(value) ? value["kind"] : undefined;
    if (!KINDS[part].some((known) => known === kind)) return `${part}.kind ${JSON.stringify(kind)}`;
  }
  const target = job["sessionTarget"];
  return target === "main" || target === "isolated" ? undefined : `sessionTarget ${JSON.stringify(target)}`;
}

/** Jobs of users: what that system schedules for itself (with a declaration's key) stays behind. */
function cronJobs(from: DatabaseSync, problem: (text: string) => void): Json[] {
  const query = "SELECT job_json, state_json, updated_at FROM cron_jobs WHERE declaration_key IS NULL ORDER BY sort_order";
  return [...rowsOf(from, query, "jobs", problem)].flatMap((row) => {
    const { scheduledToolPolicy: _, ...job } = object(row["job_json"]);
    const unknown = unknownIn(job);
    if (unknown === undefined) return [{ updatedAtMs: row["updated_at"], ...job, state: { ...object(row["state_json"]) } }];
    problem(`the job ${JSON.stringify(job["name"] ?? job["id"])} was left out: ${unknown} is not available in this version`);
    return [];
  });
}

const DEVICE_FIELDS = {
  device_id: "deviceId",
  public_key: "publicKey",
  display_name: "displayName",
  platform: "platform",
  client_id: "clientId",
  client_mode: "clientMode",
  role: "role",
  roles_json: "roles",
  scopes_json: "scopes",
  remote_ip: "remoteIp",
  tokens_json: "tokens",
  created_at_ms: "createdAtMs",
  approved_at_ms: "approvedAtMs",
} as const;

function devices(from: DatabaseSync, problem: (text: string) => void): Json[] {
  const fields = Object.entries(DEVICE_FIELDS);
  return [...rowsOf(from, `SELECT ${Object.keys(DEVICE_FIELDS).join(", ")} FROM device_pairing_paired`, "devices", problem)].map((row) =>
    Object.fromEntries(
      fields.flatMap(([column, field]) => {
        const value = column.endsWith("_json") ? json(row[column]) : row[column];
        return value === null || value === undefined ? [] : [[field, value]];
      }),
    ),
  );
}

function importPairedSenders(db: DatabaseSync, from: DatabaseSync, context: DatabaseContext): void {
  const put = db.prepare("INSERT OR IGNORE INTO allow_entries (channel, account, sender, source, added_at) VALUES (?, ?, ?, 'import', ?)");
  for (const row of rowsOf(from, "SELECT channel_key, account_id, entry FROM channel_pairing_allow_entries", "paired senders", context.problem)) {
    const [channel, account, sender] = [textOf(row["channel_key"]).toLowerCase(), textOf(row["account_id"]).toLowerCase(), textOf(row["entry"])];
    if (channel !== "" && sender !== "" && sender !== "*") put.run(channel, account || "default", sender, context.now());
  }
}

function importShared(db: DatabaseSync, from: DatabaseSync, context: DatabaseContext): Omit<DatabaseCounts, "sessions"> {
  const { stateDir, problem } = context;
  importPairedSenders(db, from, context);
  for (const row of rowsOf(from, "SELECT value_json FROM config_machine_state WHERE state_key = 'authProfiles.store'", "logins", problem))
    writeDocument(join(stateDir, "agents", "main", "agent", "auth-profiles.json"), row["value_json"]);
  const identity = "SELECT device_id, public_key_pem, private_key_pem, created_at_ms FROM device_identities WHERE identity_key = 'primary'";
  for (const row of rowsOf(from, identity, "this machine's identity", problem)) {
    const { device_id: deviceId, public_key_pem: publicKeyPem, private_key_pem: privateKeyPem, created_at_ms: createdAtMs } = row;
    writeDocument(join(stateDir, "identity", "device.json"), JSON.stringify({ version: 1, deviceId, publicKeyPem, privateKeyPem, createdAtMs }));
  }
  for (const row of rowsOf(from, "SELECT raw_json FROM exec_approvals_config LIMIT 1", "command approvals", problem))
    writeDocument(join(stateDir, "exec-approvals.json"), row["raw_json"]);
  return { cronJobs: putCronJobs(db, context, cronJobs(from, problem)), devices: putDevices(db, context, devices(from, problem)) };
}

/** Imports a database but for its transcripts, inside the caller's transaction. */
export function importDatabase(db: DatabaseSync, database: StateDatabase, context: DatabaseContext): DatabaseCounts {
  using from = openSource(database.path);
  if (database.agentId === undefined) return { sessions: 0, ...importShared(db, from, context) };
  const file = join(context.stateDir, "agents", database.agentId, "agent", "auth-profiles.json");
  for (const row of rowsOf(from, "SELECT store_json FROM auth_profile_store LIMIT 1", "logins", context.problem)) writeDocument(file, row["store_json"]);
  return { sessions: importSessions(db, from, database, context), cronJobs: 0, devices: 0 };
}

/** One line of a transcript; long events are compressed. */
function lineOf(row: Row): string {
  const { event_json: text, event_zstd: packed } = row;
  return typeof text === "string" ? text : zstdDecompressSync(packed as Uint8Array, { maxOutputLength: MAX_EVENT_BYTES }).toString("utf8");
}

/** A file that appears under a name once it is whole. */
function beginFile(path: string) {
  const temporary = `${path}.import`;
  rmSync(temporary, { force: true });
  const fd = openSync(temporary, "wx", 0o600);
  return {
    write: (line: string): void => void writeSync(fd, `${line}\n`),
    finish(as: string) {
      fsyncSync(fd);
      closeSync(fd);
      renameSync(temporary, as);
    },
    drop() {
      closeSync(fd);
      rmSync(temporary, { force: true });
    },
  };
}

const RESET = /^\{"type":"reset"/;

/**
 * Writes the transcript of a session into `file`. There a conversation that was begun again goes on in the same transcript, behind an event that says so: what
 * is before it becomes an archived file, as after a reset here. Returns the number of lines: 0 when the database has none.
 */
function writeLines(from: DatabaseSync, sessionId: string, { stateDir, file }: { readonly stateDir: string; readonly file: string }): number {
  const path = resolveFile(stateDir, file);
  let part = beginFile(path);
  let header: string | undefined;
  let reset: string | undefined;
  let lines = 0;
  try {
    for (const row of from.prepare("SELECT event_json, event_zstd FROM transcript_events WHERE session_id = ? ORDER BY seq").iterate(sessionId)) {
      const line = lineOf(row);
      header ??= line;
      if (RESET.test(line)) {
        const { id, timestamp } = object(line);
        part.finish(join(stateDir, archivedName(file, "reset", Date.parse(String(timestamp)) || 0)));
        part = beginFile(path);
        part.write(header);
        reset = typeof id === "string" ? id : undefined;
      } else part.write(reset === undefined ? line : line.replace(`"parentId":${JSON.stringify(reset)}`, '"parentId":null'));
      lines += 1;
    }
  } catch (error) {
    part.drop();
    throw systemCode(error) === "ERR_SQLITE_ERROR" ? readError(error) : error;
  }
  if (lines > 0) part.finish(path);
  else part.drop();
  return lines;
}

interface AgentDatabase {
  readonly stateDir: string;
  readonly agentId: string;
}

/** Writes the transcripts that have no file and are not known, one for each step. */
export function* writeTranscripts(
  { stateDir, agentId, path }: AgentDatabase & { readonly path: string },
  isKnown: (file: string) => boolean,
): Generator<{ readonly file: string; readonly rows: number }> {
  using from = openSource(path);
  const problem = (text: string): never => {
    throw new AppError("INVALID_INPUT", text);
  };
  for (const { session_id: id } of rowsOf(from, "SELECT session_id FROM session_windows ORDER BY updated_at DESC", "transcripts", problem)) {
    if (typeof id !== "string" || !isPathId(id)) continue;
    const file = transcriptFile(agentId, id);
    if (isKnown(file) || existsSync(join(stateDir, file)) || hasCompressed(join(stateDir, file))) continue;
    yield { file, rows: writeLines(from, id, { stateDir, file }) };
  }
}

/** Writes one transcript, now. False when there is no such database or it does not have it. */
export function writeTranscript({ stateDir, agentId, file }: AgentDatabase & { readonly file: string }): boolean {
  const path = agentDatabase(stateDir, agentId);
  const sessionId = /([^/]+)\.jsonl$/.exec(file)?.[1];
  if (sessionId === undefined || !existsSync(path)) return false;
  using from = openSource(path);
  return writeLines(from, sessionId, { stateDir, file }) > 0;
}
