import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseTranscriptLine } from "../../protocol/index.ts";
import { SCHEMA_V1 } from "../sqlite/schema.ts";
import { createProjection, transcriptRow, type Projection } from "./index.ts";
import { appendLines } from "./rows.ts";

const FILE = "agents/main/sessions/s1.jsonl";
const HEADER = JSON.stringify({ type: "session", version: 3, id: "s1", timestamp: "2026-02-19T10:00:00.000Z", cwd: "/w" });

let stateDir: string;
let db: DatabaseSync;
let projection: Projection;
let logged: string[];

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

const entry = (id: string, parentId: string | null, text = "hello") =>
  JSON.stringify({ type: "message", id, parentId, timestamp: "2026-02-19T10:00:01.000Z", message: { role: "user", content: text } });

/** Lines that the database has and the file does not. */
function commit(texts: readonly string[], file = FILE): { tid: number } {
  const added = db.prepare("INSERT INTO transcripts (agent_id, session_id, file, next_seq, bytes, created_at) VALUES ('main', 's1', ?, 0, 0, 0)").run(file);
  const tid = Number(added.lastInsertRowid);
  const appender = appendLines(db, transcriptRow(db, tid));
  for (const text of texts) appender.add(text, parseTranscriptLine(text)!);
  appender.finish(true);
  return { tid };
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
const content = () => readFileSync(path(), "utf8");

/** The path of the conversation, as texts. */
function conversation(tid: number): string[] {
  const entries = lines(tid)
    .slice(1)
    .map((line) => JSON.parse(line) as { id: string; parentId: string | null; message: { content: string } });
  const texts: string[] = [];
  for (let id: string | null = transcriptRow(db, tid).leafId ?? null; id !== null;) {
    const found = entries.findLast((one) => one.id === id)!;
    texts.unshift(found.message.content);
    id = found.parentId;
  }
  return texts;
}

const OURS = [entry("00000001", null, "q1"), entry("00000002", "00000001", "a1"), entry("00000003", "00000002", "q2"), entry("00000004", "00000003", "a2")];

test.each([
  ["its last lines", [HEADER, OURS[0], OURS[1]], "00000002"],
  ["all its lines", [HEADER], null],
  ["a line in the middle", [HEADER, OURS[0], OURS[2], OURS[3]], "00000004"],
  ["a line in the middle and its last", [HEADER, OURS[0], OURS[2]], "00000003"],
])("another program's turn in a file that lacked %s follows ours in the conversation", (_, written, last) => {
  const { tid } = commit([HEADER, ...OURS]);
  mkdirSync(dirname(path()), { recursive: true });
  const theirs = [entry("aaaaaaaa", last, "q3"), entry("bbbbbbbb", "aaaaaaaa", "a3")];
  writeFileSync(path(), [...written, ...theirs, ""].join("\n"));
  expect(projection.check(db, tid)).toMatchObject({ action: "rewritten", adopted: 2 });
  expect(conversation(tid)).toEqual(["q1", "a1", "q2", "a2", "q3", "a3"]);
  expect([content(), projection.problems(), projection.branched()]).toEqual([expected(tid), [], []]);
  expect(projection.check(db, tid, { thorough: true }).action).toBe("ok");
});

test("another program's turn after a torn line is not lost, whether or not it began a new line", () => {
  const size = Buffer.byteLength(OURS[2]!);
  for (let torn = 1; torn <= size; torn += 1) {
    for (const between of ["", "\n"]) {
      const file = `agents/main/sessions/torn-${torn}-${between.length}.jsonl`;
      const { tid } = commit([HEADER, ...OURS], file);
      mkdirSync(dirname(path(file)), { recursive: true });
      const theirs = [entry("aaaaaaaa", torn === size ? "00000003" : "00000002", "q3"), entry("bbbbbbbb", "aaaaaaaa", "a3")].join("\n");
      writeFileSync(path(file), `${[HEADER, OURS[0], OURS[1], OURS[2]!.slice(0, torn)].join("\n")}${between}${theirs}\n`);
      projection.check(db, tid);
      expect(conversation(tid), `torn at ${torn}`).toEqual(["q1", "a1", "q2", "a2", "q3", "a3"]);
    }
  }
});

test("retries of another program stay branches of the same turn", () => {
  const { tid } = commit([HEADER, ...OURS]);
  mkdirSync(dirname(path()), { recursive: true });
  const theirs = [entry("aaaaaaaa", "00000002", "q3"), entry("bbbbbbbb", "00000002", "q3 again"), entry("cccccccc", "bbbbbbbb", "a3")];
  writeFileSync(path(), [HEADER, OURS[0], OURS[1], ...theirs, ""].join("\n"));
  projection.check(db, tid);
  expect(conversation(tid)).toEqual(["q1", "a1", "q2", "a2", "q3 again", "a3"]);
});

test("where another program went back to an earlier message of a file that lacked lines, our conversation stays and the branch is reported", () => {
  const { tid } = commit([HEADER, ...OURS]);
  mkdirSync(dirname(path()), { recursive: true });
  writeFileSync(path(), [HEADER, ...OURS.slice(0, 3), entry("aaaaaaaa", "00000001", "elsewhere"), ""].join("\n"));
  expect(projection.check(db, tid)).toMatchObject({ action: "rewritten", adopted: 1, apart: 1 });
  expect(conversation(tid)).toEqual(["q1", "a1", "q2", "a2"]);
  expect(projection.branched()).toMatchObject([{ file: FILE, problem: expect.stringContaining("earlier message") }]);
  expect([projection.problems(), logged.some((line) => line.includes("earlier message"))]).toEqual([[], true]);
});
