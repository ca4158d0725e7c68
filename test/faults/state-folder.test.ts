import {
  appendFileSync,
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { fingerprint } from "../harness/fingerprint.ts";
import { makePlace, type Place } from "../harness/gateway-process.ts";
import { fill } from "../harness/full-disk.ts";
import { AS_NOBODY, giveToNobody, mountTmpfs, needMounts, needNobody } from "../harness/privileges.ts";
import { openTestStore, runCommand } from "../harness/program.ts";
import { areJobsImported, copyReference, fileOf, importedRows, isImported, seedSessions } from "./seed.ts";

const POLL = { timeout: 10_000 };
/** The index beside them is written a moment after a change. */
const transcriptFiles = (place: Place) => fingerprint(join(place.stateDir, "agents"), /sessions\.json/);
const database = (place: Place): string => join(place.stateDir, "openclaw.db");
const start = (place: Place, stateDir = place.stateDir) => place.gateway({ env: { OPENCLAW_STATE_DIR: stateDir } });
const sessionKeys = (place: Place): string[] => JSON.parse(place.cli("sessions", "--json").stdout).sessions.map(({ key }: { key: string }) => key);
const status = (place: Place) => JSON.parse(place.cli("status", "--json").stdout);

test("a state folder this user may not write is named with what to do, and is not touched", async (context) => {
  needNobody(context);
  const place = makePlace();
  giveToNobody(place.home);
  mkdirSync(place.stateDir, { mode: 0o500 });
  chmodSync(place.stateDir, 0o555);
  const { code, stderr } = runCommand(place, ["gateway", "--allow-unconfigured", "--port", "0"], { wrap: AS_NOBODY });
  expect(code).toBe(1);
  expect(stderr).toMatch(new RegExp(`${place.stateDir}.* may not be (?:accessed|changed) by this user; check its owner and mode`));
  expect(readdirSync(place.stateDir)).toEqual([]);
});

test("a database that belongs to another user is named with both users, and left untouched", async (context) => {
  needNobody(context);
  const place = makePlace();
  await seedSessions(place.stateDir, 2);
  giveToNobody(place.home, place.stateDir);
  const before = fingerprint(place.stateDir);
  const { code, stderr } = runCommand(place, ["gateway", "--allow-unconfigured", "--port", "0"], { wrap: AS_NOBODY });
  expect(code).toBe(1);
  expect(stderr).toMatch(/openclaw\.db belongs to user 0, this process runs as user 65534; start it as that user, or change the file's owner/);
  expect(fingerprint(place.stateDir, /^logs/)).toEqual(before);
});

test("a state folder that another user keeps to himself is named with what to do", (context) => {
  needNobody(context);
  const place = makePlace();
  giveToNobody(place.home);
  mkdirSync(place.stateDir, { mode: 0o700 });
  for (const args of [["gateway", "--allow-unconfigured", "--port", "0"], ["sessions"], ["backup", "create", "--output", place.home]]) {
    const { code, stderr } = runCommand(place, args, { wrap: AS_NOBODY });
    expect([code, stderr], args.join(" ")).toEqual([1, expect.stringContaining(place.stateDir)]);
    expect(stderr, args.join(" ")).toMatch(/may not be accessed by this user|belongs to user/);
  }
});

test("a read-only file system is said to be one, with what to do, by the gateway and by commands", async (context) => {
  needMounts(context);
  using disk = mountTmpfs("8m");
  const place = makePlace();
  const stateDir = join(disk.path, "state");
  await seedSessions(stateDir, 3);
  const before = fingerprint(stateDir);
  disk.readOnly();
  await using gateway = await start(place, stateDir);
  expect((await gateway.exited).code).toBe(1);
  expect(gateway.output()).toMatch(new RegExp(`${stateDir}.* is on a read-only file system; remount it writable or choose another folder`));
  for (const args of [["sessions"], ["backup", "create"]]) {
    const { code, stderr } = runCommand(place, args, { env: { OPENCLAW_STATE_DIR: stateDir } });
    expect([code, stderr], args.join(" ")).toEqual([
      1,
      expect.stringMatching(/openclaw\.db.*: the database cannot be opened; check that the state folder exists and may be written/),
    ]);
  }
  const look = (...args: string[]): string => runCommand(place, args, { env: { OPENCLAW_STATE_DIR: stateDir } }).stdout;
  expect(look("status")).toMatch(/Sessions +unknown/);
  expect(look("doctor", "--non-interactive")).toMatch(/mounted read-only[^]*mount it writable/);
  expect(fingerprint(stateDir)).toEqual(before);
});

test("a disk that is full at the start is said to be, and what is there stays as it was", async (context) => {
  needMounts(context);
  using disk = mountTmpfs("1m");
  const place = makePlace();
  const stateDir = join(disk.path, "state");
  await seedSessions(stateDir, 3);
  fill(disk.path);
  const before = fingerprint(stateDir, /-shm$/);
  await using gateway = await start(place, stateDir);
  expect((await gateway.exited).code).toBe(1);
  expect(gateway.output()).toMatch(new RegExp(`${stateDir}.*the disk is full; free some space`, "s"));
  expect(gateway.output()).not.toContain("defect");
  expect(fingerprint(stateDir, /-shm$/)).toEqual(before);
});

test("a disk that is full before the first start is said to be, and the next start with space works", async (context) => {
  needMounts(context);
  using disk = mountTmpfs("1m");
  const place = makePlace();
  const stateDir = join(disk.path, "state");
  mkdirSync(stateDir);
  fill(disk.path, 40 * 1024);
  const first = await start(place, stateDir);
  expect((await first.exited).code).toBe(1);
  expect(first.output()).toMatch(/disk is full; free some space/);
  disk.resize("8m");
  await using second = await start(place, stateDir);
  expect(second.url, second.output()).toBeDefined();
});

/** Overwrites whole pages of the database with something that is none. */
/** Bytes of a page, as the header of the file says. */
const pageSize = (place: Place): number => readFileSync(database(place)).readUInt16BE(16);

function damage(place: Place, firstPage: number, pages: number): Buffer {
  const size = pageSize(place);
  const fd = openSync(database(place), "r+");
  writeSync(fd, Buffer.alloc(size * pages, "garbage "), 0, size * pages, (firstPage - 1) * size);
  closeSync(fd);
  return readFileSync(database(place));
}

function expectSetAside(place: Place, damaged: Buffer): void {
  const [folder] = readdirSync(join(place.stateDir, "damaged"));
  const kept = join(place.stateDir, "damaged", folder!);
  expect(readFileSync(join(kept, "openclaw.db")).equals(damaged)).toBe(true);
  expect(readFileSync(join(kept, "reason.txt"), "utf8").trim()).not.toBe("");
  expect(JSON.parse(readFileSync(join(kept, "report.json"), "utf8"))).toHaveProperty("tables");
}

const KEYS = Array.from({ length: 40 }, (_, n) => `agent:main:chat:${n}`).sort();

test("a database whose first page is garbage is set aside, and sessions and transcripts come back from their files", async () => {
  const place = makePlace();
  await seedSessions(place.stateDir, 40);
  const transcripts = transcriptFiles(place);
  const damaged = damage(place, 1, 1);
  await using gateway = await place.gateway();
  expect(gateway.url, gateway.output()).toBeDefined();
  expect(gateway.output()).toContain("the database was damaged");
  expect(status(place).health).toMatchObject({ status: "degraded", store: { notices: [{ kind: "salvaged" }] } });
  expectSetAside(place, damaged);
  expect(sessionKeys(place)).toHaveLength(40);
  expect(transcriptFiles(place)).toEqual(transcripts);
});

/** The page at which a table's rows begin. */
function rootPage(place: Place, table: string): number {
  using db = new DatabaseSync(database(place), { readOnly: true });
  return Number(db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(table)!["rootpage"]);
}

test("damage that the gateway meets while it works ends it, and the next start sets the database aside and saves what can be read", async () => {
  const place = makePlace();
  await seedSessions(place.stateDir, 40, 60);
  const transcripts = transcriptFiles(place);
  const pages = statSync(database(place)).size / pageSize(place);
  const damaged = damage(place, Math.floor(pages / 2), 6);
  {
    await using store = await openTestStore(place.stateDir);
    const reads = KEYS.map((_, n) => store.read("transcripts.page", { file: fileOf(n), limit: 1000 }));
    const refused = (await Promise.allSettled(reads)).flatMap((read) => (read.status === "rejected" ? [read.reason] : []));
    expect(refused.length).toBeGreaterThan(0);
    for (const error of refused)
      expect(error).toMatchObject({ code: "STORE_DAMAGED", message: expect.stringContaining("start again to save what can be read") });
    expect(store.health()).toMatchObject({ state: "failed", failure: { code: "STORE_DAMAGED", message: expect.stringContaining(database(place)) } });
    await expect(store.write("meta.set", { key: "x", value: 1 })).rejects.toMatchObject({ code: "STORE_FAILED" });
  }
  await using gateway = await place.gateway();
  expect(gateway.url, gateway.output()).toBeDefined();
  expect(status(place).health).toMatchObject({ status: "degraded", store: { notices: [{ kind: "salvaged" }] } });
  expectSetAside(place, damaged);
  expect(sessionKeys(place).sort()).toEqual(KEYS);
  expect(transcriptFiles(place)).toEqual(transcripts);
});

test.each([{ args: ["sessions"] }, { args: ["backup", "create"] }])(
  "damage that a command ($args) meets is named, and the next start sets it aside",
  async ({ args }) => {
    const place = makePlace();
    await seedSessions(place.stateDir, 40);
    const damaged = damage(place, rootPage(place, "sessions"), 1);
    const { code, stderr } = place.cli(...args);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/openclaw\.db.*: the database is damaged; start again to save what can be read/)]);
    await using gateway = await place.gateway();
    expect(gateway.url, gateway.output()).toBeDefined();
    expect(status(place).health).toMatchObject({ status: "degraded", store: { notices: [{ kind: "salvaged" }] } });
    expectSetAside(place, damaged);
    expect(sessionKeys(place)).toHaveLength(40);
  },
);

test.each([
  ["a text file", (path: string) => writeFileSync(path, "these are my notes\n".repeat(1000))],
  ["zeros", (path: string) => writeFileSync(path, Buffer.alloc(40_960))],
  ["cut in half", (path: string) => truncateSync(path, Math.floor(statSync(path).size / 8192) * 4096)],
] as const)("a database that is %s is set aside as it is, and the gateway starts with the transcripts of the files", async (_, spoil) => {
  const place = makePlace();
  await seedSessions(place.stateDir, 40);
  const transcripts = transcriptFiles(place);
  spoil(database(place));
  const damaged = readFileSync(database(place));
  await using gateway = await place.gateway();
  expect(gateway.url, gateway.output()).toBeDefined();
  expect(status(place).health).toMatchObject({ status: "degraded", store: { notices: [{ kind: "salvaged" }] } });
  expectSetAside(place, damaged);
  expect(sessionKeys(place)).toHaveLength(40);
  expect(transcriptFiles(place)).toEqual(transcripts);
});

test("a folder in the database's place is named, nothing is started and nothing is lost", async () => {
  const place = makePlace();
  mkdirSync(join(database(place), "inside"), { recursive: true });
  writeFileSync(join(database(place), "inside", "file"), "mine");
  const before = fingerprint(place.stateDir);
  await using gateway = await place.gateway();
  expect((await gateway.exited).code).toBe(1);
  expect(gateway.output()).toMatch(/openclaw\.db.*folder/);
  expect(gateway.output()).not.toContain("defect");
  expect(fingerprint(place.stateDir, /^logs/)).toEqual(before);
});

test("a database of a newer version is refused with both versions and stays identical to the byte", async () => {
  const place = makePlace();
  await seedSessions(place.stateDir, 2);
  {
    using db = new DatabaseSync(database(place));
    db.exec("PRAGMA user_version = 99; UPDATE meta SET value = '99' WHERE key = 'store.min_reader'; PRAGMA journal_mode = DELETE");
  }
  const before = fingerprint(place.stateDir);
  await using gateway = await place.gateway();
  expect((await gateway.exited).code).toBe(1);
  expect(gateway.output()).toMatch(
    /schema version 99 and needs a program that knows version 99, this one knows \d+; it was left untouched, start the newer version/,
  );
  expect(place.cli("sessions")).toMatchObject({ code: 1, stderr: expect.stringContaining("schema version 99") });
  expect(fingerprint(place.stateDir, /^logs/)).toEqual(before);
});

test("a salvage killed between its two moves is finished by the next start", async () => {
  const place = makePlace();
  await seedSessions(place.stateDir, 5);
  const folder = join(place.stateDir, "damaged", "2026-01-01T00-00-00.000Z");
  mkdirSync(folder, { recursive: true });
  // The damaged file has left, the new one, complete and on the disk, has not yet arrived.
  renameSync(database(place), join(folder, "salvaged.db"));
  writeFileSync(join(folder, "openclaw.db"), "damaged");
  writeFileSync(
    join(folder, "report.json"),
    JSON.stringify({ folder, reason: "killed", readable: true, findings: [], tables: [], linesFromFiles: 0, sessionsFromFiles: 0 }),
  );
  await using gateway = await place.gateway();
  expect(gateway.url, gateway.output()).toBeDefined();
  expect(sessionKeys(place).sort()).toEqual(KEYS.filter((key) => /:[0-4]$/.test(key)));
  expect(existsSync(join(folder, "salvaged.db"))).toBe(false);
});

test("a torn transcript file is mended at its first use, and a foreign line in it is taken over", async () => {
  const place = makePlace();
  await seedSessions(place.stateDir, 3);
  const [torn, gone, longer] = [0, 1, 2].map((n) => join(place.stateDir, fileOf(n))) as [string, string, string];
  const before = transcriptFiles(place);
  truncateSync(torn, statSync(torn).size - 37);
  truncateSync(gone, 0);
  const foreign = JSON.stringify({ type: "message", id: "foreign", parentId: "e2-19", text: "by another program" });
  appendFileSync(longer, `${foreign}\n`);
  await using store = await openTestStore(place.stateDir);
  for (const n of [0, 1, 2]) await store.read("transcripts.tail", { file: fileOf(n), limit: 1 });
  const after = transcriptFiles(place);
  expect(after["main/sessions/session-0.jsonl"]).toBe(before["main/sessions/session-0.jsonl"]);
  expect(after["main/sessions/session-1.jsonl"]).toBe(before["main/sessions/session-1.jsonl"]);
  expect(await store.read("transcripts.tail", { file: fileOf(2), limit: 1 })).toMatchObject([{ line: foreign }]);
});

/** The jobs of the imported folder are long due: they would run, and change what is compared. */
const WITHOUT_JOBS = { OPENCLAW_SKIP_CRON: "1" };

test.each([1, 2, 5, 9, 13])("an import killed at file %i goes on at the next start and gives what an undisturbed one gives", async (nth) => {
  const [calm, killed] = [makePlace(), makePlace()];
  for (const place of [calm, killed]) copyReference(place.stateDir);
  // The index of sessions is written again a moment after the import.
  const original = fingerprint(killed.stateDir, /sessions\.json/);
  {
    await using gateway = await calm.gateway({ env: WITHOUT_JOBS });
    await expect.poll(() => isImported(calm.stateDir) && areJobsImported(calm.stateDir), POLL).toBe(true);
    expect(gateway.url).toBeDefined();
  }
  const first = await killed.gateway({ build: "dist-test", env: { ...WITHOUT_JOBS, OPENCLAW_FAILPOINT: `import.file.committed:${nth}` } });
  expect((await first.exited).signal).toBe("SIGKILL");
  expect(isImported(killed.stateDir)).toBe(false);
  await using second = await killed.gateway({ env: WITHOUT_JOBS });
  expect(second.url, second.output()).toBeDefined();
  await expect.poll(() => isImported(killed.stateDir) && areJobsImported(killed.stateDir), POLL).toBe(true);
  expect(importedRows(killed.stateDir)).toBe(importedRows(calm.stateDir));
  expect(fingerprint(killed.stateDir)).toMatchObject(original);
});
