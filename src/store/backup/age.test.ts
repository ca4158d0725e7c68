import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { decrypting } from "./age.ts";
import { createBackup, restoreBackup, verifyBackup } from "./index.ts";

const PASSPHRASE = "correct horse battery staple";
const clock = manualClock(Date.parse("2026-02-19T10:00:00.000Z"));
let root: string;
let stateDir: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "age-"));
  stateDir = join(root, "state");
  mkdirSync(stateDir);
  writeFileSync(join(stateDir, "notes.txt"), "a note of mine");
  // Several chunks of incompressible data.
  writeFileSync(join(stateDir, "large.bin"), Buffer.from(Array.from({ length: 200_000 }, (_, n) => (n * n * 31 + (n >> 7)) & 255)));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const create = (form: "tar.gz" | "folder" = "tar.gz") =>
  createBackup({ stateDir, into: join(root, "out"), form, configFiles: [], madeBy: "0.1.0", clock, passphrase: PASSPHRASE });

test("an encrypted backup shows nothing, verifies and is restored with its passphrase, and only with it", async () => {
  const { path } = await create();
  expect(path).toMatch(/\.tar\.gz\.age$/);
  expect(readFileSync(path, "latin1").startsWith("age-encryption.org/v1\n-> scrypt ")).toBe(true);
  expect(await verifyBackup({ backup: path, passphrase: PASSPHRASE })).toMatchObject({ ok: true, problems: [], notes: [] });
  expect(await verifyBackup({ backup: path })).toMatchObject({
    ok: false,
    reason: "passphrase_missing",
    problems: [expect.stringContaining("pass its passphrase with --passphrase-file")],
  });
  expect(await verifyBackup({ backup: path, passphrase: "wrong" })).toMatchObject({
    ok: false,
    reason: "passphrase_wrong",
    problems: ["the passphrase does not open the backup"],
  });
  expect(await verifyBackup({ backup: join(root, "nowhere.tar.gz") })).toMatchObject({ ok: false, reason: "unreadable" });
  const target = join(root, "restored");
  await restoreBackup({ backup: path, passphrase: PASSPHRASE, stateDir: target, isHeld: () => false, clock });
  for (const name of ["notes.txt", "large.bin"]) expect(readFileSync(join(target, name))).toEqual(readFileSync(join(stateDir, name)));
});

test("altered bytes, truncation and reordered chunks are detected", async () => {
  const { path } = await create();
  const good = readFileSync(path);
  const verdict = async (bytes: Buffer): Promise<boolean> => {
    writeFileSync(path, bytes);
    return (await verifyBackup({ backup: path, passphrase: PASSPHRASE })).ok;
  };
  const flipped = (at: number): Buffer => {
    const bytes = Buffer.from(good);
    bytes[at]! ^= 1;
    return bytes;
  };
  for (const at of [3, 60, 150, 70_000, good.length - 1]) expect([at, await verdict(flipped(at))]).toEqual([at, false]);
  const start = good.indexOf("--- ") + 48 + 16;
  const chunk = 64 * 1024 + 16;
  const [first, second] = [good.subarray(start, start + chunk), good.subarray(start + chunk, start + 2 * chunk)];
  for (const bytes of [
    good.subarray(0, -1),
    good.subarray(0, start + chunk),
    Buffer.concat([good, Buffer.from("x")]),
    Buffer.concat([good.subarray(0, start), second, first, good.subarray(start + 2 * chunk)]),
  ])
    expect(await verdict(bytes)).toBe(false);
  expect(await verdict(good)).toBe(true);
});

test("a file encrypted by the age program can be opened", async () => {
  const path = join(root, "by-age");
  writeFileSync(path, Buffer.from(MADE_BY_AGE, "base64"));
  const { start, stream } = await decrypting(path, "a passphrase for a test");
  stream.end(readFileSync(path).subarray(start));
  expect(Buffer.concat(await Array.fromAsync(stream as AsyncIterable<Buffer>)).toString()).toBe("hello from age\n");
});

test("encrypting a folder is refused and leaves nothing behind", async () => {
  await expect(create("folder")).rejects.toThrow("a backup that is a folder cannot be encrypted");
  expect(readdirSync(root)).toEqual(["state"]);
});

/** Made with `age -p` of age 1.1.1. */
const MADE_BY_AGE =
  "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHNjcnlwdCBHZXYzckoyWmk1WW5aVkloT2xhZFF3IDE4ClBnSkxIaTVkVFlCcWF0VXgzR0FWbXUvbVdNRGNwMUJ0TnMwdG5lV3FMVmsKLS0tIDBzQ0dTTFZjWVZGK1lqdEkyb09BUzZHb1VSWkErOEdrTjlEYnl6ZGlxNW8KC5KxHnmS66GyaegBAYbvBlLY0XOXv8tytK8AGYRFmcGqzuHWpY91/TCYl/p7I3Y=";
