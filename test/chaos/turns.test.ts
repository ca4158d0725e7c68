import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { seededRandom } from "../../src/base/random.ts";
import { turnCampaign } from "./turns.ts";

/** The run inside `npm test` is bounded in time; `npm run chaos` is the whole campaign. */
const BUDGET_MS = 15_000;

test("a gateway that dies in the middle of turns goes on or tells: no message lost, no call made twice", { timeout: 240_000 }, async () => {
  const end = performance.now() + BUDGET_MS;
  // Something has to be tested on a busy machine, too.
  const done = { kills: 0, accepted: 0 };
  const report = await turnCampaign({
    kills: 12,
    random: seededRandom(20_261_116),
    stop: () => done.kills > 2 && done.accepted > 5 && performance.now() > end,
    onRound: (kills, { accepted }) => Object.assign(done, { kills, accepted: done.accepted + accepted }),
  });
  expect(report.broken).toEqual([]);
  expect(report.kills).toBeGreaterThan(2);
  expect(report.accepted).toBeGreaterThan(5);
  rmSync(report.home, { recursive: true, force: true });
});
