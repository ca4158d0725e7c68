/**
 * Generated jobs that run, over a real store, against a model of the rules that is written without our own code: jobs with a fixed time, runs that take longer than
 * the time to the next one, pauses after failures, runs by hand, and a gateway that was down when a job was due.
 */
import type { Cron, CronJob } from "../../src/automation/index.ts";
import { createIds } from "../../src/base/ids.ts";
import { seededRandom, type Random } from "../../src/base/random.ts";
import { openCronLab, type CronLab } from "../automation/cron-lab.ts";
import { scriptedRuns, type RunScript, type ScriptedRuns } from "../harness/scripted-runs.ts";
import { between, caseOf, momentOf, pick, zones, type ScheduleReport, type Zone } from "./schedules.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** A job, and everything that happens to it. */
interface Scenario {
  readonly id: string;
  readonly start: number;
  /** From here on there is a gateway. */
  readonly openAt: number;
  readonly schedule: CronJob["schedule"];
  /** Of a job with a fixed time, that one. */
  readonly natural: (after: number) => number | undefined;
  readonly isRemovedAfterRun: boolean;
  /** The runs in order; the last one repeats. */
  readonly script: readonly RunScript[];
  readonly byHandAt: number | undefined;
}

/** What became of a job up to a moment. */
interface Course {
  /** Status, time, and by how much it was late. */
  readonly runs: readonly string[];
  /** Times that it did not run at, and that are recorded. */
  readonly skipped: readonly number[];
  readonly isRunning: boolean;
  readonly job: string;
}

/** After 1, 2, 3, 4 and more failures in a row. */
const PAUSES = [30 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR];

const runText = (status: string, at: number, lateMs = 0): string => `${status} ${new Date(at).toISOString()}${lateMs > MINUTE ? ` late ${lateMs}` : ""}`;
const jobText = (enabled: boolean, next: number | undefined, failures: number): string =>
  `${enabled ? "enabled" : "disabled"}, next ${next === undefined ? "none" : new Date(next).toISOString()}, ${failures} failures`;

/** The rules: AUTOMATION 1.3, and what CONFLICTS 20 says about missed times. */
function courseOf({ start, openAt, schedule, natural, isRemovedAfterRun, script, byHandAt }: Scenario, until: number): Course {
  const isFixed = schedule.kind === "at";
  const runs: string[] = [];
  const skipped: number[] = [];
  const skip = (from: number, to: number): void => {
    for (let at = isFixed ? undefined : natural(from); at !== undefined && at < to; at = natural(at)) skipped.push(at);
  };
  let next = natural(start);
  let slot = next;
  let lastEnd = start;
  if (next !== undefined && next <= openAt) {
    const missed: number[] = [];
    for (let at: number | undefined = next; at !== undefined && at <= openAt; at = isFixed ? undefined : natural(at)) missed.push(at);
    const newest = missed.pop()!;
    const isMadeUp = isFixed || openAt - newest <= 6 * HOUR;
    skipped.push(...missed, ...(isMadeUp ? [] : [newest]));
    [next, slot] = isMadeUp ? [openAt, newest] : [natural(openAt), natural(openAt)];
    lastEnd = openAt;
  }
  let [failures, isEnabled, byHand] = [0, true, byHandAt];
  for (let count = 0; ; count += 1) {
    const isByHand = byHand !== undefined && (next === undefined || byHand < next);
    const begin = isByHand ? byHand! : next;
    if (begin === undefined || begin > until) break;
    skip(lastEnd, begin);
    const { status, takesMs } = script[Math.min(count, script.length - 1)]!;
    const end = begin + takesMs;
    // Not twice at the same time.
    if (isByHand || (byHand !== undefined && byHand < end)) byHand = undefined;
    const of = isByHand ? begin : (slot ?? begin);
    if (end > until) {
      skip(begin, until + 1);
      return { runs, skipped, isRunning: true, job: "" };
    }
    skip(begin, end);
    runs.push(runText(status, of, begin - of));
    failures = status === "error" ? failures + 1 : 0;
    if (isFixed && status === "ok" && isRemovedAfterRun) return { runs, skipped, isRunning: false, job: "removed" };
    isEnabled &&= !isFixed;
    const least = failures > 0 ? end + PAUSES[Math.min(failures, PAUSES.length) - 1]! : schedule.kind === "cron" ? end + 2 * SECOND : end;
    const after = isFixed ? undefined : natural(end);
    next = after === undefined ? undefined : Math.max(after, least);
    [slot, lastEnd] = [next, end];
  }
  return { runs, skipped, isRunning: false, job: jobText(isEnabled, next, failures) };
}

type Timing = Pick<Scenario, "schedule" | "natural">;

/** A job that is due often: while it runs, right after it, and while it waits after failures. */
function frequent(random: Random, start: number): Timing {
  if (random.float() < 0.4) {
    const everyMs = between(random, 5, 90) * SECOND;
    const anchorMs = start - between(random, 0, HOUR);
    const natural = (after: number): number => anchorMs + (Math.floor((after - anchorMs) / everyMs) + 1) * everyMs;
    return { schedule: { kind: "every", everyMs, anchorMs }, natural };
  }
  const second = between(random, 0, 59);
  const natural = (after: number): number => (Math.floor((after - second * SECOND) / MINUTE) + 1) * MINUTE + second * SECOND;
  return { schedule: { kind: "cron", expr: `${second} * * * * *`, tz: "UTC" }, natural };
}

/** A run that ends at once, after a while, or right before a time of a job of every minute. */
const takes = (random: Random): number =>
  pick(random, [
    between(random, 1, 900),
    between(random, SECOND, 3 * MINUTE),
    between(random, 1, 4) * MINUTE - between(random, 1, 1900),
    between(random, MINUTE, 40 * MINUTE),
  ]);

function scenarioOf(random: Random, all: readonly Zone[], id: string): Scenario {
  const start = momentOf(random);
  const openAt = random.float() < 0.3 ? start + between(random, MINUTE, 12 * HOUR) : start;
  const at = start + between(random, MINUTE, 24 * HOUR);
  const kind = random.float();
  const fixed: Timing = { schedule: { kind: "at", at: new Date(at).toISOString() }, natural: (after) => (after < at ? at : undefined) };
  const rare = ({ schedule, next }: ReturnType<typeof caseOf>): Timing => ({ schedule, natural: next });
  const timing = kind < 0.25 ? fixed : kind < 0.65 ? frequent(random, start) : rare(caseOf(random, all, id, start));
  const first = timing.natural(openAt) ?? openAt;
  return {
    id,
    start,
    openAt,
    ...timing,
    isRemovedAfterRun: random.float() < 0.7,
    script: Array.from({ length: 8 }, () => ({ status: random.float() < 0.45 ? "error" : "ok", takesMs: takes(random) })),
    byHandAt: random.float() < 0.5 ? first + between(random, -MINUTE, 20 * MINUTE) : undefined,
  };
}

/** Moments at which something happens to a job. */
const STEPS = 30;

interface World {
  readonly lab: CronLab;
  readonly runs: ScriptedRuns;
}

/** Waits until everything has happened that happens now. */
async function settled({ lab: { clock, store }, runs }: World): Promise<void> {
  for (;;) {
    const [earliest, claimed] = await Promise.all([store.read("cron.job.earliest", {}), store.read("cron.slot.running", {})]);
    if ((earliest === null || earliest > clock.now()) && claimed.length === runs.open()) return;
    clock.advance(0);
    await new Promise(setImmediate);
  }
}

/** Lets time pass, from one moment at which something happens to the next. Gives the last one. */
async function pass(world: World, cron: Cron, { id, openAt, byHandAt }: Scenario): Promise<number> {
  const { lab, runs } = world;
  const { clock, store } = lab;
  let byHand = byHandAt !== undefined && byHandAt > openAt ? byHandAt : undefined;
  await settled(world);
  for (let step = 0; step < STEPS; step += 1) {
    const next = [await store.read("cron.job.earliest", {}), runs.nextEnd(), byHand].filter((at) => typeof at === "number");
    if (next.length === 0) break;
    clock.advance(Math.min(...next) - clock.now());
    if (byHand === clock.now()) {
      byHand = undefined;
      const accepted = runs.accepted();
      await Promise.race([cron.run(id, "force").catch(() => undefined), accepted]);
    }
    await settled(world);
  }
  return clock.now();
}

/** What the records say. */
async function recordedCourse(cron: Cron, { id }: Scenario, now: number): Promise<Course & { readonly count: number; readonly ahead: number }> {
  const entries = await cron.runs(id, 5000).catch(() => []);
  const job = (await cron.list({ includeDisabled: true })).find((one) => one.id === id);
  const finished = entries.filter(({ action }) => action === "finished");
  const skips = finished.filter(({ status }) => status === "skipped");
  // More than a few are one record with their number.
  const count = skips.reduce((sum, { error = "" }) => sum + Number(/\((\d[\d,]*) times, most recently/.exec(error)?.[1]?.replaceAll(",", "") ?? 1), 0);
  return {
    runs: finished.flatMap(({ status = "", runAtMs = 0, lateMs }) => (status === "skipped" ? [] : [runText(status, runAtMs, lateMs)])),
    skipped: skips.map(({ runAtMs = 0 }) => runAtMs),
    count,
    ahead: entries.filter(({ runAtMs = 0 }) => runAtMs > now).length,
    isRunning: entries.some(({ action }) => action === "started"),
    job: job ? jobText(job.enabled, job.state.nextRunAtMs, job.state.consecutiveErrors ?? 0) : "removed",
  };
}

async function differencesOf(world: World, scenario: Scenario, named: (id: string) => void): Promise<readonly string[]> {
  const { id, start, openAt, schedule, script, isRemovedAfterRun } = scenario;
  const { lab, runs } = world;
  lab.clock.advance(start - lab.clock.now());
  runs.follow(script);
  let cron = await lab.open();
  named(id);
  const job = {
    name: id,
    schedule,
    sessionTarget: "isolated",
    wakeMode: "now",
    payload: { kind: "agentTurn", message: "work" },
    delivery: { mode: "none" },
  } as const;
  const added = await cron.add({ ...job, deleteAfterRun: isRemovedAfterRun }).catch(() => undefined);
  if (!added) {
    await cron[Symbol.asyncDispose]();
    return scenario.natural(start) === undefined ? [] : [`${JSON.stringify(scenario)} was refused`];
  }
  if (openAt > start) {
    await cron[Symbol.asyncDispose]();
    lab.clock.advance(openAt - start);
    cron = await lab.open();
  }
  const now = await pass(world, cron, scenario);
  const [ours, model] = [
    await recordedCourse(cron, scenario, now),
    courseOf({ ...scenario, byHandAt: (scenario.byHandAt ?? 0) > openAt ? scenario.byHandAt : undefined }, now),
  ];
  const about = `${JSON.stringify({ ...scenario, natural: undefined })} at ${new Date(now).toISOString()}`;
  const broken: string[] = [];
  const compare = (what: string, of: unknown, wanted: unknown): void => {
    if (JSON.stringify(of) !== JSON.stringify(wanted)) broken.push(`${about}: ${what} ${JSON.stringify(of)}, and by the rules ${JSON.stringify(wanted)}`);
  };
  compare(
    "its runs are",
    ours.runs,
    [...model.runs].sort((a, b) => (a.slice(a.indexOf(" ")) < b.slice(b.indexOf(" ")) ? -1 : 1)),
  );
  compare("a run is under way:", ours.isRunning, model.isRunning);
  if (!model.isRunning) compare("it is", ours.job, model.job);
  compare("the number of times that it did not run at is", ours.count, model.skipped.length);
  if (ours.count === ours.skipped.length)
    compare(
      "it did not run at",
      ours.skipped,
      [...model.skipped].sort((a, b) => a - b),
    );
  compare("records of times to come are", ours.ahead, 0);
  await cron.remove(id);
  runs.endAll();
  await settled(world);
  await cron[Symbol.asyncDispose]();
  return broken;
}

export async function runCampaign({ schedules, seed }: { readonly schedules: number; readonly seed: number }): Promise<ScheduleReport> {
  const random = seededRandom(seed);
  const all = zones();
  const given = createIds(seededRandom(seed));
  let name: string | undefined;
  const ids = {
    ...given,
    // The delay of a job follows from its id, which the model has to know.
    uuid: () => {
      const id = name ?? given.uuid();
      name = undefined;
      return id;
    },
  };
  const runs = scriptedRuns();
  await using lab = await openCronLab({ runs, ids });
  runs.use(lab.clock);
  const broken: string[] = [];
  for (let n = 0; n < schedules; n += 1) broken.push(...(await differencesOf({ lab, runs }, scenarioOf(random, all, `run-${n}`), (id) => (name = id))));
  return { schedules, broken };
}
