/** A backup is restored while the gateway runs: it is checked first, and whatever goes wrong, the gateway answers afterwards. */
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test, vi } from "vitest";
import { makePlace, type GatewayProcess, type Place } from "../harness/gateway-process.ts";
import { mountTmpfs, needMounts } from "../harness/privileges.ts";
import { runCommand } from "../harness/program.ts";
import { seedSessions } from "./seed.ts";

vi.setConfig({ testTimeout: 60_000 });

const CONFIG = `{ gateway: { mode: "local", auth: { mode: "token", token: "a-token-of-the-test" } } }`;
const beside = (place: Place, label: string): string[] => readdirSync(place.home).filter((name) => name.startsWith(`${basename(place.stateDir)}.${label}-`));
const count = (place: Place): number => JSON.parse(place.cli("sessions", "--json").stdout).count;
const lockOf = (place: Place): { readonly pid: number; readonly createdAt: string } => JSON.parse(readFileSync(join(place.stateDir, "gateway.lock"), "utf8"));

/** A place with 2 sessions now and a backup of the 5 it had; `spoil` changes the state that is backed up. */
async function withBackup(spoil: (stateDir: string) => void = () => {}, stateDir?: string): Promise<{ readonly place: Place; readonly backup: string }> {
  const place = stateDir === undefined ? makePlace() : inFolder(makePlace(), stateDir);
  place.configure(CONFIG);
  await seedSessions(place.stateDir, 5);
  spoil(place.stateDir);
  const { path } = JSON.parse(place.cli("backup", "create", "--output", place.home, "--json").stdout);
  renameSync(place.stateDir, `${place.stateDir}-of-the-backup`);
  await seedSessions(place.stateDir, 2);
  return { place, backup: path };
}

/** The same place with its state elsewhere. */
function inFolder(place: Place, stateDir: string): Place {
  place.env["OPENCLAW_STATE_DIR"] = stateDir;
  return { ...place, stateDir };
}

/** The gateway answers, and it is the process that it was. */
function expectAnswers(place: Place, gateway: GatewayProcess): void {
  const { code, stdout, stderr } = place.cli("gateway", "health", "--json");
  expect([code, stderr]).toEqual([0, ""]);
  expect(JSON.parse(stdout).ok).toBe(true);
  expect(lockOf(place).pid).toBe(gateway.child.pid);
  expect(gateway.child.exitCode).toBeNull();
}

test("a running gateway goes on with the restored state, and what was there is kept", async () => {
  const { place, backup } = await withBackup();
  await using gateway = await place.gateway();
  const { code, stdout, stderr } = place.cli("backup", "restore", backup, "--yes", "--json");
  expect(code, stderr).toBe(0);
  const [kept] = beside(place, "before-restore");
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, restarted: true, pid: gateway.child.pid, kept: join(place.home, kept!) });
  expectAnswers(place, gateway);
  expect(count(place)).toBe(5);
  expect([existsSync(join(place.home, kept!, "gateway.lock")), beside(place, "restore")]).toEqual([false, []]);
});

test("a gateway whose backup is damaged is not disturbed", async () => {
  const { place, backup } = await withBackup();
  const bytes = readFileSync(backup);
  bytes[Math.floor(bytes.length / 2)]! ^= 1;
  writeFileSync(backup, bytes);
  await using gateway = await place.gateway();
  const before = lockOf(place);
  const { code, stderr } = place.cli("backup", "restore", backup, "--yes");
  expect([code, stderr]).toEqual([1, expect.stringContaining("The state folder was not touched")]);
  expectAnswers(place, gateway);
  expect([lockOf(place).createdAt, count(place), beside(place, "restore")]).toEqual([before.createdAt, 2, []]);
});

test("a gateway whose disk has no space for the backup is not disturbed", async (context) => {
  needMounts(context);
  using disk = mountTmpfs("3m");
  const { place, backup } = await withBackup((stateDir) => writeFileSync(join(stateDir, "large.bin"), Buffer.alloc(1_500_000, 7)), join(disk.path, "state"));
  await using gateway = await place.gateway();
  const before = lockOf(place);
  const { code, stderr } = place.cli("backup", "restore", backup, "--yes");
  expect([code, stderr]).toEqual([1, expect.stringContaining("The state folder was not touched")]);
  expectAnswers(place, gateway);
  expect([lockOf(place).createdAt, count(place)]).toEqual([before.createdAt, 2]);
});

test("a gateway that cannot open the restored state goes back to the one it had", async () => {
  const { place, backup } = await withBackup((stateDir) => {
    using db = new DatabaseSync(join(stateDir, "openclaw.db"));
    db.exec("PRAGMA user_version = 900; UPDATE meta SET value = '800' WHERE key = 'store.min_reader'");
  });
  await using gateway = await place.gateway();
  const { code, stderr } = place.cli("backup", "restore", backup, "--yes");
  expect([code, stderr]).toEqual([1, expect.stringMatching(/keeps running on its previous state.*newer.*restored files are in .*failed-restore/s)]);
  expectAnswers(place, gateway);
  expect([count(place), beside(place, "failed-restore").length, beside(place, "before-restore"), beside(place, "restore")]).toEqual([2, 1, [], []]);
});

test("a gateway that is killed between the two moves starts again on a whole state", async () => {
  const { place, backup } = await withBackup();
  const gateway = await place.gateway({ build: "dist-test", env: { OPENCLAW_FAILPOINT: "restore.moved" } });
  const { code, stderr } = runCommand(place, ["backup", "restore", backup, "--yes"]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("exited instead of restarting")]);
  expect(await gateway.exited).toMatchObject({ signal: "SIGKILL" });
  await using again = await place.gateway();
  expectAnswers(place, again);
  expect([count(place), beside(place, "before-restore").length]).toEqual([5, 1]);
});

test("a gateway that takes no restarts takes no restore either: it says so, and goes on with its state", async () => {
  const { place, backup } = await withBackup();
  place.configure(CONFIG.replace("{ gateway", "{ commands: { restart: false }, gateway"));
  await using gateway = await place.gateway();
  const { code, stderr } = runCommand(place, ["backup", "restore", backup, "--yes"]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("commands.restart is false")]);
  expectAnswers(place, gateway);
  expect([count(place), beside(place, "restore"), beside(place, "before-restore")]).toEqual([2, [], []]);
});
