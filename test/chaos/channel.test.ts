import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { seededRandom } from "../../src/base/random.ts";
import { channelCampaign } from "./channel/campaign.ts";

/** The run inside `npm test` is bounded in time; `npm run chaos -- --path channel` is the whole campaign. */
const BUDGET_MS = 10_000;

test(
  "whenever the gateway is killed between an update and the receipt of its answer, nobody is left without an answer and no answer comes twice unmarked",
  { timeout: 240_000 },
  async () => {
    const end = performance.now() + BUDGET_MS;
    // Something has to be tested on a busy machine, too.
    const done = { kills: 0, said: 0 };
    const report = await channelCampaign({
      kills: 10,
      random: seededRandom(20_261_117),
      stop: () => done.kills > 1 && done.said > 5 && performance.now() > end,
      onRound: (kills, { said }) => Object.assign(done, { kills, said }),
    });
    expect(report.broken).toEqual([]);
    expect(report.kills).toBeGreaterThan(1);
    expect(report.said).toBeGreaterThan(5);
    rmSync(report.home, { recursive: true, force: true });
  },
);
