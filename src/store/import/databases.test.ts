import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { migrate } from "../sqlite/migrations.ts";
import { importState, importTranscript, type ImportOptions, type ImportReport } from "./index.ts";
import { agentPath, EVENTS, identityIn, MAIN, NOW, OLD, RESET, sharedPath, writeAgentDatabase, writeSharedDatabase } from "./newer-state.fixture.ts";

let root: string;
let stateDir: string;
let db: DatabaseSync;
let options: ImportOptions;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "import-databases-"));
  stateDir = join(root, "state");
  db = new DatabaseSync(join(root, "test.db"));
  db.exec("PRAGMA synchronous = OFF");
  migrate(db, 1);
  options = { stateDir, now: () => NOW, log: () => {} };
});

afterEach(() => {
  db.close();
  rmSync(root, { recursive: true, force: true });
});

const transcript = (id: string): string => `agents/main/sessions/${id}.jsonl`;

function run(): ImportReport {
  const work = importState(db, options);
  for (let next = work.next(); ; next = work.next()) if (next.done) return next.value;
}

const read = (file: string): string => readFileSync(join(stateDir, file), "utf8");
const lines = (id: string): string => EVENTS[id]!.map((event) => `${JSON.stringify(event)}\n`).join("");

test("sessions, transcripts, jobs, devices, paired senders and logins of a newer version are imported from its databases, which stay as they are", () => {
  writeAgentDatabase(stateDir);
  writeSharedDatabase(stateDir);
  const before = [agentPath(stateDir), sharedPath(stateDir)].map((path) => readFileSync(path));
  const report = run();
  expect(report).toMatchObject({ sessions: 1, transcripts: 3, cronJobs: 1, devices: 1 });
  expect([agentPath(stateDir), sharedPath(stateDir)].map((path) => readFileSync(path))).toEqual(before);
  expect([MAIN, OLD].map((id) => read(transcript(id)))).toEqual([MAIN, OLD].map(lines));
  const session = db.prepare("SELECT * FROM sessions").get()!;
  expect(session).toMatchObject({ key: "agent:main:main", session_id: MAIN, label: "Shopping" });
  expect(JSON.parse(String(session["entry"]))).not.toHaveProperty("sessionFile");
  expect(db.prepare("SELECT pinned_at, archived_at FROM session_marks").all()).toMatchObject([{ pinned_at: NOW - 9000, archived_at: null }]);
  expect(db.prepare("SELECT id, next_run_at FROM cron_jobs").all()).toMatchObject([{ id: "j1", next_run_at: NOW + 60_000 }]);
  expect(report.problems.map(({ problem }) => problem)).toEqual([
    'the job "Backup" was left out: payload.kind "script" is not available in this version',
    'the job "Watch" was left out: schedule.kind "on-exit" is not available in this version',
    'the job "Digest" was left out: sessionTarget "session:agent:main:main" is not available in this version',
    'the session "agent:main:main" had the permission mode "read-only", which this version does not have: limit its agent\'s tools instead',
  ]);
  expect(JSON.parse(read("identity/device.json"))).toEqual(identityIn(stateDir));
  expect(db.prepare("SELECT id, public_key FROM devices").all()).toMatchObject([{ id: "d1", public_key: "a2V5" }]);
  expect(db.prepare("SELECT token FROM device_tokens").all()).toMatchObject([{ token: "token-of-the-test" }]);
  expect(db.prepare("SELECT channel, account, sender FROM allow_entries").all()).toMatchObject([{ channel: "telegram", account: "default", sender: "4711" }]);
  expect(JSON.parse(read("agents/main/agent/auth-profiles.json"))).toHaveProperty(["profiles", "anthropic:work", "key"], "sk-ant-of-the-test");
  expect(statSync(join(stateDir, "agents/main/agent/auth-profiles.json")).mode & 0o777).toBe(0o600);
  expect(JSON.parse(read("exec-approvals.json"))).toMatchObject({ defaults: { security: "allowlist" } });
});

test("files that are there are never replaced, and what was deleted later does not come back", () => {
  writeAgentDatabase(stateDir);
  writeSharedDatabase(stateDir);
  mkdirSync(join(stateDir, "agents/main/sessions"), { recursive: true });
  writeFileSync(join(stateDir, "agents/main/agent/auth-profiles.json"), '{"version":1,"profiles":{}}');
  const own = JSON.stringify({ ...EVENTS[OLD]![0], cwd: "/mine" });
  writeFileSync(join(stateDir, transcript(OLD)), `${own}\n`);
  run();
  expect(read("agents/main/agent/auth-profiles.json")).toBe('{"version":1,"profiles":{}}');
  expect(read(transcript(OLD))).toBe(`${own}\n`);
  rmSync(join(stateDir, transcript(MAIN)));
  db.exec("DELETE FROM sessions; DELETE FROM transcripts; DELETE FROM cron_jobs");
  expect(run()).toMatchObject({ sessions: 0, transcripts: 0, cronJobs: 0 });
  expect(existsSync(join(stateDir, transcript(MAIN)))).toBe(false);
});

test("a conversation that was begun again starts there; what was before is archived, as after a reset", () => {
  writeAgentDatabase(stateDir);
  run();
  const [header, first, answer, , again, last] = EVENTS[RESET]!.map((event) => JSON.stringify(event));
  const folder = "agents/main/sessions";
  const archived = readdirSync(join(stateDir, folder)).filter((name) => name.startsWith(`${RESET}.jsonl.reset.`));
  expect(archived).toEqual([`${RESET}.jsonl.reset.2026-09-03T10-00-00.000Z`]);
  expect(read(`${folder}/${archived[0]}`)).toBe(`${header}\n${first}\n${answer}\n`);
  expect(read(transcript(RESET))).toBe(`${header}\n${again!.replace('"parentId":"r3"', '"parentId":null')}\n${last}\n`);
});

test("a session in use gets its transcript from the database at once", () => {
  writeAgentDatabase(stateDir);
  const work = importState(db, options);
  work.next();
  importTranscript(db, transcript(MAIN), { ...options, sessionId: MAIN });
  expect(db.prepare("SELECT session_id, next_seq, leaf_id FROM transcripts").all()).toMatchObject([{ session_id: MAIN, next_seq: 3, leaf_id: "e2" }]);
  while (!work.next().done) continue;
  expect(db.prepare("SELECT count(*) AS n FROM transcripts").get()).toMatchObject({ n: 3 });
});

test("a database that another program holds is reported and imported at the next start; one of another form imports what it has", () => {
  writeAgentDatabase(stateDir);
  writeSharedDatabase(stateDir);
  using holder = new DatabaseSync(sharedPath(stateDir));
  holder.exec("PRAGMA locking_mode = EXCLUSIVE; DROP TABLE device_pairing_paired; BEGIN EXCLUSIVE; COMMIT");
  expect(run().problems).toContainEqual({ source: "state/openclaw.sqlite", problem: expect.stringMatching(/in use by another program.*stop it/) });
  expect(db.prepare("SELECT count(*) AS n FROM cron_jobs").get()).toMatchObject({ n: 0 });
  holder.close();
  const report = run();
  expect(report.cronJobs).toBe(1);
  expect(report.problems.map(({ problem }) => problem)).toContainEqual(expect.stringContaining("devices were not imported: no such table"));
});

test("a file that is no database is reported and stops nothing", () => {
  writeAgentDatabase(stateDir);
  mkdirSync(dirname(sharedPath(stateDir)), { recursive: true });
  writeFileSync(sharedPath(stateDir), "not a database, but long enough to be read as one: ".repeat(100));
  const report = run();
  expect(report).toMatchObject({ sessions: 1, transcripts: 3 });
  expect(report.problems).toContainEqual({ source: "state/openclaw.sqlite", problem: expect.stringContaining("left unchanged and not imported") });
});
