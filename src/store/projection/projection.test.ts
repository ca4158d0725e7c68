import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  appendFileSync,
  truncateSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { seededRandom } from "../../base/random.ts";
import { SCHEMA_V1 } from "../sqlite/schema.ts";
import { archivedName, createProjection, isTranscriptFile, transcriptFile, type Projection } from "./index.ts";

const FILE = "agents/main/sessions/s1.jsonl";
const HEADER = JSON.stringify({ type: "session", version: 3, id: "s1", timestamp: "2026-02-19T10:00:00.000Z", cwd: "/w" });

let stateDir: string;
let db: DatabaseSync;
let projection: Projection;
let logged: string[];

const entry = (id: string, parentId: string | null, text = "hello") =>
  JSON.stringify({ type: "message", id, parentId, timestamp: "2026-02-19T10:00:01.000Z", message: { role: "user", content: text } });

/** Commits lines as the store does, and returns the previous size of the file. */
function commit(lines: readonly string[], file = FILE): { tid: number; startBytes: number } {
  db.prepare("INSERT OR IGNORE INTO transcripts (agent_id, session_id, file, next_seq, bytes, created_at) VALUES ('main', 's1', ?, 0, 0, 0)").run(file);
  const row = db.prepare("SELECT tid, next_seq, bytes FROM transcripts WHERE file = ?").get(file)!;
  let seq = Number(row["next_seq"]);
  let bytes = Number(row["bytes"]);
  for (const line of lines) {
    const parsed = JSON.parse(line) as { type: string; id: string };
    const id = parsed.type === "session" ? null : parsed.id;
    db.prepare("INSERT INTO transcript_entries (tid, seq, entry_id, type, line) VALUES (?, ?, ?, ?, ?)").run(Number(row["tid"]), seq, id, parsed.type, line);
    seq += 1;
    bytes += Buffer.byteLength(line) + 1;
  }
  const leaf = db.prepare("SELECT entry_id FROM transcript_entries WHERE tid = ? AND entry_id IS NOT NULL ORDER BY seq DESC").get(Number(row["tid"]));
  db.prepare("UPDATE transcripts SET next_seq = ?, bytes = ?, leaf_id = ? WHERE tid = ?").run(seq, bytes, leaf?.["entry_id"] ?? null, Number(row["tid"]));
  return { tid: Number(row["tid"]), startBytes: Number(row["bytes"]) };
}

/** Commits and projects. */
function append(lines: readonly string[], file = FILE): number {
  const { tid, startBytes } = commit(lines, file);
  projection.append(file, startBytes, lines);
  return tid;
}

const lines = (tid: number) =>
  db
    .prepare("SELECT line FROM transcript_entries WHERE tid = ? ORDER BY seq")
    .all(tid)
    .map((row) => String(row["line"]));
const expected = (tid: number) =>
  lines(tid)
    .map((line) => `${line}\n`)
    .join("");
const path = (file = FILE) => join(stateDir, file);
const content = (file = FILE) => readFileSync(path(file), "utf8");
const row = (tid: number) => db.prepare("SELECT next_seq, bytes, leaf_id FROM transcripts WHERE tid = ?").get(tid)!;
const backups = () => readdirSync(dirname(path())).filter((name) => name.includes(".bak-"));

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), "projection-"));
  db = new DatabaseSync(":memory:");
  db.exec(SCHEMA_V1);
  logged = [];
  projection = createProjection({ stateDir, pid: 42, now: () => 1_700_000_000_000, log: (message) => logged.push(message) });
});

afterEach(() => {
  projection.close();
  db.close();
  rmSync(stateDir, { recursive: true, force: true });
});

test("committed lines reach the file at the flush, each with its line end, readable by the owner only", () => {
  const tid = append([HEADER, entry("00000001", null, "grüße 🌍")]);
  append([entry("00000002", "00000001")]);
  expect([projection.pending(), existsSync(path())]).toEqual([3, false]);
  projection.flush();
  expect([projection.pending(), content()]).toEqual([0, expected(tid)]);
  expect([statSync(path()).mode & 0o777, statSync(dirname(path())).mode & 0o777]).toEqual([0o600, 0o700]);
  expect(statSync(path()).size).toBe(row(tid)["bytes"]);
});

test("closing writes pending lines", () => {
  const tid = append([HEADER]);
  projection.close();
  expect(content()).toBe(expected(tid));
});

test.skipIf(!existsSync("/proc/self/fd"))("hundreds of files are written with few of them open", () => {
  const files = Array.from({ length: 200 }, (_, n) => `agents/main/sessions/many-${n}.jsonl`);
  for (const round of [HEADER, entry("00000001", null)]) {
    for (const file of files) append([round], file);
    projection.flush();
  }
  expect(new Set(files.map((file) => content(file)))).toEqual(new Set([`${HEADER}\n${entry("00000001", null)}\n`]));
  const links = readdirSync("/proc/self/fd").map((fd) => (existsSync(`/proc/self/fd/${fd}`) ? readlinkSync(`/proc/self/fd/${fd}`) : ""));
  expect(links.filter((link) => link.startsWith(stateDir)).length).toBe(64);
});

test("a file that another program changed is not appended to until it was checked", () => {
  const tid = append([HEADER, entry("00000001", null)]);
  projection.flush();
  const foreign = entry("0000000f", "00000001", "from elsewhere");
  appendFileSync(path(), `${foreign}\n`);
  append([entry("00000002", "00000001")]);
  projection.flush();
  expect(content()).toBe(`${HEADER}\n${entry("00000001", null)}\n${foreign}\n`);
  expect(projection.problems()).toMatchObject([{ file: FILE }]);
  expect(projection.check(db, tid)).toMatchObject({ action: "rewritten", adopted: 1 });
  expect(lines(tid)).toEqual([HEADER, entry("00000001", null), entry("00000002", "00000001"), entry("0000000f", "00000002", "from elsewhere")]);
  expect([content(), projection.problems(), row(tid)["leaf_id"]]).toEqual([expected(tid), [], "0000000f"]);
});

test("a file that was replaced or removed behind an open descriptor is noticed", () => {
  const tid = append([HEADER]);
  projection.flush();
  renameSync(path(), `${path()}.moved`);
  append([entry("00000001", null)]);
  projection.flush();
  expect(projection.problems()).toMatchObject([{ file: FILE, problem: "it was removed" }]);
  expect(projection.check(db, tid).action).toBe("created");
  expect(content()).toBe(expected(tid));
});

test("a disk that refuses the file does not stop the store, shows as a problem, and is completed at the next check", () => {
  const tid = append([HEADER]);
  mkdirSync(join(stateDir, "agents/main"), { recursive: true });
  writeFileSync(join(stateDir, "agents/main/sessions"), "a file where the folder should be");
  projection.flush();
  expect(projection.problems()).toHaveLength(1);
  expect(projection.check(db, tid)).toMatchObject({ action: "failed", problem: expect.stringContaining("sessions") });
  rmSync(join(stateDir, "agents/main/sessions"));
  append([entry("00000001", null)]);
  expect(projection.ensure(db, tid)).toMatchObject({ action: "created" });
  expect([content(), projection.problems()]).toEqual([expected(tid), []]);
});

test("a session is checked once per process, and again after a failure", () => {
  const { tid } = commit([HEADER]);
  expect(projection.ensure(db, tid)).toMatchObject({ action: "created" });
  expect(projection.ensure(db, tid)).toBeUndefined();
  truncateSync(path(), 3);
  append([entry("00000001", null)]);
  projection.flush();
  expect(projection.ensure(db, tid)).toMatchObject({ action: "completed" });
  expect(content()).toBe(expected(tid));
});

test("an archived file keeps its content under the documented name, and a removed one is gone", () => {
  append([HEADER]);
  const archived = archivedName(FILE, "reset", 1_700_000_000_000);
  expect(archived).toBe(`${FILE}.reset.2023-11-14T22-13-20.000Z`);
  expect([projection.rename(FILE, archived), existsSync(path()), content(archived)]).toEqual([true, false, `${HEADER}\n`]);
  expect([projection.remove(archived), existsSync(path(archived)), projection.remove(archived)]).toEqual([true, false, true]);
});

test("names that could leave the state folder are not transcript files", () => {
  const bad = [
    "../x.jsonl",
    "/etc/x.jsonl",
    "a/../../x.jsonl",
    "a//x.jsonl",
    "a/./x.jsonl",
    "a\\..\\x.jsonl",
    "c:/x.jsonl",
    ".x.jsonl",
    "a/x.json",
    "a/\0/x.jsonl",
    "x.jsonl/",
    "",
    "a/..jsonl",
    `${"a/".repeat(600)}x.jsonl`,
  ];
  expect(bad.filter(isTranscriptFile)).toEqual([]);
  expect(["agents/main/sessions/2026-02-19T10-00-00-000Z_0b9c.jsonl", archivedName(FILE, "deleted", 0)].filter(isTranscriptFile)).toHaveLength(2);
  for (const id of ["..", "a/b", "", ".hidden", "a\0", "x".repeat(129), "ä"]) expect(() => transcriptFile("main", id)).toThrow(/expected an id/);
  expect(transcriptFile("main", "abc", "42")).toBe("agents/main/sessions/abc-topic-42.jsonl");
  append([HEADER], "../escape.jsonl");
  projection.flush();
  expect(existsSync(join(stateDir, "../escape.jsonl"))).toBe(false);
  expect(projection.problems()).toMatchObject([{ file: "../escape.jsonl" }]);
});

test("a folder that links out of the state folder is not written to", () => {
  const outside = mkdtempSync(join(tmpdir(), "outside-"));
  mkdirSync(join(stateDir, "agents/main"), { recursive: true });
  symlinkSync(outside, join(stateDir, "agents/main/sessions"));
  const tid = append([HEADER]);
  projection.flush();
  expect(projection.check(db, tid)).toMatchObject({ action: "failed", problem: expect.stringContaining("link out of the state folder") });
  expect(readdirSync(outside)).toEqual([]);
  rmSync(outside, { recursive: true });
});

test("a link in place of the file is moved away and never followed", () => {
  const victim = join(stateDir, "victim.txt");
  writeFileSync(victim, "untouched");
  mkdirSync(dirname(path()), { recursive: true });
  symlinkSync(victim, path());
  const tid = append([HEADER]);
  projection.flush();
  expect(projection.check(db, tid)).toMatchObject({ action: "rewritten", kept: expect.stringContaining(".bak-42-") });
  expect([readFileSync(victim, "utf8"), content()]).toEqual(["untouched", expected(tid)]);
});

test("a folder in place of the file is moved away", () => {
  mkdirSync(path(), { recursive: true });
  writeFileSync(join(path(), "inside"), "kept");
  const { tid } = commit([HEADER]);
  const kept = projection.check(db, tid).kept!;
  expect([content(), readFileSync(join(stateDir, kept, "inside"), "utf8")]).toEqual([expected(tid), "kept"]);
});

test("a torn tail is completed without a copy", () => {
  const tid = append([HEADER, entry("00000001", null, "ünïcödé")]);
  projection.flush();
  for (let size = 0; size < statSync(path()).size; size += 7) {
    truncateSync(path(), size);
    expect(projection.check(db, tid).action).toBe("completed");
    expect(content()).toBe(expected(tid));
  }
  expect(backups()).toEqual([]);
});

test("partial bytes of another program are preserved in the copy", () => {
  const tid = append([HEADER, entry("00000001", null)]);
  projection.flush();
  appendFileSync(path(), '{"type":"message","id":"000');
  const { action, kept } = projection.check(db, tid);
  expect([action, content()]).toEqual(["rewritten", expected(tid)]);
  expect(content(kept)).toBe(`${expected(tid)}{"type":"message","id":"000`);
});

test("lines of another program are imported in order, also when the last has no line end, and the conversation continues after them", () => {
  const tid = append([HEADER, entry("00000001", null)]);
  projection.flush();
  const foreign = [entry("aaaaaaaa", "00000001"), HEADER, entry("bbbbbbbb", "aaaaaaaa")];
  appendFileSync(path(), foreign.join("\n"));
  expect(projection.check(db, tid)).toMatchObject({ action: "adopted", adopted: 3 });
  expect(lines(tid).slice(2)).toEqual(foreign);
  expect(content()).toBe(expected(tid));
  expect(row(tid)).toMatchObject({ next_seq: 5, leaf_id: "bbbbbbbb", bytes: statSync(path()).size });
  append([entry("cccccccc", "bbbbbbbb")]);
  projection.flush();
  expect([content(), projection.problems(), backups()]).toEqual([expected(tid), [], []]);
});

test("a file of another session is set aside, and nothing of it is imported", () => {
  const tid = append([HEADER, entry("00000001", null)]);
  projection.flush();
  const other = `${HEADER.replace('"s1"', '"s2"')}\n${entry("dddddddd", null)}\n`;
  writeFileSync(path(), other);
  const { action, kept, adopted } = projection.check(db, tid);
  expect([action, adopted, content(), content(kept)]).toEqual(["rewritten", 0, expected(tid), other]);
});

test("a changed last line of the same length is noticed", () => {
  const tid = append([HEADER, entry("00000001", null, "true")]);
  projection.flush();
  writeFileSync(path(), content().replace("true", "fake"));
  expect(projection.check(db, tid)).toMatchObject({ action: "rewritten", adopted: 0 });
  expect(content()).toBe(expected(tid));
});

test("a changed byte in the middle is found by a thorough check", () => {
  const tid = append([HEADER, entry("00000001", null, "true"), entry("00000002", "00000001")]);
  projection.flush();
  writeFileSync(path(), content().replace("true", "fake"));
  expect(projection.check(db, tid).action).toBe("ok");
  expect(projection.check(db, tid, { thorough: true }).action).toBe("rewritten");
  expect(content()).toBe(expected(tid));
});

test("after a kill during a rewrite, the old file is still there, and the next check completes the rewrite", () => {
  const stored = join(stateDir, "openclaw.db");
  const tid = append([HEADER, entry("00000001", null)]);
  projection.flush();
  db.exec(`VACUUM INTO '${stored}'`);
  const damaged = `noise\n${content()}`;
  writeFileSync(path(), damaged);
  const code = `import { DatabaseSync } from "node:sqlite"; import { createProjection } from ${JSON.stringify(new URL("./index.ts", import.meta.url).href)};
    const projection = createProjection({ stateDir: ${JSON.stringify(stateDir)}, pid: process.pid, now: Date.now, log() {} });
    projection.check(new DatabaseSync(${JSON.stringify(stored)}), ${tid});`;
  const killed = spawnSync(process.execPath, ["--input-type=module", "-e", code], { env: { OPENCLAW_FAILPOINT: "projection.repair.written" } });
  expect([killed.signal, content()]).toEqual(["SIGKILL", damaged]);
  const { kept } = projection.check(db, tid);
  expect([content(), content(kept), readdirSync(dirname(path())).length]).toEqual([expected(tid), damaged, 2]);
});

test("whatever happens to a file, after a check it matches the database and no readable line is lost", () => {
  const random = seededRandom(7);
  const pick = (n: number) => Math.floor(random.float() * n);
  for (let round = 0; round < 300; round += 1) {
    const file = `agents/main/sessions/fuzz-${round}.jsonl`;
    const tid = append([HEADER, ...Array.from({ length: 1 + pick(8) }, (_, n) => entry(`0000000${n}`, null, "x".repeat(pick(40))))], file);
    projection.flush();
    for (let damage = 0; damage <= pick(3); damage += 1) damageFile(path(file), pick, `${round}-${damage}`);
    const before = new Set(lines(tid));
    const inFile = existsSync(path(file)) ? readFileSync(path(file), "utf8").split("\n") : [];
    const report = projection.check(db, tid, { thorough: true });
    expect(content(file), `round ${round}: ${report.action}`).toBe(expected(tid));
    const after = new Set(lines(tid));
    expect([...before].filter((line) => !after.has(line))).toEqual([]);
    const kept = report.kept === undefined ? "" : content(report.kept);
    const gone = inFile.filter((line) => isEntry(line) && !after.has(line) && !kept.includes(line));
    expect(gone, `round ${round}: ${report.action}`).toEqual([]);
    expect(row(tid)["bytes"]).toBe(Buffer.byteLength(content(file)));
    expect(projection.check(db, tid, { thorough: true }).action).toBe("ok");
  }
});

function isEntry(line: string): boolean {
  try {
    return typeof (JSON.parse(line) as { type?: unknown }).type === "string";
  } catch {
    return false;
  }
}

function damageFile(target: string, pick: (n: number) => number, name: string): void {
  const bytes = existsSync(target) ? readFileSync(target) : Buffer.alloc(0);
  const at = pick(bytes.length + 1);
  const kinds = [
    () => truncateSync(target, at),
    () => writeFileSync(target, Buffer.concat([bytes.subarray(0, at), Buffer.from([pick(256)]), bytes.subarray(at + 1)])),
    () => writeFileSync(target, Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + pick(50))])),
    () => writeFileSync(target, Buffer.concat([bytes.subarray(0, at), Buffer.from("\n{}\nnoise"), bytes.subarray(at)])),
    () => appendFileSync(target, `${entry(`f${name}`, null, "foreign")}\n`),
    () => appendFileSync(target, entry(`g${name}`, null, "foreign, no end")),
    () => appendFileSync(target, "\r\n\uFEFF"),
    () => rmSync(target),
  ];
  if (bytes.length > 0) kinds[pick(kinds.length)]!();
}
