import { expect, test } from "vitest";
import { expectInTime } from "../harness/in-time.ts";
import { frameCampaign } from "./frame-campaign.ts";

const SEED = 20_261_115;
/** `npm run fuzz` sends as many as one likes. */
const FRAMES = 20_000;
/** What the engine takes and keeps under load, most of it in the first frames; a leak of 26 kilobytes a frame goes past it. */
const MAX_GROWTH = 512 * 1024 * 1024;
/** Of the gateway's work before it gives an answer, while everything else is asked for too. */
const MAX_WAIT_MS = 3000;

test(
  `of ${FRAMES} generated frames each is answered once with a documented code or ignored as documented; the gateway stays well`,
  { timeout: 120_000 },
  async () => {
    const report = await frameCampaign({ frames: FRAMES, seed: SEED });
    const failure = `seed ${SEED}: ${JSON.stringify(report)}`;
    expect(report.broken, failure).toEqual([]);
    expect(report.sent).toBe(FRAMES);
    expect(report.ok, failure).toBeGreaterThan(FRAMES / 10);
    expectInTime(report.lastHealthMs, 1000, failure);
    expectInTime(report.slowestHealthMs, MAX_WAIT_MS, failure);
    expect(report.growth, failure).toBeLessThan(MAX_GROWTH);
  },
);
