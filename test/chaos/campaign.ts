/**
 * `npm run chaos [-- --n 200] [--seed n] [--path store|turns|channel|automation|memory|nodes] [--channel telegram] [--writers 8]`: the whole kill campaigns, of the store, of turns with tools, of
 * the way from a platform's update to the receipt of its answer, of work that starts by itself, and of commands on nodes. `--only` is another name of `--path`. Exits 1 when a promise was broken.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { seededRandom } from "../../src/base/random.ts";
import { automationCampaign } from "./automation/campaign.ts";
import { channelCampaign } from "./channel/campaign.ts";
import { killCampaign } from "./kills.ts";
import { memoryCampaign } from "./memory/campaign.ts";
import { nodeCampaign } from "./nodes.ts";
import { turnCampaign } from "./turns.ts";

const { values } = parseArgs({
  options: {
    n: { type: "string" },
    kills: { type: "string" },
    seed: { type: "string" },
    writers: { type: "string" },
    only: { type: "string" },
    path: { type: "string" },
    channel: { type: "string" },
    suspend: { type: "string" },
  },
});
const path = values.path ?? values.only;
if (path !== undefined && !["store", "turns", "channel", "automation", "memory", "nodes"].includes(path))
  throw new Error(`--path is store, turns, channel, automation, memory or nodes, got ${path}`);
const asked = (name: string): boolean => path === undefined || path === name;
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const kills = Number(values.n ?? values.kills ?? 200);

function report(name: string, facts: { readonly broken: readonly string[] }, folder: string): void {
  console.log(`${name}: ${JSON.stringify({ ...facts, seed })}`);
  if (facts.broken.length === 0) return rmSync(folder, { recursive: true, force: true });
  console.error(`${facts.broken.join("\n")}\nthe state is kept in ${folder}; repeat with --path ${name} --seed ${seed}`);
  process.exitCode = 1;
}

if (asked("store")) {
  const stateDir = mkdtempSync(join(tmpdir(), "openclaw-chaos-"));
  console.log(`store: ${kills} kills, seed ${seed}`);
  const found = await killCampaign({
    stateDir,
    kills,
    writers: Number(values.writers ?? 8),
    random: seededRandom(seed),
    onRound: (round, acknowledged) => {
      if (round % 10 === 0) console.log(`${round} kills, ${acknowledged} acknowledged writes, none lost`);
    },
  });
  report("store", found, stateDir);
}

if (asked("turns")) {
  console.log(`turns: ${kills} kills, seed ${seed}`);
  const { home, ...found } = await turnCampaign({
    kills,
    random: seededRandom(seed),
    onRound: (round, { place, accepted, unknown }) => {
      if (round % 10 === 0) console.log(`${round} kills, the last at ${place} with ${accepted} messages accepted; ${unknown} calls reported as unknown so far`);
    },
  });
  report("turns", found, home);
}

/** Every channel but Telegram, whose campaign knows more of its platform, is tried in its conformance lab. */
async function channelByLab(channel: string): Promise<void> {
  // Failpoints are in this build only; labs read it when they are loaded.
  process.env["OPENCLAW_TEST_BUILD"] = "dist-test";
  const [{ LABS }, { labCampaign }] = await Promise.all([import("../conformance/channels/labs.ts"), import("./channel/lab-campaign.ts")]);
  const labs = LABS[channel];
  if (!labs) throw new Error(`--channel is one of ${Object.keys(LABS).join(", ")}, got ${channel}`);
  console.log(`channel ${channel}: ${kills} kills, seed ${seed}`);
  const found = await labCampaign({
    ...(await labs()),
    kills,
    random: seededRandom(seed),
    onRound: (round, { point, said, repeats }) => {
      if (round % 10 === 0) console.log(`${round} kills, the last at ${point}; ${said} messages, ${repeats} marked repeats`);
    },
  });
  console.log(`channel ${channel}: ${JSON.stringify({ ...found, seed })}`);
  if (found.broken.length > 0) process.exitCode = 1;
}

if (asked("channel") && values.channel !== undefined && values.channel !== "telegram") await channelByLab(values.channel);
else if (asked("channel")) {
  console.log(`channel: ${kills} kills, seed ${seed}`);
  const { home, ...found } = await channelCampaign({
    kills,
    random: seededRandom(seed),
    onRound: (round, { place, said, ...tally }) => {
      if (round % 10 !== 0) return;
      console.log(`${round} kills, the last at ${place}; ${said} messages; so far ${JSON.stringify(tally)}`);
    },
  });
  report("channel", found, home);
}

/** As long as the process stands still in one of the suspensions, in seconds; `--suspend 90` has all of them last that long. */
const [LEAST_S, MOST_S] = values.suspend === undefined ? [0.5, 5] : [Number(values.suspend), Number(values.suspend)];

if (asked("automation")) {
  console.log(`automation: ${kills} faults, seed ${seed}`);
  const { home, ...found } = await automationCampaign({
    kills,
    random: seededRandom(seed),
    suspendMs: [LEAST_S * 1000, MOST_S * 1000],
    onRound: (round, { fault, started }) => {
      if (round % 10 === 0) console.log(`${round} faults, the last ${fault}; ${started} pieces of work, each ran once and is recorded`);
    },
  });
  report("automation", found, home);
}

if (asked("memory")) {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-chaos-memory-"));
  console.log(`memory: ${kills} kills, seed ${seed}`);
  const found = await memoryCampaign({
    folder,
    kills,
    random: seededRandom(seed),
    onRound: (round, rebuilt) => {
      if (round % 50 === 0) console.log(`${round} kills, ${rebuilt} times the index was made again`);
    },
  });
  report("memory", found, folder);
}

if (asked("nodes")) {
  console.log(`nodes: ${kills} kills, seed ${seed}`);
  const { home, ...found } = await nodeCampaign({
    kills,
    random: seededRandom(seed),
    onRound: (round, { fault, asked: commands, unknown }) => {
      if (round % 10 === 0) console.log(`${round} kills, the last ${fault}; ${commands} commands, ${unknown} of them not known to have ended well`);
    },
  });
  report("nodes", found, home);
}
