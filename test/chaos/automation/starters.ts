/**
 * What starts by itself, for the campaign: how it is asked for, where on its way a gateway is killed, and what must be true of it afterwards. A beat, a webhook
 * or a spawn is added here.
 */
import type { RawClient } from "../../harness/gateway-client.ts";

export interface Scene {
  readonly client: RawClient;
  /** Names what is asked for in this round. */
  readonly round: number;
  /** By the gateway's clock. */
  readonly now: () => number;
  /** The clock is set in this round: by hours or days. */
  readonly isClockSet: boolean;
}

/** Work that was asked for. */
export interface Pending {
  /** Each piece of work writes one of these words down, and no more often than it runs. */
  readonly words: readonly string[];
  /** Waits until all of it has ended, in a gateway that nobody kills. One sentence per broken promise. `written` counts how often a word stands in the ledger. */
  judge(client: RawClient, written: (word: string) => number): Promise<readonly string[]>;
}

export interface Starter {
  readonly name: string;
  /** Failpoints on its way. */
  readonly places: readonly string[];
  /** Asks for work that starts within about a second. */
  begin(scene: Scene): Promise<Pending>;
}

interface Entry {
  readonly status?: string;
  readonly runAtMs?: number;
  readonly summary?: string;
  readonly error?: string;
}

const PATIENCE_MS = 20_000;
const LOOK_MS = 25;

export async function until<T>(look: () => Promise<T | undefined>, what: string): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > end) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

async function ask<T>(client: RawClient, method: string, params: object): Promise<T> {
  const { ok, payload, error } = await client.request(method, params);
  if (!ok) throw new Error(`${method} failed: ${JSON.stringify(error)}`);
  return payload as T;
}

const isolated = { sessionTarget: "isolated", wakeMode: "now", delivery: { mode: "none" } };
const runsOf = async (client: RawClient, id: string): Promise<readonly Entry[]> =>
  (await ask<{ entries: readonly Entry[] }>(client, "cron.runs", { id, limit: 5000 })).entries;

interface Reminder {
  readonly id: string;
  readonly word: string;
  readonly at: number;
}

/** A reminder has run once and is recorded once. */
async function judgeReminder(client: RawClient, { id, word, at }: Reminder, written: (word: string) => number): Promise<readonly string[]> {
  const runs = await until(async () => {
    const found = await runsOf(client, id).catch(() => []);
    return found.length > 0 ? found : undefined;
  }, `a record of ${word}`).catch(() => []);
  const [run] = runs;
  if (!run || runs.length > 1) return [`${word} is recorded ${runs.length} times`];
  const broken: string[] = [];
  if (run.runAtMs !== at) broken.push(`${word} was due at ${at} and is recorded at ${run.runAtMs}`);
  if (run.status === "skipped") broken.push(`${word} was skipped: ${run.error}`);
  if (run.summary === `done ${word}` && written(word) !== 1) broken.push(`${word} is called done and was written ${written(word)} times`);
  return broken;
}

interface Recurring {
  readonly id: string;
  readonly word: string;
  readonly everyMs: number;
}

/** Every time of a recurring job, from the first to the last, is recorded once; it ran no more often than that. */
async function judgeRecurring(client: RawClient, { id, word, everyMs }: Recurring, written: (word: string) => number): Promise<readonly string[]> {
  await ask(client, "cron.update", { id, patch: { enabled: false } });
  await until(async () => {
    const { jobs } = await ask<{ jobs: readonly { id: string; state: { runningAtMs?: number } }[] }>(client, "cron.list", { includeDisabled: true });
    return jobs.find((job) => job.id === id)?.state.runningAtMs === undefined ? true : undefined;
  }, `the end of ${word}`);
  const runs = await runsOf(client, id);
  const broken: string[] = [];
  for (const [index, { runAtMs = 0 }] of runs.entries()) {
    const before = runs[index - 1]?.runAtMs;
    if (before !== undefined && runAtMs - before !== everyMs) broken.push(`${word}: between ${before} and ${runAtMs} a time is missing, or one is there twice`);
  }
  const ran = runs.filter(({ status }) => status !== "skipped").length;
  const done = runs.filter(({ summary }) => summary === `done ${word}`).length;
  if (written(word) > ran) broken.push(`${word} ran ${written(word)} times and is recorded as run ${ran} times`);
  if (written(word) < done) broken.push(`${word} is called done ${done} times and was written ${written(word)} times`);
  return broken;
}

const REMINDERS = 4;

/** Reminders that are due one after the other, and a job that is due again and again. */
const cron: Starter = {
  name: "cron",
  places: [
    "cron.claimed",
    "cron.started",
    "cron.accepted",
    "cron.ended",
    "cron.finished",
    "inbox.committed",
    "turn.started",
    "model.result.committed",
    "tool.intent.committed",
    "tool.done",
    "store.group.applied",
    "store.group.committed",
  ],
  async begin({ client, round, now, isClockSet }) {
    // In a day of missed times each is recorded, as long as they are no more than a thousand.
    const everyMs = isClockSet ? 100_000 : 400;
    const again = { name: "again", schedule: { kind: "every", everyMs }, payload: { kind: "agentTurn", message: `do r${round}` }, ...isolated };
    const recurring: Recurring = { id: (await ask<{ id: string }>(client, "cron.add", again)).id, word: `r${round}`, everyMs };
    const reminders: Reminder[] = [];
    for (let n = 0; n < REMINDERS; n += 1) {
      const word = `c${round}-${n}`;
      const at = now() + 250 + n * 150;
      const job = { name: word, schedule: { kind: "at", at: new Date(at).toISOString() }, payload: { kind: "agentTurn", message: `do ${word}` }, ...isolated };
      const added = await ask<{ id: string }>(client, "cron.add", { ...job, deleteAfterRun: false }).catch(() => undefined);
      // The gateway is gone: what it has accepted counts.
      if (!added) break;
      reminders.push({ id: added.id, word, at });
    }
    return {
      words: reminders.map(({ word }) => word),
      async judge(judging, written) {
        const found = await Promise.all(reminders.map((reminder) => judgeReminder(judging, reminder, written)));
        const broken = [...found.flat(), ...(await judgeRecurring(judging, recurring, written))];
        // Also those whose answer did not come back.
        const { jobs } = await ask<{ jobs: readonly { id: string }[] }>(judging, "cron.list", { includeDisabled: true });
        for (const { id } of jobs) await ask(judging, "cron.remove", { id });
        return broken;
      },
    };
  },
};

export const STARTERS: readonly Starter[] = [cron];
