import { expect, test } from "vitest";
import { faultCampaign } from "./model-campaign.ts";

const SEED = 20_261_115;
const RUNS = 50;

test(`${RUNS} model calls under chains of faults: one truthful result each, attempts as the server saw them, no secret leaked, nothing unhandled`, async () => {
  const report = await faultCampaign({ runs: RUNS, seed: SEED });
  expect(report.broken, `seed ${SEED}`).toEqual([]);
  // Both ends are reached, and the way to them has several steps.
  expect(report.answered).toBeGreaterThan(RUNS / 10);
  expect(report.answered).toBeLessThan(RUNS);
  expect(report.attempts).toBeGreaterThan(RUNS * 1.5);
  expect(Object.keys(report.outcomes).length).toBeGreaterThan(8);
});
