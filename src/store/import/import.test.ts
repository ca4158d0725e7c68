import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync, appendFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createProjection } from "../projection/index.ts";
import { migrate } from "../sqlite/migrations.ts";
import { importState, importTranscript, type ImportOptions, type ImportReport, type ImportStep } from "./index.ts";
import { exportIndex } from "./exported-index.fixture.ts";

const FIXTURE = fileURLToPath(new URL("../../../test/fixtures/state/reference", import.meta.url));
const ID = (end: string) => `6f1c1a52-7d0e-4d53-9a55-0d1f6f1b${end}`;
const MAIN = "agents/main/sessions";

let root: string;
let stateDir: string;
let db: DatabaseSync;
let options: ImportOptions;

function openDatabase(): DatabaseSync {
  const opened = new DatabaseSync(join(root, "test.db"));
  opened.exec("PRAGMA synchronous = OFF");
  return opened;
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "import-"));
  stateDir = join(root, "state");
  cpSync(FIXTURE, stateDir, { recursive: true });
  for (const agent of ["main", "work"]) {
    const index = join(stateDir, `agents/${agent}/sessions/sessions.json`);
    writeFileSync(index, readFileSync(index, "utf8").replaceAll("__STATE__", stateDir));
  }
  db = openDatabase();
  migrate(db, 1);
  options = { stateDir, now: () => 1_771_495_260_000, log: () => {} };
});

afterEach(() => {
  db.close();
  rmSync(root, { recursive: true, force: true });
});

function run(over: Partial<ImportOptions> = {}): { steps: ImportStep[]; report: ImportReport } {
  const steps: ImportStep[] = [];
  const work = importState(db, { ...options, ...over });
  for (let next = work.next(); ; next = work.next()) {
    if (next.done) return { steps, report: next.value };
    steps.push(next.value);
  }
}

/** Every row of every table that an import writes, as one text. */
function contents(): string {
  const tables = ["sessions", "transcripts", "transcript_entries", "cron_jobs", "devices", "device_tokens", "pairing_requests", "subagents", "imports"];
  return JSON.stringify(tables.map((table) => db.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all()));
}

/** Names, sizes and hashes of all files below a folder. */
function filesOf(folder: string): Record<string, string> {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const hash = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");
  return Object.fromEntries(all.map((entry) => [join(entry.parentPath, entry.name), hash(join(entry.parentPath, entry.name))]));
}

const entriesOf = (file: string) =>
  db
    .prepare("SELECT e.* FROM transcript_entries e JOIN transcripts t USING (tid) WHERE t.file = ? ORDER BY seq")
    .all(file)
    .map((row) => ({ id: row["entry_id"], parent: row["parent_id"], type: row["type"], line: String(row["line"]) }));
const transcriptOf = (file: string) => db.prepare("SELECT * FROM transcripts WHERE file = ?").get(file)!;
const problemsOf = (report: ImportReport, source: string) => report.problems.filter((p) => p.source.includes(source)).map((p) => p.problem);

test("a reference state folder is imported completely, and none of its files changes", () => {
  const before = filesOf(stateDir);
  const { report } = run();
  expect(report).toMatchObject({ sessions: 10, transcripts: 10, cronJobs: 3, devices: 1, subagentRuns: 2 });
  expect(filesOf(stateDir)).toEqual(before);
});

test("indexes, jobs, devices and runs come before the transcripts, and the newest session's transcript before the others", () => {
  const { steps } = run();
  const kinds = steps.map((step) => step.kind);
  expect(kinds.lastIndexOf("subagents")).toBeLessThan(kinds.indexOf("transcript"));
  const transcripts = steps.filter((step) => step.kind === "transcript").map((step) => step.source);
  expect(transcripts[0]).toBe(`${MAIN}/${ID("2a01")}.jsonl`);
  expect(transcripts.indexOf(`${MAIN}/${ID("2a02")}.jsonl`)).toBeLessThan(transcripts.indexOf(`${MAIN}/${ID("2c02")}.jsonl`));
});

test("a second run imports nothing", () => {
  run();
  const before = contents();
  const { steps, report } = run();
  expect([steps, report.sessions, report.transcripts]).toEqual([[], 0, 0]);
  expect(contents()).toBe(before);
});

test("an import interrupted after any step and started again gives the same result", () => {
  const { steps } = run({ chunkBytes: 500 });
  const whole = contents();
  const total = steps.length;
  expect(steps.filter((step) => step.source.endsWith("2a01.jsonl")).length).toBeGreaterThan(2);
  for (let stop = 0; stop <= total; stop += 1) {
    db.close();
    rmSync(join(root, "test.db"));
    db = openDatabase();
    migrate(db, 1);
    const first = importState(db, { ...options, chunkBytes: 500 });
    for (let n = 0; n < stop; n += 1) first.next();
    db.close();
    db = openDatabase();
    run({ chunkBytes: 500 });
    expect(contents(), `stopped after ${stop} steps`).toBe(whole);
  }
});

test("after a kill in the middle, the next start continues", () => {
  const modules = ["./index.ts"].map((path) => new URL(path, import.meta.url).href);
  const code = `import { DatabaseSync } from "node:sqlite"; import { importState } from ${JSON.stringify(modules[0])};
    const db = new DatabaseSync(${JSON.stringify(join(root, "test.db"))});
    for (const _ of importState(db, { stateDir: ${JSON.stringify(stateDir)}, now: () => ${options.now()}, log() {}, chunkBytes: 500 })) continue;`;
  const kill = (at: string) => spawnSync(process.execPath, ["--input-type=module", "-e", code], { env: { OPENCLAW_FAILPOINT: `import.file.committed:${at}` } });
  expect(kill("3").signal).toBe("SIGKILL");
  expect(kill("9").signal).toBe("SIGKILL");
  run({ chunkBytes: 500 });
  const resumed = contents();
  db.exec("DELETE FROM sessions; DELETE FROM transcripts; DELETE FROM transcript_entries; DELETE FROM imports; DELETE FROM cron_jobs; DELETE FROM devices");
  db.exec("DELETE FROM device_tokens; DELETE FROM pairing_requests; DELETE FROM subagents");
  run({ chunkBytes: 500 });
  expect(resumed).toBe(contents());
});

test("every line of a transcript is preserved byte for byte", () => {
  run();
  for (const file of [`${MAIN}/${ID("2a01")}.jsonl`, `${MAIN}/${ID("2a03")}-topic-42.jsonl`, `agents/work/sessions/${ID("2b01")}.jsonl`]) {
    const text = entriesOf(file)
      .map(({ line }) => `${line}\n`)
      .join("");
    expect(text).toBe(readFileSync(join(stateDir, file), "utf8"));
    expect(transcriptOf(file)["bytes"]).toBe(statSync(join(stateDir, file)).size);
  }
  const main = transcriptOf(`${MAIN}/${ID("2a01")}.jsonl`);
  expect(main).toMatchObject({ agent_id: "main", session_id: ID("2a01"), leaf_id: "a000000f", next_seq: 16 });
});

test("a repeated header, a second root and a repeated id are accepted", () => {
  run();
  const entries = entriesOf(`${MAIN}/${ID("2a03")}-topic-42.jsonl`);
  expect(entries.map(({ id, parent, type }) => [type, id, parent])).toEqual([
    ["session", null, null],
    ["message", "c0000001", null],
    ["session", null, null],
    ["message", "c0000002", null],
    ["message", "c0000003", "c0000002"],
    ["message", "c0000003", "c0000002"],
  ]);
});

test("lines that are not entries and a torn end are left out and reported, the rest is imported", () => {
  const { report } = run();
  expect(entriesOf(`${MAIN}/${ID("2a02")}.jsonl`).map(({ id }) => id)).toEqual([null, "b0000001", "b0000002"]);
  expect(problemsOf(report, "2a02").join("; ")).toMatch(/1 lines are not.*last line is incomplete/s);
});

test("a byte order mark, CRLF and a missing line end are not part of the lines", () => {
  run();
  for (const name of ["2a04", "2a06"]) {
    const entries = entriesOf(`${MAIN}/${ID(name)}.jsonl`);
    expect(entries).toHaveLength(3);
    for (const { line } of entries) expect(line).toMatch(/^\{.*\}$/);
  }
});

test("format 1 gets its tree and format 2 its role, in format 3", () => {
  const { report } = run();
  const first = entriesOf(`${MAIN}/${ID("2c02")}.jsonl`);
  expect(first.map(({ id, parent }) => [id, parent])).toEqual([
    [null, null],
    ["00000001", null],
    ["00000002", "00000001"],
    ["00000003", "00000002"],
  ]);
  expect(JSON.parse(first[0]!.line)).toMatchObject({ version: 3 });
  expect(JSON.parse(first[3]!.line)).toMatchObject({ firstKeptEntryId: "00000002" });
  expect(entriesOf(`${MAIN}/${ID("2a05")}.jsonl`).map(({ line }) => (JSON.parse(line) as { message?: { role: string } }).message?.role)).toEqual([
    undefined,
    "custom",
    "assistant",
  ]);
  expect(problemsOf(report, "2c02")).toEqual(["format 1 was brought to format 3"]);
});

test("old dm keys become direct keys everywhere, and a channel named dm stays", () => {
  run();
  const keys = db
    .prepare("SELECT key, spawned_by FROM sessions")
    .all()
    .map((row) => [row["key"], row["spawned_by"]]);
  expect(keys).toContainEqual(["agent:main:telegram:direct:4711", null]);
  expect(keys).toContainEqual(["agent:main:discord:channel:dm", null]);
  expect(keys).toContainEqual([`agent:main:subagent:${ID("2a04")}`, "agent:main:telegram:direct:4711"]);
  expect(db.prepare("SELECT requester_session_key FROM subagents WHERE run_id = 'run-1'").get()).toEqual({
    requester_session_key: "agent:main:telegram:direct:4711",
  });
});

test("of two spellings of one key the newer entry wins, and both transcripts are preserved", () => {
  const index = join(stateDir, MAIN, "sessions.json");
  writeFileSync(
    index,
    JSON.stringify({
      "agent:main:telegram:direct:4711": { sessionId: ID("2a02"), updatedAt: 5 },
      "agent:main:telegram:dm:4711": { sessionId: ID("2a06"), updatedAt: 4 },
    }),
  );
  const { report } = run();
  expect(db.prepare("SELECT session_id FROM sessions WHERE key = 'agent:main:telegram:direct:4711'").get()).toEqual({ session_id: ID("2a02") });
  expect(problemsOf(report, "sessions.json").join()).toContain("is older than another one");
  expect(entriesOf(`${MAIN}/${ID("2a06")}.jsonl`)).toHaveLength(3);
});

test("the exported index is the imported one: unknown fields too", () => {
  run();
  const original = JSON.parse(readFileSync(join(stateDir, MAIN, "sessions.json"), "utf8")) as Record<string, unknown>;
  const exported = exportIndex(db, "main", stateDir);
  expect(exported["agent:main:main"]).toEqual(original["agent:main:main"]);
  expect(exported["agent:main:telegram:direct:4711"]).toEqual(original["agent:main:telegram:dm:4711"]);
  expect(Object.keys(exportIndex(db, "work", stateDir))).toEqual(["agent:work:discord:channel:99:thread:7", "agent:work:main"]);
});

test("an index that names a state folder that has moved finds its files", () => {
  run();
  const entry = JSON.parse(String(db.prepare("SELECT entry FROM sessions WHERE session_id = ?").get(ID("2a03"))!["entry"])) as { sessionFile: string };
  expect(entry.sessionFile).toBe(`${MAIN}/${ID("2a03")}-topic-42.jsonl`);
  expect(transcriptOf(entry.sessionFile)["session_id"]).toBe(ID("2a03"));
});

test("a transcript outside of the state folder is read there, stays there, and continues inside", () => {
  const outside = join(root, "elsewhere/x.jsonl");
  mkdirSync(dirname(outside));
  const text = readFileSync(join(stateDir, MAIN, `${ID("2a01")}.jsonl`), "utf8");
  writeFileSync(outside, text);
  const index = join(stateDir, MAIN, "sessions.json");
  writeFileSync(index, JSON.stringify({ "agent:main:out": { sessionId: "out-1", updatedAt: 9, sessionFile: outside } }));
  const { report } = run({ chunkBytes: 500 });
  expect(exportIndex(db, "main", stateDir)["agent:main:out"]!.sessionFile).toBe(join(stateDir, MAIN, "out-1.jsonl"));
  expect(
    entriesOf(`${MAIN}/out-1.jsonl`)
      .map(({ line }) => `${line}\n`)
      .join(""),
  ).toBe(text);
  expect(problemsOf(report, "sessions.json").join()).toContain("lies outside of the state folder");
  expect(readFileSync(outside, "utf8")).toBe(text);
});

test("a session id that could be a path is refused", () => {
  const index = join(stateDir, MAIN, "sessions.json");
  const ids = ["../../x", "/etc/passwd", "a/b", "", ".", "a\0b", "x".repeat(200), "ＡＢ"];
  writeFileSync(index, JSON.stringify(Object.fromEntries(ids.map((sessionId, n) => [`agent:main:k${n}`, { sessionId, updatedAt: 1 }]))));
  const { report } = run();
  expect(db.prepare("SELECT count(*) AS n FROM sessions WHERE key LIKE 'agent:main:k%'").get()).toEqual({ n: 0 });
  expect(problemsOf(report, "main/sessions/sessions.json")).toHaveLength(ids.length);
});

test("a broken index is reported and left alone, everything else is imported, and the fixed file at the next start", () => {
  const index = join(stateDir, MAIN, "sessions.json");
  const good = readFileSync(index, "utf8");
  writeFileSync(index, good.slice(0, 300));
  const { report } = run();
  expect(problemsOf(report, "main/sessions/sessions.json")).toEqual([expect.stringContaining("left unchanged and not imported: not JSON")]);
  expect([report.transcripts, readFileSync(index, "utf8")]).toEqual([10, good.slice(0, 300)]);
  writeFileSync(index, good);
  expect(run().report).toMatchObject({ sessions: 6, transcripts: 0 });
});

test("the layout from before there were agents is read in place", () => {
  run();
  expect(Object.keys(exportIndex(db, "main", stateDir))).toEqual(expect.arrayContaining(["agent:main:telegram:direct:1", "global", "agent:main:main"]));
  expect(entriesOf(`sessions/${ID("2c01")}.jsonl`)).toHaveLength(2);
});

test("jobs keep their text, with the columns that the scheduler queries by", () => {
  run();
  const jobs = db.prepare("SELECT id, agent_id, enabled, next_run_at, job FROM cron_jobs ORDER BY id").all();
  expect(
    jobs.map((job) => [job["agent_id"], job["enabled"], job["next_run_at"], (JSON.parse(String(job["job"])) as { schedule: { kind: string } }).schedule.kind]),
  ).toEqual([
    ["main", 1, 1771500000000, "cron"],
    [null, 1, 1771500000000, "every"],
    [null, 0, null, "at"],
  ]);
});

test("paired devices keep their token, and a valid request stays pending", () => {
  run();
  expect(db.prepare("SELECT token, scopes, last_used_at FROM device_tokens").all()).toEqual([
    { token: "fake-device-token-for-tests", scopes: '["operator.admin"]', last_used_at: 1771490000000 },
  ]);
  expect(String(db.prepare("SELECT data FROM devices").get()!["data"])).not.toContain("fake-device-token");
  expect(db.prepare("SELECT kind, subject, expires_at FROM pairing_requests").get()).toEqual({
    kind: "device",
    subject: "d".repeat(64),
    expires_at: 1771495500000,
  });
});

test("credentials stay in their files: reported by name, not a byte of them in the database", () => {
  const { report } = run();
  expect(report.left).toEqual(
    expect.arrayContaining(["agents/main/agent/auth-profiles.json", "agents/work/agent/auth-profiles.json", "credentials/oauth.json"]),
  );
  expect(report.left.filter((name) => /\.(reset|deleted)\./.test(name))).toHaveLength(2);
  db.exec("VACUUM");
  expect(readFileSync(join(root, "test.db")).includes("FAKE-KEY-CANARY")).toBe(false);
});

test("archived transcripts are not imported as live ones", () => {
  run();
  expect(db.prepare("SELECT count(*) AS n FROM transcripts WHERE file LIKE '%.reset.%' OR file LIKE '%.deleted.%' OR session_id = 'gone'").get()).toEqual({
    n: 0,
  });
});

test("one transcript can be imported early, and the run does not import it again", () => {
  const file = `${MAIN}/${ID("2a04")}.jsonl`;
  const work = importState(db, { ...options, chunkBytes: 100 });
  work.next();
  expect(importTranscript(db, file, { ...options, chunkBytes: 100 })).toMatchObject({ transcripts: 1, entries: 3 });
  expect(importTranscript(db, file, options)).toMatchObject({ transcripts: 0, entries: 0 });
  for (const step of work) expect(step.source).not.toBe(file);
  expect(entriesOf(file)).toHaveLength(3);
  expect(() => importTranscript(db, "../../etc/passwd", options)).toThrow(/not the name of a transcript/);
});

test("files that this gateway wrote itself are not imported again", () => {
  db.exec(
    "INSERT INTO transcripts (agent_id, session_id, file, next_seq, bytes, created_at) VALUES ('main', 'own', 'agents/main/sessions/own.jsonl', 0, 0, 0)",
  );
  writeFileSync(join(stateDir, MAIN, "own.jsonl"), '{"type":"session","id":"own"}\n');
  run();
  expect(entriesOf(`${MAIN}/own.jsonl`)).toEqual([]);
});

test("every imported transcript can be used: its file then matches the database, and dropped lines are saved beside it", () => {
  run();
  const projection = createProjection({ stateDir, pid: 1, now: () => 5, log: () => {} });
  const actions: Record<string, string> = {};
  for (const row of db.prepare("SELECT tid, file FROM transcripts").all()) {
    const file = String(row["file"]);
    const before = readFileSync(join(stateDir, file), "utf8");
    const report = projection.check(db, Number(row["tid"]), { thorough: true });
    actions[file.replace(/.*6f1b/, "")] = report.action;
    expect(readFileSync(join(stateDir, file), "utf8")).toBe(
      entriesOf(file)
        .map(({ line }) => `${line}\n`)
        .join(""),
    );
    expect(report.kept === undefined ? before : readFileSync(join(stateDir, report.kept), "utf8")).toBe(before);
  }
  projection.close();
  expect(actions).toMatchObject({
    "2a01.jsonl": "ok",
    "2a02.jsonl": "rewritten",
    "2a03-topic-42.jsonl": "ok",
    "2a04.jsonl": "rewritten",
    "2a06.jsonl": "completed",
  });
});

test("a file without header gets one, and an empty file is an empty transcript", () => {
  const line = readFileSync(join(stateDir, MAIN, `${ID("2a01")}.jsonl`), "utf8").split("\n")[4]!;
  writeFileSync(join(stateDir, MAIN, "headless.jsonl"), `${line}\n`);
  writeFileSync(join(stateDir, MAIN, "empty.jsonl"), "");
  run();
  expect(entriesOf(`${MAIN}/headless.jsonl`).map(({ type, id }) => [type, id])).toEqual([
    ["session", null],
    ["message", "a0000004"],
  ]);
  expect(JSON.parse(entriesOf(`${MAIN}/headless.jsonl`)[0]!.line)).toMatchObject({ id: "headless", version: 3 });
  expect(transcriptOf(`${MAIN}/empty.jsonl`)).toMatchObject({ next_seq: 0, bytes: 0 });
});

test("a large transcript is imported in chunks, each in a transaction of its own", () => {
  const file = join(stateDir, MAIN, "large.jsonl");
  writeFileSync(file, '{"type":"session","version":3,"id":"large","timestamp":"2026-02-19T10:00:00.000Z"}\n');
  const block = Array.from({ length: 1000 }, (_, n) =>
    JSON.stringify({ type: "message", id: n.toString(16).padStart(8, "0"), parentId: null, message: { content: "x".repeat(1000) } }),
  ).join("\n");
  for (let n = 0; n < 40; n += 1) appendFileSync(file, `${block}\n`);
  const { steps } = run({ chunkBytes: 1024 * 1024 });
  const pieces = steps.filter((step) => step.source.endsWith("large.jsonl"));
  expect([pieces.length > 30, Math.max(...pieces.map(({ rows }) => rows)) < 1200]).toEqual([true, true]);
  expect(transcriptOf(`${MAIN}/large.jsonl`)).toMatchObject({ next_seq: 40_001, bytes: statSync(file).size });
});
