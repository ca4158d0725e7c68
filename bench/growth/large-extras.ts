/** What a gateway that has run for long has beside sessions and turns: jobs and their runs, approvals, sub-agents, senders, deleted sessions, a log, files. */
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export interface LargeExtras {
  /** Scheduled jobs, each with `runsPerJob` runs. */
  readonly jobs: number;
  readonly runsPerJob: number;
  readonly approvals: number;
  readonly subagents: number;
  /** Senders that a channel allows. */
  readonly senders: number;
  readonly deleted: number;
  readonly logBytes: number;
  /** Files of the workspace, 200 in a folder. */
  readonly files: number;
  /** Notes of the agent, one for each day. */
  readonly notes: number;
  /** When the newest of it happened. Default now. */
  readonly now?: number | undefined;
}

const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;
const PER_FOLDER = 200;

const idOf = (kind: string, n: number): string => `${kind}-${n.toString(16).padStart(8, "0")}`;

function jobOf(n: number, now: number): string {
  return JSON.stringify({
    id: idOf("job", n),
    name: `Job ${n}`,
    description: `Looks after number ${n}`,
    enabled: n % 10 !== 9,
    createdAtMs: now - DAY_MS,
    updatedAtMs: now - DAY_MS,
    schedule: { kind: "cron", expr: `${n % 60} ${n % 24} * * *`, tz: "UTC" },
    sessionTarget: "isolated",
    wakeMode: "next-heartbeat",
    payload: { kind: "agentTurn", message: `Summarize what happened with number ${n}.` },
    delivery: { mode: "none" },
    state: { nextRunAtMs: now + DAY_MS, lastRunAtMs: now - MINUTE_MS, lastStatus: "ok", lastDurationMs: 900 },
  });
}

function addJobs(db: DatabaseSync, { jobs, runsPerJob }: LargeExtras, now: number): void {
  const job = db.prepare("INSERT INTO cron_jobs (id, agent_id, enabled, next_run_at, version, updated_at, job) VALUES (?, 'main', ?, ?, 1, ?, ?)");
  const slot = db.prepare(
    "INSERT INTO cron_slots (job_id, scheduled_at, state, owner, claimed_at, finished_at, status, detail) VALUES (?, ?, 'finished', 'bench', ?, ?, ?, ?)",
  );
  for (let n = 0; n < jobs; n += 1) {
    job.run(idOf("job", n), n % 10 === 9 ? 0 : 1, now + DAY_MS, now - DAY_MS, jobOf(n, now));
    for (let run = 0; run < runsPerJob; run += 1) {
      const at = now - (run + 1) * 5 * MINUTE_MS;
      const status = run % 20 === 0 ? "error" : "ok";
      slot.run(idOf("job", n), at, at, at + 900, status, JSON.stringify({ durationMs: 900, summary: `Number ${n} is as it was. `.repeat(8) }));
    }
  }
}

function addApprovals(db: DatabaseSync, { approvals }: LargeExtras, now: number): void {
  const approval = db.prepare(`INSERT INTO approvals (id, kind, session_key, agent_id, request, state, decision, decided_by, created_at, expires_at, decided_at)
    VALUES (?, 'exec', ?, 'main', ?, 'decided', 'allow-once', 'someone', ?, ?, ?)`);
  for (let n = 0; n < approvals; n += 1) {
    const at = now - n * MINUTE_MS;
    const request = { command: `echo ${"word ".repeat(200)}${n}`, cwd: "/", host: "gateway", security: "allowlist", ask: "always", agentId: "main" };
    const key = `agent:main:webchat:direct:${n}`;
    approval.run(idOf("approval", n), key, JSON.stringify({ ...request, sessionKey: key }), at - 1000, at + MINUTE_MS, at);
  }
}

function addSubagents(db: DatabaseSync, { subagents }: LargeExtras, now: number): void {
  const child =
    db.prepare(`INSERT INTO subagents (run_id, child_session_key, requester_session_key, state, outcome, announced, created_at, started_at, ended_at, data)
    VALUES (?, ?, ?, 'ended', 'ok', 1, ?, ?, ?, ?)`);
  for (let n = 0; n < subagents; n += 1) {
    const at = now - n * 1000;
    const data = {
      task: `Find out about number ${n}. `.repeat(40),
      label: `Number ${n}`,
      agentId: "main",
      depth: 1,
      maxDepth: 2,
      cleanup: "keep",
      runTimeoutSeconds: 0,
      requesterOrigin: { channel: "webchat" },
      chain: { root: idOf("run", n), generation: 0 },
    };
    child.run(
      idOf("run", n),
      `agent:main:subagent:${idOf("child", n)}`,
      `agent:main:webchat:direct:${n % 300}`,
      at - 2000,
      at - 1900,
      at,
      JSON.stringify(data),
    );
  }
}

function addSenders(db: DatabaseSync, { senders, deleted }: LargeExtras, now: number): void {
  const sender = db.prepare("INSERT INTO allow_entries (channel, account, sender, source, added_at) VALUES ('telegram', 'default', ?, 'pairing', ?)");
  for (let n = 0; n < senders; n += 1) sender.run(String(100_000_000 + n), now - n);
  const session = db.prepare("INSERT INTO deleted_sessions (id, key, agent_id, entry, extensions, deleted_at) VALUES (?, ?, 'main', ?, '[]', ?)");
  for (let n = 0; n < deleted; n += 1) {
    session.run(idOf("deleted", n), `agent:main:webchat:gone:${n}`, JSON.stringify({ sessionId: idOf("session", n), updatedAt: now - n }), now - n);
  }
}

function writeFiles(workspace: string, { files, notes }: LargeExtras, now: number): void {
  for (let n = 0; n < files; n += 1) {
    const folder = join(workspace, "project", `part-${Math.floor(n / PER_FOLDER)}`);
    if (n % PER_FOLDER === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `file-${n}.txt`), `number ${n}\n`);
  }
  mkdirSync(join(workspace, "memory"), { recursive: true });
  for (let n = 0; n < notes; n += 1) {
    const day = new Date(now - n * DAY_MS).toISOString().slice(0, 10);
    writeFileSync(join(workspace, "memory", `${day}.md`), `# ${day}\n\n${`- number ${n} was looked after\n`.repeat(20)}`);
  }
}

/** About a quarter of a kilobyte for each line. */
function writeLog(file: string, bytes: number, now: number): void {
  writeFileSync(file, "");
  for (let at = 0; at < bytes;) {
    let part = "";
    for (let n = 0; n < 2000; n += 1) {
      part += `${JSON.stringify({ time: new Date(now).toISOString(), level: "info", subsystem: "gateway", message: "a request was answered ".repeat(8), n: at + n })}\n`;
    }
    appendFileSync(file, part);
    at += part.length;
  }
}

/** Adds it to a database that the store has made, a workspace and a log file. Nobody else may have the database open. */
export function addLargeExtras(place: { readonly database: string; readonly workspace: string; readonly logFile: string }, extras: LargeExtras): void {
  const { now = Date.now() } = extras;
  const db = new DatabaseSync(place.database);
  db.exec("PRAGMA synchronous = OFF; BEGIN");
  addJobs(db, extras, now);
  addApprovals(db, extras, now);
  addSubagents(db, extras, now);
  addSenders(db, extras, now);
  db.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
  writeFiles(place.workspace, extras, now);
  writeLog(place.logFile, extras.logBytes, now);
}
