import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../base/clock.ts";
import { createIds } from "../../../base/ids.ts";
import { silentLogger } from "../../../base/log/logger.ts";
import { seededRandom } from "../../../base/random.ts";
import type { OpenClawConfig } from "../../../config/index.ts";
import { loadBackup } from "../../../store/index.ts";
import { createBackupJobs } from "./jobs.ts";

test("where restarts are turned off a restore is refused before anything is unpacked", async () => {
  const root = mkdtempSync(join(tmpdir(), "backup-jobs-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const state = join(root, "state");
  mkdirSync(state);
  writeFileSync(join(state, "notes.json"), "{}");
  const { createBackup } = await loadBackup();
  const { path } = await createBackup({ stateDir: state, into: join(root, "out"), form: "tar.gz", configFiles: [], madeBy: "1.2.3", clock: systemClock });
  const config = { current: { commands: { restart: false } } as OpenClawConfig, paths: { state } };
  const asked: string[] = [];
  const jobs = createBackupJobs({
    config: config as Parameters<typeof createBackupJobs>[0]["config"],
    clock: systemClock,
    ids: createIds(seededRandom(1)),
    log: silentLogger,
    version: "1.2.3",
    pid: process.pid,
    workspaces: () => Promise.resolve([]),
    requestRestart: ({ reason }) => {
      asked.push(reason);
      return { ok: true, delayMs: 0, reason, coalesced: false };
    },
    stopping: new AbortController().signal,
  });
  await expect(jobs.restore(path, { key: undefined, passphrase: undefined })).rejects.toThrow("restarts are turned off: commands.restart is false");
  expect([jobs.current, asked]).toEqual([undefined, []]);
  expect(readdirSync(root).toSorted()).toEqual(["out", "state"]);
});
