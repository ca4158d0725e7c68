/** Jobs: reminders, one that is due again and again, and those whose zone changes its clocks. */
import type { RawClient } from "../../harness/gateway-client.ts";
import { ask, until, type Aftermath, type ClockChange, type Pending, type Scene, type Starter } from "./starters.ts";

interface Entry {
  readonly action: string;
  readonly status?: string;
  readonly runAtMs?: number;
  readonly summary?: string;
  readonly error?: string;
}

const isolated = { sessionTarget: "isolated", wakeMode: "now", delivery: { mode: "none" } };
/** Runs that have ended. */
const runsOf = async (client: RawClient, id: string): Promise<readonly Entry[]> =>
  (await ask<{ entries: readonly Entry[] }>(client, "cron.runs", { id, limit: 5000 })).entries.filter(({ action }) => action === "finished");

interface Reminder {
  readonly id: string;
  readonly word: string;
  readonly at: number;
}

/** A reminder has run once and is recorded once. */
async function judgeReminder({ client, written }: Aftermath, { id, word, at }: Reminder): Promise<readonly string[]> {
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
async function judgeRecurring({ client, written }: Aftermath, { id, word, everyMs }: Recurring): Promise<readonly string[]> {
  await ask(client, "cron.update", { id, patch: { enabled: false } });
  await until(async () => {
    const { jobs } = await ask<{ jobs: readonly { id: string; state: { runningAtMs?: number } }[] }>(client, "cron.list", { includeDisabled: true });
    return jobs.find((job) => job.id === id)?.state.runningAtMs === undefined ? true : undefined;
  }, `the end of ${word}`);
  const runs = await runsOf(client, id);
  const broken: string[] = [];
  for (const [index, { runAtMs = 0, error = "" }] of runs.entries()) {
    const before = runs[index - 1]?.runAtMs;
    // More than a few that a stopped machine passed over are one record with their number.
    const count = Number(/\((\d[\d,]*) times, most recently/.exec(error)?.[1]?.replaceAll(",", "") ?? 1);
    if (before !== undefined && runAtMs - before !== everyMs * count)
      broken.push(`${word}: between ${before} and ${runAtMs} a time is missing, or one is there twice`);
  }
  const ran = runs.filter(({ status }) => status !== "skipped").length;
  const done = runs.filter(({ summary }) => summary === `done ${word}`).length;
  if (written(word) > ran) broken.push(`${word} ran ${written(word)} times and is recorded as run ${ran} times`);
  if (written(word) < done) broken.push(`${word} is called done ${done} times and was written ${written(word)} times`);
  return broken;
}

const REMINDERS = 4;

/** Reminders that are due one after the other, and a job that is due again and again. */
export const cron: Starter = {
  name: "cron",
  takesMs: 1200,
  places: [
    "cron.claimed",
    "cron.started",
    "cron.accepted",
    "cron.ended",
    "cron.finished",
    "cron.file.recorded",
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
    const everyMs = isClockSet ? 100_000 : 1000;
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
      async judge(aftermath) {
        const found = await Promise.all(reminders.map((reminder) => judgeReminder(aftermath, reminder)));
        return [...found.flat(), ...(await judgeRecurring(aftermath, recurring))];
      },
    };
  },
};

const QUARTER_MS = 900_000;

/** A time of day that the zone skips on the day of the change, or has twice. */
function oddTime({ at, offsets }: ClockChange): string {
  const wall = new Date(at + Math.min(...offsets) + QUARTER_MS);
  return `${wall.getUTCMinutes()} ${wall.getUTCHours()} * * *`;
}

async function beginChange({ client, round }: Scene, change: ClockChange): Promise<Pending> {
  const add = async (word: string, expr: string): Promise<string> => {
    const schedule = { kind: "cron", expr, tz: change.zone, staggerMs: 0 };
    return (await ask<{ id: string }>(client, "cron.add", { name: word, schedule, payload: { kind: "agentTurn", message: `do ${word}` }, ...isolated })).id;
  };
  const quarterly = { id: await add(`q${round}`, "*/15 * * * *"), word: `q${round}`, everyMs: QUARTER_MS };
  const daily = await add(`d${round}`, oddTime(change));
  return {
    words: [`d${round}`],
    async judge(aftermath) {
      const runs = await until(async () => {
        const found = await runsOf(aftermath.client, daily);
        return found.length > 0 ? found : undefined;
      }, `a record of the daily job in ${change.zone}`);
      const broken = await judgeRecurring(aftermath, quarterly);
      const quarters = (await runsOf(aftermath.client, quarterly.id)).length;
      return [
        ...broken,
        ...(runs.length === 1 ? [] : [`the daily job in ${change.zone} is recorded ${runs.length} times on the day of the change`]),
        ...(quarters > 8 ? [] : [`the job of every quarter of an hour in ${change.zone} is recorded only ${quarters} times`]),
      ];
    },
  };
}

/** Jobs of a zone whose clocks are changed while they wait. */
export const clockChanges: Starter = {
  name: "clock changes",
  places: [],
  takesMs: 3000,
  begin: async (scene) => scene.change && beginChange(scene, scene.change),
};

/** Also those whose answer did not come back. */
export async function removeJobs(client: RawClient): Promise<void> {
  const { jobs } = await ask<{ jobs: readonly { id: string }[] }>(client, "cron.list", { includeDisabled: true });
  for (const { id } of jobs) await ask(client, "cron.remove", { id });
}
