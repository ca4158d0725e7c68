import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { seededRandom } from "../../src/base/random.ts";
import { killCampaign } from "./kills.ts";

/** The run inside `npm test` is bounded in time; `npm run chaos` is the whole campaign. */
const BUDGET_MS = 12_000;

test("whatever is killed whenever, every acknowledged write is there, in order, and the JSONL files match the database", { timeout: 240_000 }, async () => {
  const stateDir = mkdtempSync(join(tmpdir(), "openclaw-chaos-"));
  const end = performance.now() + BUDGET_MS;
  // Something has to be tested on a busy machine, too.
  const done = { kills: 0, acknowledged: 0 };
  const report = await killCampaign({
    stateDir,
    kills: 20,
    writers: 8,
    random: seededRandom(20_261_115),
    stop: () => done.kills > 2 && done.acknowledged > 100 && performance.now() > end,
    onRound: (kills, acknowledged) => Object.assign(done, { kills, acknowledged }),
  });
  expect(report.broken).toEqual([]);
  expect(report.kills).toBeGreaterThan(2);
  expect(report.acknowledged).toBeGreaterThan(100);
  rmSync(stateDir, { recursive: true, force: true });
});
