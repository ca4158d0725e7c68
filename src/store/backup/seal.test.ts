import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { createBackup, verifyBackup, type BackupOptions, type BackupReport, type Manifest } from "./index.ts";

let root: string;
let stateDir: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "seal-"));
  stateDir = join(root, "state");
  mkdirSync(stateDir);
  // Small enough to be read hundreds of times.
  writeFileSync(join(stateDir, "notes.txt"), "a note");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const create = (form: BackupOptions["form"]): Promise<BackupReport> =>
  createBackup({ stateDir, into: join(root, "out"), form, configFiles: [], madeBy: "0.1.0", clock: manualClock(Date.parse("2026-02-19T10:00:00.000Z")) });

/** Positions in a file at which a flipped bit is not detected. */
async function unnoticed(backup: string, file: string, places: readonly number[], bits: readonly number[]): Promise<readonly string[]> {
  const good = readFileSync(file);
  const missed: string[] = [];
  for (const at of places) {
    for (const bit of bits) {
      const bad = Buffer.from(good);
      bad[at]! ^= 1 << bit;
      writeFileSync(file, bad);
      if ((await verifyBackup({ backup })).ok) missed.push(`bit ${bit} of byte ${at}`);
    }
  }
  writeFileSync(file, good);
  return missed;
}

test("a flipped bit anywhere in an archive is detected: in its header, its content, after its last block and in its seal", async () => {
  const { path } = await create("tar.gz");
  const { size } = statSync(path);
  expect((await verifyBackup({ backup: path })).ok).toBe(true);
  const places = (from: number, length: number): readonly number[] => Array.from({ length }, (_, at) => from + at);
  expect(await unnoticed(path, path, places(0, 10), [0, 1, 2, 3, 4, 5, 6, 7])).toEqual([]);
  const step = Math.floor(size / 40);
  expect(
    await unnoticed(
      path,
      path,
      places(0, 40).map((at) => at * step),
      [3],
    ),
  ).toEqual([]);
  // The last block, its checksum and the seal.
  expect(await unnoticed(path, path, places(size - 110, 110), [7])).toEqual([]);
  expect((await verifyBackup({ backup: path })).ok).toBe(true);
});

test("a flipped bit anywhere in a folder's manifest is detected", async () => {
  const { path } = await create("folder");
  const manifest = join(path, "manifest.json");
  const places = Array.from({ length: statSync(manifest).size }, (_, at) => at);
  expect(await unnoticed(path, manifest, places, [0])).toEqual([]);
  expect((await verifyBackup({ backup: path })).ok).toBe(true);
});

test("an archive with data after its end does not verify", async () => {
  const { path } = await create("tar.gz");
  const good = readFileSync(path);
  writeFileSync(path, Buffer.concat([good, Buffer.from("more")]));
  expect((await verifyBackup({ backup: path })).ok).toBe(false);
});

test.each([["--format=gnu"], ["--format=pax"], ["--format=ustar"]])(
  "an archive that tar %s has packed again is whole, and no longer sealed",
  async (format) => {
    const deep = join(stateDir, "agents", "a".repeat(80), "b".repeat(60));
    mkdirSync(deep, { recursive: true });
    writeFileSync(join(deep, "deep.txt"), "deep");
    const { path } = await create("tar.gz");
    const unpacked = join(root, "unpacked");
    mkdirSync(unpacked);
    execFileSync("tar", ["xzf", path, "-C", unpacked]);
    execFileSync("tar", [format, "-czf", path, "-C", unpacked, "."]);
    expect(await verifyBackup({ backup: path })).toMatchObject({ ok: true, problems: [], notes: [expect.stringContaining("repacked by another program")] });
    writeFileSync(join(unpacked, "state/notes.txt"), "another note");
    execFileSync("tar", [format, "-czf", path, "-C", unpacked, "."]);
    expect(await verifyBackup({ backup: path })).toMatchObject({ ok: false, problems: ["state/notes.txt differs from what was backed up"] });
  },
);

test("a backup of the previous version is still readable", async () => {
  const { path } = await create("folder");
  const file = join(path, "manifest.json");
  const { digest: _, ...manifest } = JSON.parse(readFileSync(file, "utf8")) as Manifest;
  writeFileSync(file, JSON.stringify({ ...manifest, version: 1 }, null, 2));
  expect(await verifyBackup({ backup: path })).toMatchObject({ ok: true, problems: [] });
});
