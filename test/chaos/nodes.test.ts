import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { seededRandom } from "../../src/base/random.ts";
import { nodeCampaign } from "./nodes.ts";

/** The run inside `npm test` is bounded in time; `npm run chaos -- --path nodes` is the whole campaign. */
const BUDGET_MS = 8000;

test("whichever of gateway, node and caller dies in a command, it runs once at most and has one outcome", { timeout: 240_000 }, async () => {
  const end = performance.now() + BUDGET_MS;
  // Something has to be tested on a busy machine, too.
  let done = 0;
  const report = await nodeCampaign({
    kills: 10,
    random: seededRandom(20_261_118),
    stop: () => done > 2 && performance.now() > end,
    onRound: (kills) => (done = kills),
  });
  expect(report.broken).toEqual([]);
  expect(report.kills).toBeGreaterThan(2);
  expect(report.asked).toBe(8 * report.kills);
  rmSync(report.home, { recursive: true, force: true });
});
