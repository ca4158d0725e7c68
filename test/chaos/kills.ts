import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { systemClock } from "../../src/base/clock.ts";
import type { Random } from "../../src/base/random.ts";
import type * as StoreModule from "../../src/store/index.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Test builds have the failpoints in them. */
const STORE_URL = pathToFileURL(join(ROOT, "dist-test/store.js")).href;

/** Places inside a group commit and its projection where a process is killed exactly. */
const PLACES = ["store.group.begun", "store.group.applied", "store.group.committed", "store.group.acknowledged", "projection.appended"] as const;

export interface CampaignOptions {
  readonly stateDir: string;
  readonly kills: number;
  readonly writers: number;
  readonly random: Random;
  /** Ends early, between two kills, when this says so. */
  readonly stop?: () => boolean;
  readonly onRound?: (round: number, acknowledged: number) => void;
}

export interface CampaignReport {
  readonly kills: number;
  readonly acknowledged: number;
  /** One sentence per broken promise. Empty is the only good answer. */
  readonly broken: readonly string[];
}

/** Lets a writer run and kills it: at a random moment, or at a random pass of a failpoint. Gives the last acknowledged number per writer. */
async function killOnce({ stateDir, writers, random }: CampaignOptions, acknowledged: Map<string, number>): Promise<void> {
  const atPlace = random.float() < 0.5;
  const place = PLACES[Math.floor(random.float() * PLACES.length)];
  const env = { PATH: process.env["PATH"], ...(atPlace ? { OPENCLAW_FAILPOINT: `${place}:${1 + Math.floor(random.float() * 60)}` } : {}) };
  const child = spawn(process.execPath, [join(ROOT, "test/chaos/writer.ts"), STORE_URL, stateDir, String(writers)], { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let errors = "";
  child.stdout.on("data", (chunk) => (output += String(chunk)));
  child.stderr.on("data", (chunk) => (errors += String(chunk)));
  const delay = 20 + random.float() * 200;
  // The moment counts from the first acknowledgement, so that a slow start is not the only thing ever killed.
  child.stdout.once("data", () => setTimeout(() => child.kill("SIGKILL"), delay));
  const [, signal] = (await once(child, "close")) as [number | null, string | null];
  if (signal !== "SIGKILL") throw new Error(`the writer ended by itself: ${errors}`);
  for (const line of output.split("\n").slice(0, -1)) {
    const [writer, n] = line.split(" ");
    acknowledged.set(writer!, Math.max(acknowledged.get(writer!) ?? 0, Number(n)));
  }
}

/** Reopens the state and looks for anything that was acknowledged and is not there, out of order, half there, or not in the file. */
export async function findBroken(stateDir: string, acknowledged: ReadonlyMap<string, number>): Promise<string[]> {
  const { openStore } = (await import(STORE_URL)) as typeof StoreModule;
  await using store = await openStore({ stateDir, clock: systemClock });
  const broken: string[] = [];
  for (const [writer, last] of acknowledged) {
    const file = `agents/main/sessions/writer-${writer}.jsonl`;
    const rows = await store.read("transcripts.page", { file, limit: 1_000_000 });
    const numbers = rows.slice(1).map((row) => (JSON.parse(row.line) as { n: number }).n);
    if (numbers.length < last) broken.push(`writer ${writer}: ${last} were acknowledged, ${numbers.length} are there`);
    if (numbers.some((n, index) => n !== index + 1)) broken.push(`writer ${writer}: entries are out of order or missing in between`);
    const inbox = await store.read("inbox.find", { messageId: String(numbers.length), channel: "chaos", conversation: writer });
    const beyond = await store.read("inbox.find", { messageId: String(numbers.length + 1), channel: "chaos", conversation: writer });
    if (inbox.length !== 1 || beyond.length !== 0) broken.push(`writer ${writer}: one commit was split: inbox and transcript disagree`);
    const text = readFileSync(join(stateDir, file), "utf8");
    if (text !== rows.map((row) => `${row.line}\n`).join("")) broken.push(`writer ${writer}: the JSONL file differs from the database`);
  }
  return broken;
}

/** Kills writers again and again over one state folder and checks every promise after each kill. */
export async function killCampaign(options: CampaignOptions): Promise<CampaignReport> {
  const acknowledged = new Map<string, number>();
  const total = (): number => [...acknowledged.values()].reduce((sum, n) => sum + n, 0);
  const broken: string[] = [];
  let kills = 0;
  while (kills < options.kills && !options.stop?.()) {
    await killOnce(options, acknowledged);
    kills += 1;
    const found = await findBroken(options.stateDir, acknowledged);
    broken.push(...found.map((text) => `after kill ${kills}: ${text}`));
    options.onRound?.(kills, total());
    if (broken.length > 0) break;
  }
  return { kills, acknowledged: total(), broken };
}
