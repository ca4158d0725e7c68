import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { seededRandom } from "../../base/random.ts";
import { migrate } from "../sqlite/migrations.ts";
import { SCHEMA_V1 } from "../sqlite/schema.ts";
import { salvage } from "./salvage.ts";
import { finishSalvage } from "./swap.ts";
import type { SalvageReport } from "./types.ts";

const TRANSCRIPTS = 6;
const LINES = 150;
const PAGE = 4096;
const prepare = (db: DatabaseSync): void => db.exec(`${SCHEMA_V1}; PRAGMA user_version = 1`);

let template: string;
let root: string;
let stateDir: string;
let file: string;

const fileOf = (n: number) => `agents/main/sessions/s${n}.jsonl`;
const lineOf = (n: number, seq: number) =>
  seq === 0
    ? JSON.stringify({ type: "session", version: 3, id: `s${n}`, timestamp: "2026-02-19T10:00:00.000Z" })
    : JSON.stringify({
        type: "message",
        id: `${n}-${seq}`,
        parentId: null,
        timestamp: "2026-02-19T10:00:01.000Z",
        message: { content: "x".repeat((seq * 37) % 900) + (seq === 50 ? "long ".repeat(4000) : "") },
      });

/** A store after some use: several trees with several levels, and files that match them. */
function fill(folder: string): void {
  const db = new DatabaseSync(join(folder, "openclaw.db"));
  db.exec("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL; BEGIN");
  prepare(db);
  const line = db.prepare("INSERT INTO transcript_entries (tid, seq, entry_id, type, ts, line) VALUES (?, ?, ?, ?, ?, ?)");
  mkdirSync(dirname(join(folder, fileOf(1))), { recursive: true });
  for (let n = 1; n <= TRANSCRIPTS; n += 1) {
    const lines = Array.from({ length: LINES }, (_, seq) => lineOf(n, seq));
    for (const [seq, text] of lines.entries()) line.run(n, seq, seq === 0 ? null : `${n}-${seq}`, seq === 0 ? "session" : "message", 1_771_495_201_000, text);
    const content = lines.map((text) => `${text}\n`).join("");
    writeFileSync(join(folder, fileOf(n)), content);
    db.prepare("INSERT INTO transcripts VALUES (?, 'main', ?, ?, ?, ?, ?, 0, NULL)").run(
      n,
      `s${n}`,
      fileOf(n),
      LINES,
      Buffer.byteLength(content),
      `${n}-${LINES - 1}`,
    );
  }
  const session = db.prepare("INSERT INTO sessions (key, agent_id, session_id, updated_at, version, entry) VALUES (?, 'main', ?, ?, 1, ?)");
  for (let n = 1; n <= 200; n += 1) session.run(`agent:main:k${n}`, `s${n}`, n, JSON.stringify({ sessionId: `s${n}`, updatedAt: n, note: "y".repeat(100) }));
  const inbox = db.prepare(
    "INSERT INTO inbox (channel, account, conversation, message_id, kind, text, state, received_at) VALUES ('c', 'a', 'v', ?, 'message', ?, 'settled', ?)",
  );
  for (let n = 1; n <= 2000; n += 1) inbox.run(`m${n}`, `{not json, but what a user wrote ${n}`, n);
  const turn = db.prepare(
    "INSERT INTO turns (id, session_key, agent_id, state, resumptions, next_step, started_at, touched_at) VALUES (?, 'k', 'main', 'ended', 0, 0, ?, ?)",
  );
  for (let n = 1; n <= 1000; n += 1) turn.run(Buffer.from(String(n * 7919)).toString("hex"), n, n);
  db.exec("INSERT INTO meta (key, value) VALUES ('own', 'kept'); COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
}

beforeAll(() => fill((template = mkdtempSync(join(tmpdir(), "salvage-template-")))));
afterAll(() => rmSync(template, { recursive: true }));

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "salvage-"));
  reset();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function reset(): void {
  stateDir = mkdtempSync(join(root, "state-"));
  file = join(stateDir, "openclaw.db");
  copyFileSync(join(template, "openclaw.db"), file);
  mkdirSync(dirname(join(stateDir, fileOf(1))), { recursive: true });
  for (let n = 1; n <= TRANSCRIPTS; n += 1) copyFileSync(join(template, fileOf(n)), join(stateDir, fileOf(n)));
}

const run = (reason = "database disk image is malformed"): SalvageReport =>
  salvage({ file, stateDir, now: () => 1_771_495_260_000, prepare: (db) => void migrate(db, 1), reason });

function overwrite(page: number, byte = 0xff): void {
  const bytes = readFileSync(file);
  bytes.fill(byte, (page - 1) * PAGE, page * PAGE);
  writeFileSync(file, bytes);
}

/** Pages of one tree, by their position in it. */
function pagesOf(name: string, type: string): { page: number; cells: number }[] {
  const db = new DatabaseSync(join(template, "openclaw.db"), { readOnly: true });
  const rows = db.prepare("SELECT pageno, ncell FROM dbstat WHERE name = ? AND pagetype = ? ORDER BY pageno").all(name, type);
  db.close();
  return rows.map((row) => ({ page: Number(row["pageno"]), cells: Number(row["ncell"]) }));
}

function look<T>(work: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return work(db);
  } finally {
    db.close();
  }
}
const count = (table: string) => Number(look((db) => db.prepare(`SELECT count(*) AS n FROM ${table}`).get()!["n"]));
const tableOf = (report: SalvageReport, name: string) => report.tables.find(({ table }) => table === name)!;

/** Every transcript is complete, matches its file, and the file is unchanged. */
function expectWholeTranscripts(): void {
  for (let n = 1; n <= TRANSCRIPTS; n += 1) {
    const lines = look((db) =>
      db.prepare("SELECT e.line FROM transcript_entries e JOIN transcripts t USING (tid) WHERE t.file = ? ORDER BY e.seq").all(fileOf(n)),
    );
    expect(lines.map((row) => row["line"])).toEqual(Array.from({ length: LINES }, (_, seq) => lineOf(n, seq)));
    expect(readFileSync(join(stateDir, fileOf(n)), "utf8")).toBe(readFileSync(join(template, fileOf(n)), "utf8"));
    expect(look((db) => db.prepare("SELECT next_seq, bytes, leaf_id FROM transcripts WHERE file = ?").get(fileOf(n)))).toEqual({
      next_seq: LINES,
      bytes: statSync(join(stateDir, fileOf(n))).size,
      leaf_id: `${n}-${LINES - 1}`,
    });
  }
}

const integrity = () => look((db) => db.prepare("PRAGMA integrity_check").get()!["integrity_check"]);

test("one bad page of a table loses only the rows on that page", () => {
  const random = seededRandom(11);
  for (const table of ["inbox", "turns", "sessions"]) {
    const pages = pagesOf(table, "leaf");
    for (let round = 0; round < 3; round += 1) {
      reset();
      const { page, cells } = pages[Math.floor(random.float() * pages.length)]!;
      const before = count(table);
      overwrite(page, Math.floor(random.float() * 256));
      const report = run();
      expect([count(table), tableOf(report, table).unreadable.length > 0], `${table}, page ${page}`).toEqual([before - cells, true]);
      expect(integrity()).toBe("ok");
    }
  }
});

test("the first, the last, and several bad pages lose only their own rows", () => {
  for (const table of ["inbox", "turns"]) {
    const pages = pagesOf(table, "leaf");
    for (const chosen of [[0], [pages.length - 1], [0, pages.length - 1], [1, 5, 9], [0, 3, pages.length - 1]]) {
      reset();
      const before = count(table);
      for (const at of chosen) overwrite(pages[at]!.page);
      run();
      const lost = chosen.reduce((sum, at) => sum + pages[at]!.cells, 0);
      expect(count(table), `${table}, leaves ${chosen.join(", ")}`).toBe(before - lost);
    }
  }
});

test("a bad page of an index loses nothing", () => {
  const before = ["inbox", "sessions", "turns", "transcript_entries"].map(count);
  for (const index of ["inbox_settled", "sessions_session", "transcript_entries_id", "sqlite_autoindex_inbox_1"]) {
    const [page] = pagesOf(index, "leaf");
    if (page) overwrite(page.page);
  }
  run();
  expect(["inbox", "sessions", "turns", "transcript_entries"].map(count)).toEqual(before);
  expect(integrity()).toBe("ok");
});

test("unreadable transcript lines are recovered from their files, wherever the page was", () => {
  const random = seededRandom(3);
  for (const type of ["leaf", "overflow", "internal"]) {
    const pages = pagesOf("transcript_entries", type);
    expect(pages.length).toBeGreaterThan(0);
    for (let round = 0; round < 4; round += 1) {
      reset();
      overwrite(pages[Math.floor(random.float() * pages.length)]!.page, [0, 0xff, 0x41, 0x22][round]);
      run();
      expectWholeTranscripts();
    }
  }
});

test("a line that is damaged but looks valid is taken from its file", () => {
  const [page] = pagesOf("transcript_entries", "overflow");
  const bytes = readFileSync(file);
  bytes.fill(0x7a, (page!.page - 1) * PAGE + 100, (page!.page - 1) * PAGE + 200);
  writeFileSync(file, bytes);
  expect(run().linesFromFiles).toBe(1);
  expectWholeTranscripts();
});

test("without its file a transcript has what is left in the database, in order and without gaps", () => {
  rmSync(join(stateDir, fileOf(3)));
  const pages = pagesOf("transcript_entries", "leaf");
  overwrite(pages[Math.floor(pages.length / 2)]!.page);
  const report = run();
  const rows = look((db) => db.prepare("SELECT seq, line FROM transcript_entries WHERE tid = 3 ORDER BY seq").all());
  expect(rows.map((row) => row["seq"])).toEqual(rows.map((_, n) => n));
  expect(readFileSync(join(stateDir, fileOf(3)), "utf8")).toBe(rows.map((row) => `${String(row["line"])}\n`).join(""));
  expect(tableOf(report, "transcript_entries").unreadable.length).toBeGreaterThan(0);
});

test("lost rows of the transcripts table are rebuilt from the lines and the files", () => {
  const db = new DatabaseSync(file);
  db.exec("DELETE FROM transcripts WHERE tid IN (2, 4)");
  db.exec("PRAGMA journal_mode = DELETE");
  db.close();
  run();
  expectWholeTranscripts();
});

test("random damage anywhere: it opens, transcripts are whole, nothing is deleted", () => {
  const random = seededRandom(99);
  const size = statSync(file).size;
  for (let round = 0; round < 12; round += 1) {
    reset();
    const bytes = readFileSync(file);
    for (let hit = 0; hit <= Math.floor(random.float() * 4); hit += 1) {
      const at = Math.floor(random.float() * size);
      random.bytes(1 + Math.floor(random.float() * 6000)).copy(bytes, at);
    }
    writeFileSync(file, bytes);
    const report = run();
    expect(integrity(), `round ${round}`).toBe("ok");
    expectWholeTranscripts();
    expect(readFileSync(join(report.folder, "openclaw.db")).equals(bytes)).toBe(true);
    const missing = count("inbox") < 2000 || count("turns") < 1000;
    expect(missing && report.findings.length === 0, `round ${round}: rows are missing and nothing tells`).toBe(false);
  }
});

test("rows that are only in the write-ahead log are saved, and the log moves with the damaged file", () => {
  const live = new DatabaseSync(file);
  live.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0");
  live.exec("INSERT INTO meta (key, value) VALUES ('late', 'in the log')");
  const aside = join(root, "aside.db");
  for (const end of ["", "-wal"]) copyFileSync(file + end, aside + end);
  live.close();
  for (const end of ["-wal", "-shm"]) rmSync(file + end, { force: true });
  for (const end of ["", "-wal"]) copyFileSync(aside + end, file + end);
  overwrite(pagesOf("inbox", "leaf")[2]!.page);
  const { folder } = run();
  expect(look((db) => db.prepare("SELECT value FROM meta WHERE key = 'late'").get())).toEqual({ value: "in the log" });
  expect([existsSync(join(folder, "openclaw.db-wal")), existsSync(`${file}-wal`)]).toEqual([true, false]);
});

const notDatabases: [string, (path: string) => void][] = [
  ["text", (path) => writeFileSync(path, "this is not a database\n".repeat(500))],
  ["zeros", (path) => writeFileSync(path, Buffer.alloc(40_960))],
  ["nothing but its first 100 bytes", (path) => truncateSync(path, 100)],
  ["nothing", (path) => truncateSync(path, 0)],
  ["a bad first page", () => overwrite(1, 0x55)],
];
for (const [what, spoil] of notDatabases) {
  test(`a file that holds ${what} is set aside, and everything is rebuilt from the transcript files`, () => {
    spoil(file);
    const spoilt = readFileSync(file);
    const report = run("file is not a database");
    expect(report).toMatchObject({ readable: false, linesFromFiles: TRANSCRIPTS * LINES, sessionsFromFiles: TRANSCRIPTS });
    expectWholeTranscripts();
    expect(look((db) => db.prepare("SELECT key, session_id FROM sessions ORDER BY key").get())).toEqual({ key: "agent:main:recovered:s1", session_id: "s1" });
    expect(readFileSync(join(report.folder, "openclaw.db")).equals(spoilt)).toBe(true);
  });
}

test("when rebuilt from files, sessions named by an old index keep their keys", () => {
  writeFileSync(join(stateDir, "agents/main/sessions/sessions.json"), JSON.stringify({ "agent:main:main": { sessionId: "s1", updatedAt: 5 } }));
  writeFileSync(file, "gone");
  expect(run().sessionsFromFiles).toBe(TRANSCRIPTS - 1);
  expect(look((db) => db.prepare("SELECT session_id FROM sessions WHERE key = 'agent:main:main'").get())).toEqual({ session_id: "s1" });
});

test("an old index does not bring back what a readable database has deleted since", () => {
  writeFileSync(join(stateDir, "agents/main/sessions/sessions.json"), JSON.stringify({ "agent:main:deleted": { sessionId: "s1", updatedAt: 5 } }));
  overwrite(pagesOf("inbox", "leaf")[1]!.page);
  run();
  expect(look((db) => db.prepare("SELECT count(*) AS n FROM sessions WHERE key = 'agent:main:deleted'").get())).toEqual({ n: 0 });
});

test("the damaged file is in its folder with the reason and the report", () => {
  overwrite(pagesOf("inbox", "leaf")[1]!.page);
  const report = run("the reason");
  expect(report.folder).toBe(join(stateDir, "damaged", "2026-02-19T10-01-00.000Z"));
  expect(
    readdirSync(report.folder)
      .filter((name) => !/-(?:wal|shm)$/.test(name))
      .sort(),
  ).toEqual(["openclaw.db", "reason.txt", "report.json"]);
  expect(readFileSync(join(report.folder, "reason.txt"), "utf8")).toBe("the reason\n");
  expect(JSON.parse(readFileSync(join(report.folder, "report.json"), "utf8"))).toEqual(report);
  expect([statSync(report.folder).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600]);
});

test("a second salvage gets a folder of its own", () => {
  overwrite(pagesOf("inbox", "leaf")[1]!.page);
  run();
  writeFileSync(file, "damaged again");
  run();
  expect(readdirSync(join(stateDir, "damaged"))).toEqual(["2026-02-19T10-01-00.000Z", "2026-02-19T10-01-00.000Z-1"]);
});

test("a salvage that died during the swap is completed by the next start, whatever was moved", () => {
  for (const moved of [[], [""], ["", "-wal"]]) {
    reset();
    overwrite(pagesOf("inbox", "leaf")[1]!.page);
    writeFileSync(`${file}-wal`, "the old log");
    const damaged = readFileSync(file);
    const folder = join(stateDir, "damaged/then");
    mkdirSync(folder, { recursive: true });
    copyFileSync(join(template, "openclaw.db"), join(folder, "salvaged.db"));
    for (const end of moved) renameSync(file + end, join(folder, `openclaw.db${end}`));
    expect(finishSalvage(file, stateDir)).toBe(folder);
    expect([existsSync(`${file}-wal`), readFileSync(join(folder, "openclaw.db-wal"), "utf8"), count("inbox")]).toEqual([false, "the old log", 2000]);
    expect(readFileSync(join(folder, "openclaw.db")).equals(damaged)).toBe(true);
    expect(finishSalvage(file, stateDir)).toBeUndefined();
  }
});

test("a database that was created since is never replaced", () => {
  const folder = join(stateDir, "damaged/then");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "openclaw.db"), "the damaged one");
  writeFileSync(join(folder, "salvaged.db"), "the saved one");
  expect([finishSalvage(file, stateDir), count("inbox"), readFileSync(join(folder, "salvaged-late.db"), "utf8")]).toEqual([undefined, 2000, "the saved one"]);
});

test("a damaged state of an older version is saved into the newest schema, where turns are ordered differently", () => {
  const [leaf] = pagesOf("turns", "leaf");
  overwrite(leaf!.page);
  const report = salvage({ file, stateDir, now: () => 1_771_495_260_000, prepare: (db) => void migrate(db, 2), reason: "damaged" });
  const turns = report.tables.find(({ table }) => table === "turns")!;
  expect(turns.copied).toBeGreaterThanOrEqual(1000 - leaf!.cells - 1);
  using db = new DatabaseSync(file, { readOnly: true });
  expect(db.prepare("SELECT count(*) AS n FROM turns WHERE n > 0").get()).toEqual({ n: turns.copied });
});

test("rows that triggers fill are not taken for damaged ones", () => {
  const db = new DatabaseSync(file);
  migrate(db, 2);
  db.exec(`INSERT INTO transcripts (tid, agent_id, session_id, file, next_seq, bytes, leaf_id, created_at) VALUES (70, 'main', 's70', '${fileOf(70)}', 4, 0, 'c', 0);
    INSERT INTO transcript_entries (tid, seq, entry_id, parent_id, type, ts, line) VALUES (70, 0, NULL, NULL, 'session', 1, '{}'),
      (70, 1, 'a', NULL, 'message', 1, '{}'), (70, 2, 'b', 'a', 'message', 1, '{}'), (70, 3, 'c', 'a', 'message', 1, '{}');
    INSERT INTO sessions (key, agent_id, session_id, updated_at, version, entry)
      VALUES ('agent:main:pinned', 'main', 's70', 1, 1, '{"sessionId":"s70","updatedAt":1,"pinnedAt":5,"folder":"Work"}')`);
  db.close();
  expect(run().tables.filter(({ refused }) => refused > 0)).toEqual([]);
  using saved = new DatabaseSync(file, { readOnly: true });
  expect(saved.prepare("SELECT seq FROM transcript_forks WHERE tid = 70").all()).toEqual([{ seq: 3 }]);
  expect(saved.prepare("SELECT session_key, pinned_at FROM session_marks").all()).toEqual([{ session_key: "agent:main:pinned", pinned_at: 5 }]);
  expect(saved.prepare("SELECT session_key, folder FROM session_folders").all()).toEqual([{ session_key: "agent:main:pinned", folder: "Work" }]);
});
