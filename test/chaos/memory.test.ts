import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { seededRandom } from "../../src/base/random.ts";
import { memoryCampaign } from "./memory/campaign.ts";

/** The run inside `npm test` is bounded in time; `npm run chaos -- --path memory --n 1000` is the whole campaign. */
const BUDGET_MS = 8000;

test("an indexing process that is killed leaves an index that opens, finds what is there and never what is gone", { timeout: 240_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-chaos-memory-"));
  const end = performance.now() + BUDGET_MS;
  let done = 0;
  const report = await memoryCampaign({
    folder,
    kills: 20,
    random: seededRandom(20_261_117),
    stop: () => done > 2 && performance.now() > end,
    onRound: (kills) => (done = kills),
  });
  expect(report.broken).toEqual([]);
  expect(report.kills).toBeGreaterThan(2);
  rmSync(folder, { recursive: true, force: true });
});
