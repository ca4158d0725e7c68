import { cpSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { fingerprint } from "../harness/fingerprint.ts";
import { makePlace, type Place } from "../harness/gateway-process.ts";
import { mountTmpfs, needMounts } from "../harness/privileges.ts";
import { killAt, runCommand } from "../harness/program.ts";
import { seedSessions } from "./seed.ts";

const backupsIn = (folder: string): string[] => readdirSync(folder).filter((name) => name.startsWith("openclaw-backup-"));
const count = (place: Place): number => JSON.parse(place.cli("sessions", "--json").stdout).count;
const beside = (place: Place, label: string): string[] => readdirSync(place.home).filter((name) => name.startsWith(`${basename(place.stateDir)}.${label}-`));

test.each([["--json"], ["--folder", "--json"]])(
  "a backup killed at its last moment (%s) leaves nothing under its final name, and the next one is whole",
  async (...form) => {
    const place = makePlace();
    await seedSessions(place.stateDir, 3);
    const before = fingerprint(place.stateDir);
    killAt("backup.written", place, ["backup", "create", "--output", place.home, ...form]);
    expect(backupsIn(place.home)).toEqual([]);
    expect(fingerprint(place.stateDir, /-(?:wal|shm)$/)).toEqual(before);
    const made = JSON.parse(place.cli("backup", "create", "--output", place.home, ...form).stdout);
    expect(backupsIn(place.home)).toEqual([basename(made.path)]);
    expect(place.cli("backup", "verify", made.path).code).toBe(0);
  },
);

test("a backup that does not fit on the disk says so and leaves nothing behind", async (context) => {
  needMounts(context);
  using disk = mountTmpfs("64k");
  const place = makePlace();
  await seedSessions(place.stateDir, 20);
  const { code, stderr } = place.cli("backup", "create", "--output", disk.path);
  expect(code).toBe(1);
  expect(stderr).toMatch(/could not copy .*openclaw\.db to .*: the disk is full; free some space/);
  expect(stderr).toContain(disk.path);
  expect(readdirSync(disk.path)).toEqual([]);
});

/** A place with 2 sessions now and a backup of the 5 it had. */
async function withBackup(): Promise<{ readonly place: Place; readonly backup: string; readonly now: Record<string, string> }> {
  const place = makePlace();
  place.configure(`{ gateway: { mode: "local" } }`);
  await seedSessions(place.stateDir, 5);
  const { path } = JSON.parse(place.cli("backup", "create", "--output", place.home, "--json").stdout);
  renameSync(place.stateDir, `${place.stateDir}-of-the-backup`);
  await seedSessions(place.stateDir, 2);
  return { place, backup: path, now: fingerprint(place.stateDir) };
}

test("a restore killed between its two moves is finished by the next gateway, and what was there is kept whole", async () => {
  const { place, backup, now } = await withBackup();
  killAt("restore.moved", place, ["backup", "restore", backup, "--yes"]);
  await using gateway = await place.gateway();
  expect(gateway.url, gateway.output()).toBeDefined();
  expect(count(place)).toBe(5);
  expect(fingerprint(join(place.home, beside(place, "before-restore")[0]!))).toEqual(now);
  expect(beside(place, "restore")).toEqual([]);
});

test("a restore killed between its two moves is finished by the next command that reads the state", async () => {
  const { place, backup } = await withBackup();
  killAt("restore.moved", place, ["backup", "restore", backup, "--yes"]);
  expect(count(place)).toBe(5);
});

test("a restore killed between its two moves is finished by the next restore", async () => {
  const { place, backup, now } = await withBackup();
  killAt("restore.moved", place, ["backup", "restore", backup, "--yes"]);
  expect(place.cli("backup", "restore", backup, "--yes").code).toBe(0);
  expect(count(place)).toBe(5);
  expect(beside(place, "before-restore").map((name) => fingerprint(join(place.home, name)))).toContainEqual(now);
});

test("a restore killed with the configuration in the state folder is finished before the configuration is looked for", async () => {
  const place = makePlace();
  const env = { OPENCLAW_CONFIG_PATH: join(place.stateDir, "openclaw.json") };
  const run = (...args: string[]) => runCommand(place, args, { env });
  await seedSessions(place.stateDir, 5);
  expect(run("config", "set", "gateway", `{ mode: "local", auth: { token: "a-token-of-the-test" } }`).code).toBe(0);
  const config = readFileSync(env.OPENCLAW_CONFIG_PATH, "utf8");
  const { path } = JSON.parse(run("backup", "create", "--output", place.home, "--json").stdout);
  runCommand(place, ["backup", "restore", path, "--yes"], { build: "dist-test", env: { ...env, OPENCLAW_FAILPOINT: "restore.moved" } });
  await using gateway = await place.gateway({ env });
  expect(gateway.url, gateway.output()).toBeDefined();
  expect(readFileSync(env.OPENCLAW_CONFIG_PATH, "utf8")).toBe(config);
  expect(JSON.parse(run("sessions", "--json").stdout).count).toBe(5);
});

test("a restore killed after its two moves is done", async () => {
  const { place, backup, now } = await withBackup();
  killAt("restore.swapped", place, ["backup", "restore", backup, "--yes"]);
  await using gateway = await place.gateway();
  expect(gateway.url, gateway.output()).toBeDefined();
  expect(count(place)).toBe(5);
  expect(fingerprint(join(place.home, beside(place, "before-restore")[0]!))).toEqual(now);
});

test("a restore that does not fit on the disk says so, and the state stays as it was", async (context) => {
  needMounts(context);
  using disk = mountTmpfs("400k");
  const { place, backup } = await withBackup();
  const env = { OPENCLAW_STATE_DIR: join(disk.path, "state") };
  cpSync(place.stateDir, env.OPENCLAW_STATE_DIR, { recursive: true });
  const before = fingerprint(env.OPENCLAW_STATE_DIR);
  const { code, stderr } = runCommand(place, ["backup", "restore", backup, "--yes"], { env });
  expect([code, stderr]).toEqual([1, expect.stringMatching(/the backup holds more than .*The state folder was not touched/)]);
  expect(fingerprint(env.OPENCLAW_STATE_DIR)).toEqual(before);
  expect(readdirSync(disk.path)).toEqual(["state"]);
});
