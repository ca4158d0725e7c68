/** `npm run chaos [-- --kills 200] [--seed n] [--writers 8]`: the whole kill campaign. Exits 1 when a promise was broken. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { seededRandom } from "../../src/base/random.ts";
import { killCampaign } from "./kills.ts";

const { values } = parseArgs({ options: { kills: { type: "string" }, seed: { type: "string" }, writers: { type: "string" } } });
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const kills = Number(values.kills ?? 200);
const stateDir = mkdtempSync(join(tmpdir(), "openclaw-chaos-"));
console.log(`kill campaign: ${kills} kills, seed ${seed}`);
const report = await killCampaign({
  stateDir,
  kills,
  writers: Number(values.writers ?? 8),
  random: seededRandom(seed),
  onRound: (round, acknowledged) => {
    if (round % 10 === 0) console.log(`${round} kills, ${acknowledged} acknowledged writes, none lost`);
  },
});
console.log(JSON.stringify({ ...report, seed }));
if (report.broken.length > 0) {
  console.error(`${report.broken.join("\n")}\nthe state is kept in ${stateDir}; repeat with --seed ${seed}`);
  process.exitCode = 1;
} else rmSync(stateDir, { recursive: true, force: true });
