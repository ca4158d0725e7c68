import { expect, test } from "vitest";
import { scheduleCampaign } from "./schedules.ts";

/** `npm run fuzz -- --schedules 500` is the whole campaign. */
const SCHEDULES = 60;

test("generated schedules run when the rules say, over changes of the clock and after a gateway was down", { timeout: 60_000 }, () => {
  expect(scheduleCampaign({ schedules: SCHEDULES, seed: 20_261_117 }).broken).toEqual([]);
});
