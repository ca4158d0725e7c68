import { expect, test } from "vitest";
import { runCampaign } from "./schedule-runs.ts";
import { scheduleCampaign } from "./schedules.ts";

/** `npm run fuzz -- --schedules 500` is the whole campaign. */
const SCHEDULES = 60;
/** Each is run over a store, with all that happens to it. */
const RUNNING = 40;

test("generated jobs run, fail, wait and end as the rules say", { timeout: 120_000 }, async () => {
  expect((await runCampaign({ schedules: RUNNING, seed: 20_261_120 })).broken).toEqual([]);
});

test("generated schedules run when the rules say, over changes of the clock and after a gateway was down", { timeout: 60_000 }, () => {
  expect(scheduleCampaign({ schedules: SCHEDULES, seed: 20_261_117 }).broken).toEqual([]);
});
