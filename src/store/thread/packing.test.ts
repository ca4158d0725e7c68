import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock, systemClock } from "../../base/clock.ts";
import { createBackup, restoreBackup } from "../backup/index.ts";
import { openStore } from "../client/open-store.ts";
import type { Store } from "../store.ts";

const DAY = 86_400_000;
const START = Date.parse("2026-01-01T00:00:00Z");
const FILE = "agents/main/sessions/s1.jsonl";
const KEY = "agent:main:old";
const HEADER = JSON.stringify({ type: "session", version: 3, id: "s1", timestamp: new Date(START).toISOString(), cwd: "/" });
/** More than one pack, and a line that is too long for any. */
const COUNT = 400;
const LONG_AT = 7;

const line = (n: number): string => {
  const text = n === LONG_AT ? "long ".repeat(80_000) : `message ${n} from the zebra in the garden, with é. ${"filler ".repeat(30)}`;
  const message = { role: n % 2 === 1 ? "user" : "assistant", content: [{ type: "text", text }] };
  return JSON.stringify({ type: "message", id: `e${n}`, parentId: n === 1 ? null : `e${n - 1}`, timestamp: new Date(START).toISOString(), message });
};
const LINES = [HEADER, ...Array.from({ length: COUNT }, (_, n) => line(n + 1))];
const CONTENT = `${LINES.join("\n")}\n`;

let folder = "";
let clock = manualClock(START);
let store: Store;

async function open(): Promise<void> {
  store = await openStore({ stateDir: folder, clock });
}
const close = (): Promise<void> => store[Symbol.asyncDispose]();
const at = (name: string): string => join(folder, name);

async function addOldSession(): Promise<void> {
  await store.write("transcripts.ensure", { file: FILE, agentId: "main", sessionId: "s1", header: HEADER });
  await store.write("sessions.put", { key: KEY, agentId: "main", entry: { sessionId: "s1", updatedAt: START } });
  const entries = LINES.slice(1).map((text, n) => ({ id: `e${n + 1}`, parentId: n === 0 ? null : `e${n}`, type: "message", at: START, line: text }));
  await store.write("transcripts.append", { file: FILE, entries });
}

/** Compresses transcripts older than 30 days, like the hourly maintenance. */
async function archive(): Promise<void> {
  for (;;) {
    const { done } = await store.maintain({ budgetMs: 10_000, policy: { compressMs: 30 * DAY } });
    if (done) return;
  }
}

async function allLines(): Promise<string[]> {
  return (await store.read("transcripts.page", { file: FILE, limit: 10_000 })).map((row) => row.line);
}

function look<T>(work: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(at("openclaw.db"), { readOnly: true });
  try {
    return work(db);
  } finally {
    db.close();
  }
}
const storedBytes = (): number =>
  look((db) => Number(db.prepare("SELECT sum(octet_length(line)) AS n FROM transcript_entries WHERE seq <> ?").get(LONG_AT)!["n"]));
const packs = (): number => look((db) => Number(db.prepare("SELECT count(*) AS n FROM transcript_packs").get()!["n"]));

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "packing-"));
  clock = manualClock(START);
  await open();
});
afterEach(async () => {
  await close();
  rmSync(folder, { recursive: true, force: true });
});

test("without the setting nothing is compressed, and with it only transcripts unused for that long", async () => {
  await addOldSession();
  clock.advance(29 * DAY);
  await archive();
  clock.advance(100 * DAY);
  await store.maintain({ budgetMs: 10_000 });
  expect([packs(), existsSync(at(FILE))]).toEqual([0, true]);
  // The transcript of a recently used session stays as it is, however old it is.
  await store.write("sessions.merge", { key: KEY, patch: { updatedAt: clock.now() } });
  await archive();
  expect([packs(), existsSync(at(FILE))]).toEqual([0, true]);
});

test("an old transcript is compressed in the database and as a file, and every read returns the same as before", async () => {
  await addOldSession();
  const reads = async (): Promise<unknown> =>
    Promise.all([
      allLines(),
      store.read("transcripts.get", { file: FILE }),
      store.read("transcripts.page", { file: FILE, before: 300, limit: 20 }),
      store.read("transcripts.tail", { file: FILE, limit: 5 }),
      store.read("transcripts.entry", { file: FILE, id: "e123" }),
      store.read("transcripts.path", { file: FILE }),
      store.read("transcripts.path", { file: FILE, limit: 10 }),
      store.read("transcripts.positions", { file: FILE, after: 200, limit: 50 }),
      store.read("transcripts.messages", { agentId: "main", sessionId: "s1" }),
      store.read("sessions.shown", { limit: 10, last: true }),
      store.read("sessions.shown", { limit: 10, last: true, search: `message ${COUNT}` }),
    ]);
  const before = await reads();
  clock.advance(31 * DAY);
  const { compressed } = await store.maintain({ budgetMs: 10_000, policy: { compressMs: 30 * DAY } });
  await archive();
  // The long line is in no pack.
  expect(compressed).toMatchObject({ lines: COUNT });
  expect(compressed!.packedBytes).toBeLessThan(compressed!.bytes / 4);
  expect([storedBytes(), packs() > 1]).toEqual([0, true]);
  expect(readdirSync(at("agents/main/sessions")).filter((name) => name.startsWith("s1"))).toEqual(["s1.jsonl.gz"]);
  expect(gunzipSync(readFileSync(at(`${FILE}.gz`))).toString("utf8")).toBe(CONTENT);
  expect(await reads()).toEqual(before);
  await close();
  await open();
  expect(await reads()).toEqual(before);
  // Reading alone does not restore the file.
  expect(existsSync(at(FILE))).toBe(false);
});

test("a new message continues an archived session, with its file complete again, and it can be archived once more", async () => {
  await addOldSession();
  clock.advance(31 * DAY);
  await archive();
  const next = line(COUNT + 1);
  const append = {
    file: FILE,
    entries: [{ id: `e${COUNT + 1}`, parentId: `e${COUNT}`, type: "message", at: clock.now(), line: next }],
    expectLeaf: `e${COUNT}`,
  };
  await store.write("transcripts.append", append);
  expect((await allLines()).at(-1)).toBe(next);
  await expect.poll(() => readFileSync(at(FILE), "utf8")).toBe(`${CONTENT}${next}\n`);
  expect(existsSync(at(`${FILE}.gz`))).toBe(false);
  clock.advance(31 * DAY);
  await archive();
  expect(gunzipSync(readFileSync(at(`${FILE}.gz`))).toString("utf8")).toBe(`${CONTENT}${next}\n`);
  expect([existsSync(at(FILE)), storedBytes(), await allLines()]).toEqual([false, 0, [...LINES, next]]);
});

test("a line of a compressed transcript is overwritten everywhere: the other lines stay, and it can be compressed again", async () => {
  await addOldSession();
  clock.advance(31 * DAY);
  await archive();
  const removed = LINES[300]!.replace("zebra", "[removed]");
  await store.write("transcripts.redact", { file: FILE, seq: 300, id: "e300", line: removed });
  const lines = LINES.with(300, removed);
  expect(await allLines()).toEqual(lines);
  await expect.poll(() => readFileSync(at(FILE), "utf8")).toBe(`${lines.join("\n")}\n`);
  expect(existsSync(at(`${FILE}.gz`))).toBe(false);
  clock.advance(31 * DAY);
  await archive();
  expect(gunzipSync(readFileSync(at(`${FILE}.gz`))).toString("utf8")).toBe(`${lines.join("\n")}\n`);
});

test("a starting turn gets the file restored before it writes", async () => {
  await addOldSession();
  clock.advance(31 * DAY);
  await archive();
  await store.write("transcripts.ensure", { file: FILE, agentId: "main", sessionId: "s1", header: HEADER });
  expect(readFileSync(at(FILE), "utf8")).toBe(CONTENT);
});

test("lines that another program added to the compressed file are imported", async () => {
  await addOldSession();
  clock.advance(31 * DAY);
  await archive();
  await close();
  const foreign = line(COUNT + 1);
  writeFileSync(at(FILE), gunzipSync(readFileSync(at(`${FILE}.gz`))));
  rmSync(at(`${FILE}.gz`));
  appendFileSync(at(FILE), `${foreign}\n`);
  await open();
  expect((await store.read("transcripts.tail", { file: FILE, limit: 1 }))[0]?.line).toBe(foreign);
});

test("a damaged compressed file loses nothing: it is set aside and rewritten from the database", async () => {
  await addOldSession();
  clock.advance(31 * DAY);
  await archive();
  writeFileSync(at(`${FILE}.gz`), "not gzip");
  await store.write("transcripts.ensure", { file: FILE, agentId: "main", sessionId: "s1", header: HEADER });
  expect(readFileSync(at(FILE), "utf8")).toBe(CONTENT);
  expect(readdirSync(at("agents/main/sessions")).some((name) => name.includes(".gz.bak-"))).toBe(true);
});

test("deleting an archived session keeps its compressed file under the name of a deleted one, and removing it leaves nothing", async () => {
  await addOldSession();
  clock.advance(31 * DAY);
  await archive();
  const { file } = await store.write("transcripts.archive", { file: FILE, reason: "deleted" });
  await expect.poll(() => existsSync(at(`${file}.gz`))).toBe(true);
  expect(gunzipSync(readFileSync(at(`${file}.gz`))).toString("utf8")).toBe(CONTENT);
  expect((await store.read("transcripts.page", { file, limit: 10_000 })).map((row) => row.line)).toEqual(LINES);
  await store.write("transcripts.remove", { file });
  await expect.poll(() => readdirSync(at("agents/main/sessions")).filter((name) => name.startsWith("s1"))).toEqual([]);
  expect(packs()).toBe(0);
});

test("retention of deleted transcripts removes their compressed lines, too", async () => {
  await addOldSession();
  clock.advance(31 * DAY);
  await archive();
  await store.write("transcripts.archive", { file: FILE, reason: "deleted" });
  clock.advance(31 * DAY);
  await store.maintain({ budgetMs: 10_000, policy: { archivedTranscriptsMs: 30 * DAY } });
  expect(packs()).toBe(0);
});

test("a backup of an archived session restores it", async () => {
  await addOldSession();
  clock.advance(31 * DAY);
  await archive();
  const target = mkdtempSync(join(tmpdir(), "packing-backup-"));
  try {
    const { path } = await createBackup({ stateDir: folder, into: target, form: "tar.gz", configFiles: [], madeBy: "test", clock: systemClock });
    await close();
    await restoreBackup({ backup: path, stateDir: folder, isHeld: () => false, clock: systemClock });
    await open();
    expect(await allLines()).toEqual(LINES);
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
});

test("a damaged database recovers compressed lines from the compressed file", async () => {
  await addOldSession();
  clock.advance(31 * DAY);
  await archive();
  await close();
  const db = new DatabaseSync(at("openclaw.db"));
  db.exec("UPDATE transcript_packs SET data = x'00' WHERE id = (SELECT min(id) FROM transcript_packs)");
  db.close();
  writeFileSync(at("openclaw.db.suspect"), "a test says so\n");
  await open();
  expect(await allLines()).toEqual(LINES);
  expect(readFileSync(at(FILE), "utf8")).toBe(CONTENT);
});

test("a state folder without its database is imported with its compressed transcripts", async () => {
  await addOldSession();
  clock.advance(31 * DAY);
  await archive();
  await close();
  for (const name of readdirSync(folder)) if (name.startsWith("openclaw.db")) rmSync(at(name));
  await open();
  await store.imported();
  expect(await allLines()).toEqual(LINES);
});

const STORE_FOLDER = fileURLToPath(new URL("..", import.meta.url));
/** Compresses old transcripts until it is killed. */
const PROGRAM = `
  const { openStore } = await import(process.argv[1] + "index.ts");
  const { manualClock } = await import(process.argv[1] + "../base/clock.ts");
  const store = await openStore({ stateDir: process.argv[2], clock: manualClock(Number(process.argv[3])) });
  for (;;) await store.maintain({ budgetMs: 10000, policy: { compressMs: ${30 * DAY} } });
`;

test.each(["transcript.packed:1", "transcript.packed:3", "transcript.compressed", "transcript.published"])(
  "killed at %s, nothing is lost and the rest is done the next time",
  async (failpoint) => {
    await addOldSession();
    clock.advance(31 * DAY);
    await close();
    const args = ["--input-type=module", "-e", PROGRAM, STORE_FOLDER, folder, String(clock.now())];
    const child = spawn(process.execPath, args, { env: { ...process.env, OPENCLAW_FAILPOINT: failpoint }, stdio: "ignore" });
    const [, signal] = (await once(child, "close")) as [number | null, string | null];
    expect(signal).toBe("SIGKILL");
    await open();
    expect(await allLines()).toEqual(LINES);
    await archive();
    expect(gunzipSync(readFileSync(at(`${FILE}.gz`))).toString("utf8")).toBe(CONTENT);
    expect([existsSync(at(FILE)), storedBytes(), await allLines()]).toEqual([false, 0, LINES]);
  },
);
