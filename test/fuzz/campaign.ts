/** `npm run fuzz [-- --frames 1000000] [--seed n] [--connections 16] [--sockets 1000]`: generated frames and a flood of strangers. Exits 1 when something did not hold. */
import { parseArgs } from "node:util";
import { frameCampaign } from "./frame-campaign.ts";

const { values } = parseArgs({ options: { frames: { type: "string" }, seed: { type: "string" }, connections: { type: "string" } } });
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const frames = Number(values.frames ?? 1_000_000);
console.log(`frame campaign: ${frames} frames, seed ${seed}`);
const report = await frameCampaign({
  frames,
  seed,
  connections: Number(values.connections ?? 16),
  onProgress: (sent, growth) => console.log(`${sent} frames sent, ${Math.round(growth / 1e6)} MB more than before`),
});
console.log(JSON.stringify({ ...report, seed }, undefined, 2));
if (report.broken.length > 0) {
  console.error(`repeat with --seed ${seed} --frames ${frames}`);
  process.exitCode = 1;
}
