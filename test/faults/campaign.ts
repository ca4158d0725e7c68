/** `npm run faults [-- --runs 1000] [--seed n]`: model calls under chains of faults. Exits 1 when a promise was broken. */
import { parseArgs } from "node:util";
import { faultCampaign } from "./model-campaign.ts";

const { values } = parseArgs({ options: { runs: { type: "string" }, seed: { type: "string" } } });
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const runs = Number(values.runs ?? 1000);
console.log(`fault campaign: ${runs} runs, seed ${seed}`);
const report = await faultCampaign({
  runs,
  seed,
  onProgress: (run) => {
    if (run % 100 === 0) console.log(`${run} runs`);
  },
});
console.log(JSON.stringify({ ...report, seed }, undefined, 2));
if (report.broken.length > 0) {
  console.error(`repeat with --seed ${seed} --runs ${runs}`);
  process.exitCode = 1;
}
