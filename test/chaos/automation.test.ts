import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { seededRandom } from "../../src/base/random.ts";
import { automationCampaign } from "./automation/campaign.ts";

/** The run inside `npm test` is bounded in time; `npm run chaos -- --path automation` is the whole campaign. */
const BUDGET_MS = 15_000;

test("whenever the gateway is killed or suspended, or its clock is set, what starts by itself runs once and is recorded", { timeout: 240_000 }, async () => {
  const end = performance.now() + BUDGET_MS;
  // Something has to be tested on a busy machine, too.
  const done = { rounds: 0, started: 0 };
  const report = await automationCampaign({
    kills: 10,
    random: seededRandom(20_261_117),
    suspendMs: [500, 1500],
    stop: () => done.rounds > 2 && done.started > 5 && performance.now() > end,
    onRound: (rounds, { started }) => Object.assign(done, { rounds, started }),
  });
  expect(report.broken).toEqual([]);
  expect(report.rounds).toBeGreaterThan(2);
  expect(report.started).toBeGreaterThan(5);
  rmSync(report.home, { recursive: true, force: true });
});
