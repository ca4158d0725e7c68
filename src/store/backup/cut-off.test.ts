/** What is left beside a state when a backup or a restore does not come to its end. */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { manualClock } from "../../base/clock.ts";
import {
  applyRestoreRequest,
  createBackup,
  handOver,
  inBackupThread,
  lastRestore,
  outcomeOf,
  prepareRestore,
  restoreBackup,
  type BackupWork,
} from "./index.ts";

const NOW = Date.parse("2026-02-19T10:00:00.000Z");

let root: string;
let stateDir: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "backup-cut-off-"));
  stateDir = join(root, "state");
  mkdirSync(stateDir);
  writeFileSync(join(stateDir, "notes.json"), "{}");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const create = () => createBackup({ stateDir, into: join(root, "out"), form: "tar.gz", configFiles: [], madeBy: "0.1.0", clock: manualClock(NOW) });

const inThread = (work: BackupWork, signal: AbortSignal) => inBackupThread(work, () => {}, signal);
const namesIn = (folder: string): readonly string[] => (existsSync(folder) ? readdirSync(folder) : []);

test("a backup or a restore that is cut off because the gateway stops leaves no copy of the state behind", { timeout: 60_000 }, async () => {
  // Takes a while to pack and to unpack.
  writeFileSync(join(stateDir, "large.bin"), randomBytes(48 * 1024 * 1024));
  const into = join(root, "out");
  const cutOff = async (work: BackupWork, folder: string, begun: RegExp): Promise<void> => {
    const stop = new AbortController();
    const done = inThread(work, stop.signal);
    done.catch(() => undefined);
    await vi.waitFor(() => expect(namesIn(folder).filter((name) => begun.test(name))).not.toEqual([]), { timeout: 20_000, interval: 5 });
    stop.abort();
    await expect(done).rejects.toThrow("the gateway stopped before the backup job was done");
    await vi.waitFor(() => expect(namesIn(folder).filter((name) => begun.test(name))).toEqual([]), { timeout: 20_000, interval: 5 });
  };
  const options = { stateDir, into, form: "tar.gz", configFiles: [], madeBy: "0.1.0" } as const;
  await cutOff({ kind: "create", at: NOW, options }, into, /\.tmp-/);
  const { path } = await create();
  await cutOff({ kind: "restore", at: NOW, options: { backup: path, stateDir } }, root, /^state\.restore-/);
  expect(existsSync(join(stateDir, "large.bin"))).toBe(true);
});

test("what a killed restore unpacked is removed by the next one after a day", async () => {
  const { path } = await create();
  const [old, fresh] = ["2026-02-17T10-00-00.000Z", "2026-02-19T09-00-00.000Z"].map((time) => join(root, `state.restore-${time}`));
  for (const folder of [old!, fresh!]) mkdirSync(folder);
  const day = (NOW - 2 * 86_400_000) / 1000;
  utimesSync(old!, day, day);
  utimesSync(fresh!, NOW / 1000, NOW / 1000);
  await restoreBackup({ backup: path, stateDir, isHeld: () => false, clock: manualClock(NOW) });
  expect([existsSync(old!), existsSync(fresh!)]).toEqual([false, true]);
});

test("a restore that a gateway could not put in place leaves its reason for the next start", async () => {
  const { path } = await create();
  const prepared = await prepareRestore({ backup: path, stateDir, clock: manualClock(NOW) });
  handOver(prepared, { pid: 1, at: NOW, backup: path });
  // What is written last cannot be written.
  mkdirSync(join(prepared.staging, ".restore.json.tmp"));
  expect(() => applyRestoreRequest(stateDir, 1, NOW, [])).toThrow("could not write");
  expect(existsSync(prepared.staging)).toBe(false);
  expect(await lastRestore(stateDir)).toEqual({ failed: { reason: expect.stringContaining("the state that was in use is unchanged: ") } });
  expect(outcomeOf(prepared)).toEqual({ ok: false, reason: expect.stringContaining("unchanged") });
});
