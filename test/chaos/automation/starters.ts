/** What a campaign knows of work that starts by itself: how it is asked for, where on its way a gateway is killed, and what must be true of it afterwards. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { FakeTelegram } from "../../fakes/telegram/index.ts";
import type { RawClient } from "../../harness/gateway-client.ts";
import type { CampaignModel } from "./model.ts";

/** A moment at which the clocks of a zone are changed. */
export interface ClockChange {
  readonly zone: string;
  readonly at: number;
  /** Of the zone, before and after it. */
  readonly offsets: readonly [number, number];
}

export interface Scene {
  readonly client: RawClient;
  readonly url: string;
  readonly telegram: FakeTelegram;
  /** Names what is asked for in this round. */
  readonly round: number;
  /** By the gateway's clock. */
  readonly now: () => number;
  /** The clock is set in this round: by hours or days. */
  readonly isClockSet: boolean;
  /** It is set across this. */
  readonly change: ClockChange | undefined;
}

/** After the fault, with a gateway that nobody kills. */
export interface Aftermath {
  readonly client: RawClient;
  readonly url: string;
  readonly stateDir: string;
  readonly telegram: FakeTelegram;
  readonly model: CampaignModel;
  /** How often a word stands in the ledger. */
  readonly written: (word: string) => number;
  readonly isClockSet: boolean;
}

/** Work that was asked for. */
export interface Pending {
  /** Each piece of work writes one of these words down, once at most. */
  readonly words: readonly string[];
  /** Waits until all of it has ended. One sentence per broken promise. */
  judge(aftermath: Aftermath): Promise<readonly string[]>;
}

export interface Starter {
  readonly name: string;
  /** Failpoints on its way. */
  readonly places: readonly string[];
  /** As long as its work takes, about, in milliseconds. */
  readonly takesMs: number;
  /** Asks for work that starts by itself, soon. Undefined where it has none for this round. */
  begin(scene: Scene): Promise<Pending | undefined>;
}

/** Rows of the state of a running gateway. */
export function rowsOf(stateDir: string, query: string, ...values: readonly string[]): readonly Readonly<Record<string, unknown>>[] {
  const db = new DatabaseSync(join(stateDir, "openclaw.db"), { readOnly: true });
  try {
    return db.prepare(query).all(...values);
  } finally {
    db.close();
  }
}

const PATIENCE_MS = 60_000;
const LOOK_MS = 25;

export async function until<T>(look: () => T | undefined | Promise<T | undefined>, what: string): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > end) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

export async function ask<T>(client: RawClient, method: string, params: object): Promise<T> {
  const { ok, payload, error } = await client.request(method, params);
  if (!ok) throw new Error(`${method} failed: ${JSON.stringify(error)}`);
  return payload as T;
}

/** A word whose work has to have ended: done once, or reported as unknown to the agent. */
export async function judgeWord({ model, written }: Aftermath, word: string): Promise<readonly string[]> {
  const how = await until(() => model.ended(word), `the end of ${word}`);
  return how === "done" && written(word) !== 1 ? [`${word} is called done and was written ${written(word)} times`] : [];
}
