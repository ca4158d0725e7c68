/** `npm run fuzz [-- --frames 1000000] [--seed n] [--connections 16] [--sockets 1000] [--commands 5000] [--schedules 500] [--only schedules]`: generated frames, a flood of strangers, generated command lines, generated schedules of jobs. Exits 1 when a promise was broken. */
import { parseArgs } from "node:util";
import { flood } from "../wire/flood.ts";
import { execCampaign } from "./exec-campaign.ts";
import { frameCampaign } from "./frame-campaign.ts";
import { runCampaign } from "./schedule-runs.ts";
import { scheduleCampaign } from "./schedules.ts";

const FLOOD_PATIENCE_MS = 20_000;

const { values } = parseArgs({
  options: {
    frames: { type: "string" },
    seed: { type: "string" },
    connections: { type: "string" },
    sockets: { type: "string" },
    commands: { type: "string" },
    schedules: { type: "string" },
    only: { type: "string" },
  },
});
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const schedules = Number(values.schedules ?? 500);
console.log(`schedules: ${schedules}, seed ${seed}`);
const compared = scheduleCampaign({ schedules, seed });
console.log(JSON.stringify(compared, undefined, 2));
const ran = await runCampaign({ schedules, seed });
console.log(JSON.stringify({ ran }, undefined, 2));
if (compared.broken.length > 0 || ran.broken.length > 0) process.exitCode = 1;
if (values.only === "schedules") process.exit();
const frames = Number(values.frames ?? 1_000_000);
const sockets = Number(values.sockets ?? 1000);
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
if (sockets > 0) {
  console.log(`flood: ${sockets} sockets of strangers`);
  const { output, ...flooded } = await flood({ sockets, patienceMs: FLOOD_PATIENCE_MS });
  console.log(JSON.stringify(flooded, undefined, 2));
  if (Object.keys(flooded.remaining).length > 0) {
    console.error(`some were not closed; the gateway said:\n${output}`);
    process.exitCode = 1;
  }
}
const commands = Number(values.commands ?? 5000);
console.log(`command lines: ${commands}, seed ${seed}`);
const executed = await execCampaign({ lines: commands, seed });
console.log(JSON.stringify(executed, undefined, 2));
if (executed.broken.length > 0) process.exitCode = 1;
