import { expect, test } from "vitest";
import { frameCampaign } from "./frame-campaign.ts";

const SEED = 20_261_115;
const FRAMES = 100_000;
/** What the engine takes and keeps under load; a leak of a few hundred bytes a frame goes past it. */
const MAX_GROWTH = 256 * 1024 * 1024;

test(
  `of ${FRAMES} generated frames each is answered once with a documented code or ignored as documented; the gateway stays well`,
  { timeout: 120_000 },
  async () => {
    const report = await frameCampaign({ frames: FRAMES, seed: SEED });
    expect(report.broken, `seed ${SEED}`).toEqual([]);
    expect(report.sent).toBe(FRAMES);
    expect(report.ok, "frames that reached the end of a handler").toBeGreaterThan(FRAMES / 10);
    expect(report.lastHealthMs).toBeLessThan(1000);
    expect(report.slowestHealthMs).toBeLessThan(1000);
    expect(report.growth).toBeLessThan(MAX_GROWTH);
  },
);
