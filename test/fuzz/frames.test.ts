import { expect, test } from "vitest";
import { expectInTime } from "../harness/in-time.ts";
import { frameCampaign } from "./frame-campaign.ts";

const SEED = 20_261_115;
/** `npm run fuzz` sends as many as one likes. */
const FRAMES = 40_000;
/** What the engine takes and keeps under load, most of it in the first frames; a leak of 13 kilobytes a frame goes past it. */
const MAX_GROWTH = 512 * 1024 * 1024;
/** Of the gateway's work before it gives an answer, while everything else is asked for too. */
const MAX_WAIT_MS = 3000;

test(
  `of ${FRAMES} generated frames each is answered once with a documented code or ignored as documented; the gateway stays well`,
  { timeout: 120_000 },
  async () => {
    const report = await frameCampaign({ frames: FRAMES, seed: SEED });
    const told = `seed ${SEED}: ${JSON.stringify(report)}`;
    expect(report.broken, told).toEqual([]);
    expect(report.sent).toBe(FRAMES);
    expect(report.ok, told).toBeGreaterThan(FRAMES / 10);
    expectInTime(report.lastHealthMs, 1000, told);
    expectInTime(report.slowestHealthMs, MAX_WAIT_MS, told);
    expect(report.growth, told).toBeLessThan(MAX_GROWTH);
  },
);
