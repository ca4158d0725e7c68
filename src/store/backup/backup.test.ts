import { spawnSync } from "node:child_process";
import { createServer } from "node:net";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock, systemClock } from "../../base/clock.ts";
import { SCHEMA_V1 } from "../sqlite/schema.ts";
import { createBackup, finishRestore, restoreBackup, verifyBackup, type BackupOptions, type Manifest, type RestoreOptions } from "./index.ts";
import { padding, TAR_END, tarHeader } from "./tar.ts";

const FIXTURE = fileURLToPath(new URL("../../../test/fixtures/state/reference", import.meta.url));
const NOW = Date.parse("2026-02-19T10:00:00.000Z");

let root: string;
let stateDir: string;
let db: DatabaseSync;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "backup-"));
  stateDir = join(root, "state");
  cpSync(FIXTURE, stateDir, { recursive: true });
  mkdirSync(join(stateDir, "workspace"));
  writeFileSync(join(stateDir, "workspace/MEMORY.md"), "what I know");
  writeFileSync(join(stateDir, ".env"), "TOKEN=fake", { mode: 0o600 });
  db = new DatabaseSync(join(stateDir, "openclaw.db"));
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF");
  db.exec(SCHEMA_V1);
  const add = db.prepare("INSERT INTO meta (key, value) VALUES (?, ?)");
  for (let n = 0; n < 500; n += 1) add.run(`key-${n}`, "x".repeat(200));
});

afterEach(() => {
  if (db.isOpen) db.close();
  rmSync(root, { recursive: true, force: true });
});

const create = (over: Partial<BackupOptions> = {}) =>
  createBackup({
    stateDir,
    into: join(root, "out"),
    form: "tar.gz",
    configFiles: [join(stateDir, "openclaw.json")],
    madeBy: "0.1.0",
    clock: manualClock(NOW),
    ...over,
  });

const restore = (backup: string, over: Partial<RestoreOptions> = {}) =>
  restoreBackup({ backup, stateDir, isHeld: () => false, clock: manualClock(NOW), ...over });

/** Files below a folder with their content. */
function tree(folder: string, without: RegExp = /^$/): Record<string, string> {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const named = all.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1)).filter((name) => !without.test(name));
  return Object.fromEntries(named.sort().map((name) => [name, readFileSync(join(folder, name), "latin1")]));
}

const NOT_COMPARED = /^openclaw\.db|\.lock$|^restore\.json$|^workspace/;
const keys = (file: string) => {
  const opened = new DatabaseSync(file, { readOnly: true });
  const { n } = opened.prepare("SELECT count(*) AS n FROM meta").get()!;
  opened.close();
  return n;
};
const besides = () =>
  readdirSync(root)
    .filter((name) => name.startsWith("state."))
    .sort();

for (const form of ["tar.gz", "folder"] as const) {
  test(`a ${form} backup of a running gateway verifies, and restores everything`, async () => {
    const made = await create({ form });
    expect(made.path).toBe(join(root, "out", `openclaw-backup-2026-02-19T10-00-00.000Z${form === "folder" ? "" : ".tar.gz"}`));
    expect(await verifyBackup({ backup: made.path })).toMatchObject({ ok: true, problems: [] });
    const before = tree(stateDir, NOT_COMPARED);
    const target = join(root, "fresh");
    const report = await restore(made.path, { stateDir: target });
    expect(report).toMatchObject({ stateDir: target, files: made.files, carried: [] });
    expect(report.kept).toBeUndefined();
    expect(tree(target, NOT_COMPARED)).toEqual(before);
    expect([keys(join(target, "openclaw.db")), statSync(target).mode & 0o777, statSync(join(target, ".env")).mode & 0o777]).toEqual([500, 0o700, 0o600]);
  });
}

test("the backup is readable by its owner only, and nothing else is left in its folder", async () => {
  const { path } = await create();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(dirname(path))).toEqual([path.slice(dirname(path).length + 1)]);
});

test("a backup is a tar archive that other programs read", async () => {
  const { path } = await create();
  const listed = spawnSync("tar", ["-tzf", path], { encoding: "utf8" }).stdout.trim().split("\n");
  expect(listed[0]).toBe("state/openclaw.db");
  expect(listed.at(-1)).toBe("manifest.json");
  expect(listed).toContain("state/agents/main/agent/auth-profiles.json");
});

test("commits continue during the snapshot, and the copy is one consistent state of the database", async () => {
  const running = new AbortController();
  const insert = db.prepare("INSERT INTO meta (key, value) VALUES (?, ?)");
  const writer = (async () => {
    for (let n = 0; !running.signal.aborted; n += 1) {
      db.exec("BEGIN");
      insert.run(`pair-${n}-a`, "");
      insert.run(`pair-${n}-b`, "");
      db.exec("COMMIT");
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  const { path } = await create({ form: "folder" });
  running.abort();
  await writer;
  expect(Number(keys(join(path, "state/openclaw.db"))) % 2).toBe(0);
  expect(await verifyBackup({ backup: path })).toMatchObject({ ok: true });
});

test("progress is reported in bytes up to the end", async () => {
  const seen: [number, number, string][] = [];
  await create({ clock: systemClock, progress: (...step) => seen.push(step) });
  expect(seen.every(([done, total]) => done <= total)).toBe(true);
  expect(seen.at(-1)![0]).toBe(seen.at(-1)![1]);
  expect(new Set(seen.map(([, , label]) => label))).toContain("database");
});

test("locks, sockets, links, logs and workspaces are left out, and the manifest lists them", async () => {
  const outside = join(root, "outside.txt");
  writeFileSync(outside, "SECRET-OUTSIDE");
  symlinkSync(outside, join(stateDir, "link.txt"));
  mkdirSync(join(stateDir, "logs"));
  writeFileSync(join(stateDir, "logs/today.log"), "log");
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(join(stateDir, "gateway"), resolve));
  const { path, left } = await create({ form: "folder" });
  await new Promise((resolve) => server.close(resolve));
  const names = left.map((entry) => entry.path);
  expect(names).toEqual(expect.arrayContaining(["gateway", "link.txt", "logs", "workspace", "openclaw.db-wal", "openclaw.db-shm"]));
  expect(names.filter((name) => name.endsWith(".lock"))).toHaveLength(1);
  const manifest = JSON.parse(readFileSync(join(path, "manifest.json"), "utf8")) as Manifest;
  expect(manifest.left).toEqual(left);
  expect(Object.values(tree(path)).join()).not.toContain("SECRET-OUTSIDE");
  expect(readdirSync(join(path, "state"))).not.toContain("workspace");
});

test("a workspace is included on request, and then restored from the backup", async () => {
  const { path } = await create({ includeWorkspace: true });
  writeFileSync(join(stateDir, "workspace/MEMORY.md"), "something newer");
  db.close();
  expect(await restore(path)).toMatchObject({ carried: [] });
  expect(readFileSync(join(stateDir, "workspace/MEMORY.md"), "utf8")).toBe("what I know");
});

test("a configuration outside of the state folder is included with its includes, and is placed beside the state after a restore", async () => {
  const folder = join(root, "etc");
  mkdirSync(join(folder, "parts"), { recursive: true });
  writeFileSync(join(folder, "openclaw.json"), "{ $include: './parts/a.json5' }");
  writeFileSync(join(folder, "parts/a.json5"), "{}");
  const { path } = await create({ configFiles: [join(folder, "openclaw.json"), join(folder, "parts/a.json5")] });
  const report = await restore(path, { stateDir: join(root, "fresh") });
  expect(report.configFolder).toBe(join(root, "fresh/restored-config"));
  expect(Object.keys(tree(report.configFolder!))).toEqual(["openclaw.json", "parts/a.json5"]);
});

test("restoring over a state folder preserves the old one, and copies the workspace", async () => {
  const { path } = await create();
  db.exec("DELETE FROM meta");
  db.close();
  rmSync(join(stateDir, "credentials"), { recursive: true });
  writeFileSync(join(stateDir, "newer.txt"), "made after the backup");
  const old = tree(stateDir);
  const report = await restore(path);
  expect(report).toMatchObject({ kept: `${stateDir}.before-restore-2026-02-19T10-00-00.000Z`, carried: ["workspace"] });
  expect(tree(report.kept!)).toEqual(old);
  expect([keys(join(stateDir, "openclaw.db")), existsSync(join(stateDir, "credentials/oauth.json")), existsSync(join(stateDir, "newer.txt"))]).toEqual([
    500,
    true,
    false,
  ]);
  expect(readFileSync(join(stateDir, "workspace/MEMORY.md"), "utf8")).toBe("what I know");
  expect(besides()).toEqual(["state.before-restore-2026-02-19T10-00-00.000Z"]);
});

test("a state folder in use is refused, at the start and when a gateway starts during the restore", async () => {
  const { path } = await create();
  const before = tree(stateDir, NOT_COMPARED);
  await expect(restore(path, { isHeld: () => true })).rejects.toMatchObject({ code: "LOCKED" });
  let asked = 0;
  await expect(restore(path, { isHeld: () => (asked += 1) > 1 })).rejects.toMatchObject({ code: "LOCKED", message: expect.stringContaining("stop it") });
  expect([tree(stateDir, NOT_COMPARED), besides()]).toEqual([before, []]);
});

test("any altered byte is detected, and such a backup is not restored", async () => {
  const { path } = await create();
  const good = readFileSync(path);
  const plain = gunzipSync(good);
  const before = tree(stateDir, NOT_COMPARED);
  const inContent = plain.indexOf("FAKE-KEY-CANARY-1");
  const inDatabase = 512 + 4096 * 3 + 100;
  for (const at of [inContent, inDatabase]) {
    const bad = Buffer.from(plain);
    bad[at]! ^= 1;
    writeFileSync(path, gzipSync(bad));
    const { ok, problems } = await verifyBackup({ backup: path });
    expect([ok, problems]).toEqual([false, [expect.stringContaining("differs from what was backed up")]]);
    await expect(restore(path)).rejects.toMatchObject({ code: "INVALID_INPUT", message: expect.stringContaining("was not touched") });
  }
  for (const size of [0, 10, Math.floor(good.length / 2), good.length - 9]) {
    writeFileSync(path, good);
    truncateSync(path, size);
    expect((await verifyBackup({ backup: path })).ok, `cut to ${size} bytes`).toBe(false);
    await expect(restore(path)).rejects.toThrow(/cannot be restored/);
  }
  expect([tree(stateDir, NOT_COMPARED), besides()]).toEqual([before, []]);
});

test("in a folder backup missing, added and changed files are reported", async () => {
  const { path } = await create({ form: "folder" });
  rmSync(join(path, "state/cron/jobs.json"));
  writeFileSync(join(path, "state/extra.txt"), "");
  writeFileSync(join(path, "state/.env"), "TOKEN=evil");
  const { problems } = await verifyBackup({ backup: path });
  expect(problems.toSorted()).toEqual([
    "state/.env differs from what was backed up",
    "state/cron/jobs.json is missing",
    "state/extra.txt is not in the manifest",
  ]);
});

test("a damaged database does not verify although every hash is right", async () => {
  const { path } = await create({ form: "folder" });
  const { createHash } = await import("node:crypto");
  const file = join(path, "state/openclaw.db");
  const bytes = readFileSync(file);
  bytes.fill(0xff, 4096 * 2, 4096 * 3);
  writeFileSync(file, bytes);
  const manifest = JSON.parse(readFileSync(join(path, "manifest.json"), "utf8")) as { files: { path: string; sha256: string }[] };
  manifest.files.find((entry) => entry.path === "state/openclaw.db")!.sha256 = createHash("sha256").update(bytes).digest("hex");
  writeFileSync(join(path, "manifest.json"), JSON.stringify({ ...manifest, version: 1 }));
  const report = await verifyBackup({ backup: path });
  expect([report.ok, report.problems.join()]).toEqual([false, expect.stringContaining("the database:")]);
  await expect(restore(path, { stateDir: join(root, "fresh") })).rejects.toMatchObject({ code: "INVALID_INPUT" });
  expect(existsSync(join(root, "fresh"))).toBe(false);
});

/** A tar block of the given type, with its checksum. */
function evil(name: string, type: string, link = "", size = 0): Buffer {
  const block = Buffer.from(tarHeader({ name: "x", size, mode: 0o644, mtime: 0 }));
  block.fill(0, 0, 100);
  block.write(name, 0);
  block.write(type, 156);
  block.write(link, 157);
  block.write("        ", 148);
  block.write(
    `${block
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, "0")}\0 `,
    148,
  );
  return block;
}

/** A name that nothing else on this machine creates. */
const OUTSIDE = `/tmp/escaped-${process.pid}-${Date.now()}.txt`;
const attacks: [string, Buffer[]][] = [
  ["a name with ..", [evil("state/../../escaped.txt", "0")]],
  ["a name that begins with ..", [evil("../escaped.txt", "0")]],
  ["an absolute name", [evil(OUTSIDE, "0")]],
  ["a name with a backslash", [evil("state\\..\\escaped.txt", "0")]],
  ["a name with an empty part", [evil("state//escaped.txt", "0")]],
  ["a symbolic link", [evil("state/link", "2", "/etc")]],
  ["a hard link", [evil("state/link", "1", "/etc/passwd")]],
  ["a device", [evil("state/null", "3")]],
  ["a pipe", [evil("state/pipe", "6")]],
  ["a long name of another program, and no file behind it", [evil("././@LongLink", "L", "", 3), Buffer.from("abc"), padding(3)]],
  ["the same name twice", [evil("state/a", "0"), evil("state/a", "0")]],
  ["a name outside of state and config", [evil("other/a", "0")]],
  ["a file that is larger than the disk", [evil("state/a", "0", "", 0o77777777777)]],
  ["a checksum that is wrong", [Buffer.alloc(512, 65)]],
  ["a pax name with ..", [evil("pax", "x", "", 30), Buffer.from("30 path=state/../../escaped.t\n"), padding(30), evil("state/a", "0")]],
  ["a pax record without length", [evil("pax", "x", "", 6), Buffer.from("path=\n"), padding(6), evil("state/a", "0")]],
];
for (const [what, blocks] of attacks) {
  test(`an archive with ${what} is refused and writes nothing`, async () => {
    const file = join(root, "evil.tar.gz");
    writeFileSync(file, gzipSync(Buffer.concat([...blocks, TAR_END])));
    const before = readdirSync(root);
    await expect(restore(file, { stateDir: join(root, "fresh") })).rejects.toMatchObject({ code: "INVALID_INPUT" });
    expect(readdirSync(root)).toEqual(before);
    expect([existsSync(join(root, "escaped.txt")), existsSync(OUTSIDE)]).toEqual([false, false]);
  });
}

test("unpacking stops when an archive exceeds the size limit", async () => {
  const size = 64 * 1024 * 1024;
  const file = join(root, "bomb.tar.gz");
  writeFileSync(file, gzipSync(Buffer.concat([tarHeader({ name: "state/a", size, mode: 0o600, mtime: 0 }), Buffer.alloc(size), TAR_END])));
  expect(statSync(file).size).toBeLessThan(100_000);
  await expect(restore(file, { stateDir: join(root, "fresh"), maxBytes: 1024 * 1024 })).rejects.toThrow(/holds more than 1 MB/);
  expect(existsSync(join(root, "fresh"))).toBe(false);
});

test("names longer than an old header holds, and names in other scripts, are restored", async () => {
  const names = ["canvas/" + "long-".repeat(40) + ".txt", "canvas/日本語 ünï.txt", `canvas/${"ä".repeat(60)}.txt`];
  mkdirSync(join(stateDir, "canvas"));
  for (const name of names) writeFileSync(join(stateDir, name), name);
  const { path } = await create();
  const target = join(root, "fresh");
  await restore(path, { stateDir: target });
  for (const name of names) expect(readFileSync(join(target, name), "utf8")).toBe(name);
});

/** Runs a backup or a restore in a process of its own that dies at a failpoint. */
function killAt(failpoint: string, call: string): string | null {
  const code = `import { createBackup, restoreBackup } from ${JSON.stringify(new URL("./index.ts", import.meta.url).href)};
    import { systemClock } from ${JSON.stringify(new URL("../../base/clock.ts", import.meta.url).href)}; await ${call};`;
  return spawnSync(process.execPath, ["--input-type=module", "-e", code], { env: { OPENCLAW_FAILPOINT: failpoint } }).signal;
}

test("a backup killed before its rename does not exist, and the next one succeeds", async () => {
  const call = `createBackup({ stateDir: ${JSON.stringify(stateDir)}, into: ${JSON.stringify(join(root, "out"))}, form: "tar.gz", configFiles: [], madeBy: "x", clock: systemClock })`;
  expect(killAt("backup.written", call)).toBe("SIGKILL");
  const [remains, ...more] = readdirSync(join(root, "out"));
  expect([remains, more]).toEqual([expect.stringContaining(".tmp-"), []]);
  const lastWeek = new Date(NOW - 7 * 86_400_000);
  utimesSync(join(root, "out", remains!), lastWeek, lastWeek);
  expect(await verifyBackup({ backup: (await create()).path })).toMatchObject({ ok: true });
  expect(readdirSync(join(root, "out"))).toHaveLength(1);
});

for (const failpoint of ["restore.moved", "restore.swapped"]) {
  test(`after a kill at ${failpoint}, the next start has a complete state`, async () => {
    const { path } = await create();
    db.exec("DELETE FROM meta");
    db.close();
    const old = tree(stateDir);
    const call = `restoreBackup({ backup: ${JSON.stringify(path)}, stateDir: ${JSON.stringify(stateDir)}, isHeld: () => false, clock: systemClock })`;
    expect(killAt(failpoint, call)).toBe("SIGKILL");
    finishRestore(stateDir);
    expect(keys(join(stateDir, "openclaw.db"))).toBe(500);
    const [kept, ...more] = besides();
    expect(more).toEqual([]);
    expect(tree(join(root, kept!))).toEqual(old);
  });
}

test("a state folder that was removed on purpose does not come back by itself", async () => {
  const { path } = await create();
  db.close();
  await restore(path);
  rmSync(stateDir, { recursive: true });
  expect([finishRestore(stateDir), existsSync(stateDir)]).toEqual([undefined, false]);
});

test("a state folder behind a link is replaced at the link's target", async () => {
  const { path } = await create();
  db.close();
  const link = join(root, "link");
  symlinkSync(stateDir, link);
  expect(await restore(path, { stateDir: link })).toMatchObject({ stateDir });
  expect(keys(join(link, "openclaw.db"))).toBe(500);
});
