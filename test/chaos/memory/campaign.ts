import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Random } from "../../../src/base/random.ts";
import { openNotes, runSteps } from "./notes.ts";

const WRITER = fileURLToPath(new URL("./writer.ts", import.meta.url));

export interface MemoryCampaign {
  readonly folder: string;
  readonly kills: number;
  readonly random: Random;
  /** Ends early, between two kills, when this says so. */
  readonly stop?: () => boolean;
  readonly onRound?: (kills: number, rebuilt: number) => void;
}

const REQUEST = {
  maxResults: 5,
  minScore: 0,
  sources: ["memory"],
  scope: { notes: true, sessions: "none" },
  now: Date.now(),
  zoneSeconds: 0,
  ranking: { candidateMultiplier: 4 },
} as const;

/** Runs a writer and kills it at a random moment. Gives the last round that it finished. */
async function killOnce(folder: string, from: number, random: Random): Promise<number> {
  const child = spawn(process.execPath, [WRITER, folder, String(from)], { stdio: ["ignore", "pipe", "pipe"] });
  let [output, errors] = ["", ""];
  child.stdout.on("data", (chunk) => (output += String(chunk)));
  child.stderr.on("data", (chunk) => (errors += String(chunk)));
  child.stdout.once("data", () => setTimeout(() => child.kill("SIGKILL"), random.float() * 60));
  const [, signal] = (await once(child, "close")) as [number | null, string | null];
  if (signal !== "SIGKILL") throw new Error(`the writer ended by itself: ${errors}`);
  return Number(output.trim().split("\n").at(-1) ?? from);
}

/** Opens what a kill left: searched as it is it must not give what is gone; followed, it must give all that is there. */
function findBroken(folder: string, rounds: number): { readonly broken: readonly string[]; readonly rebuilt: boolean } {
  const broken: string[] = [];
  let rebuilt = false;
  using library = openNotes(folder, () => (rebuilt = true));
  const memory = join(folder, "workspace", "memory");
  const texts = new Map(readdirSync(memory).map((name) => [`memory/${name}`, readFileSync(join(memory, name), "utf8")]));
  const check = (when: string): void => {
    for (let back = 0; back < 4; back += 1) {
      for (const { path, snippet } of library.search({ ...REQUEST, query: `zebra${rounds - back}x` }).hits) {
        if (!texts.get(path)?.includes(snippet.replace(/…$/, "").trim().split("\n")[0] ?? ""))
          broken.push(`${when}: ${path} was answered with ${JSON.stringify(snippet.slice(0, 60))}`);
      }
    }
  };
  check("before it was followed");
  runSteps(library.sync());
  check("after it was followed");
  for (const [path, text] of texts) {
    const word = /zebra\d+x/.exec(text)?.[0];
    // The writer was killed in the middle of the file itself.
    if (word === undefined) continue;
    const name = /note-(\d+)/.exec(path)?.[1] ?? "";
    if (!library.search({ ...REQUEST, query: `note${name} ${word}` }).hits.some((hit) => hit.path === path)) broken.push(`${path} is not found by ${word}`);
  }
  const integrity = library.open.index.db.prepare("PRAGMA integrity_check").get()?.["integrity_check"];
  if (integrity !== "ok") broken.push(`the index is damaged: ${String(integrity)}`);
  return { broken, rebuilt };
}

/** Kills an indexing process again and again over one folder of notes. */
export async function memoryCampaign({
  folder,
  kills,
  random,
  stop,
  onRound,
}: MemoryCampaign): Promise<{ readonly kills: number; readonly rebuilt: number; readonly broken: readonly string[] }> {
  mkdirSync(join(folder, "workspace", "memory"), { recursive: true });
  let [done, rebuilt, round] = [0, 0, 0];
  for (; done < kills; done += 1) {
    if (stop?.()) break;
    round = (await killOnce(folder, round + 1, random)) + 1;
    const found = findBroken(folder, round);
    if (found.rebuilt) rebuilt += 1;
    onRound?.(done + 1, rebuilt);
    if (found.broken.length > 0) return { kills: done + 1, rebuilt, broken: found.broken };
  }
  return { kills: done, rebuilt, broken: [] };
}
