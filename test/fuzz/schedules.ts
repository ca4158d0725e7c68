/**
 * Generated schedules against a model of the rules that is written without the library and without our own code: which instants match an expression in a zone
 * with daylight saving, how jobs are spread, and which of the times that passed while a gateway was down are made up for.
 */
import { createHash } from "node:crypto";
import { seededRandom, type Random } from "../../src/base/random.ts";
import { dueRuns } from "../../src/automation/cron/due.ts";
import { timesOf, type Schedule } from "../../src/automation/cron/schedule.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Offsets of time zones change at multiples of this. */
const BLOCK = 30 * MINUTE;
/** Later matches are not looked for. */
const HORIZON = 430 * DAY;
const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "America/Sao_Paulo"] as const;

export const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random.float() * from.length)]!;
export const between = (random: Random, min: number, max: number): number => min + Math.floor(random.float() * (max - min + 1));

/** A field of an expression: as it is written, and the values that it means. */
interface Field {
  readonly text: string;
  /** Undefined: any. */
  readonly values?: readonly number[];
}

interface Expression {
  readonly text: string;
  readonly second: readonly number[];
  readonly minute: Field;
  readonly hour: Field;
  /** `last`: also the last day of a month. */
  readonly dom: Field & { readonly last?: boolean };
  readonly month: Field;
  /** With `nth` only the n-th such day of a month. */
  readonly dow: Field & { readonly nth?: number };
}

function span(from: number, to: number, step = 1): readonly number[] {
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);
}

/** `most` is the largest value that a step over all of them reaches. */
function field(random: Random, [min, max, most = max]: readonly [number, number, number?], anyShare: number): Field {
  if (random.float() < anyShare) return { text: "*" };
  const kind = random.float();
  if (kind < 0.5) {
    const value = between(random, min, max);
    return { text: String(value), values: [value] };
  }
  if (kind < 0.7) {
    const values = [...new Set([between(random, min, max), between(random, min, max), between(random, min, max)])];
    return { text: values.join(","), values };
  }
  const from = between(random, min, max - 1);
  const to = between(random, from + 1, max);
  if (kind < 0.85) return { text: `${from}-${to}`, values: span(from, to) };
  const step = between(random, 2, 7);
  return random.float() < 0.5 ? { text: `*/${step}`, values: span(min, most, step) } : { text: `${from}-${to}/${step}`, values: span(from, to, step) };
}

const DAY_NAMES = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const MONTH_NAMES = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];

function dowField(random: Random): Expression["dow"] {
  const kind = random.float();
  const day = between(random, 0, 6);
  if (kind < 0.5) return { text: "*" };
  if (kind < 0.65) return { text: day === 0 && random.float() < 0.5 ? "7" : String(day), values: [day] };
  if (kind < 0.8) return { text: DAY_NAMES[day]!, values: [day] };
  if (kind < 0.9) return { text: "1-5", values: [1, 2, 3, 4, 5] };
  const nth = between(random, 1, 4);
  return { text: `${DAY_NAMES[day]}#${nth}`, values: [day], nth };
}

function generate(random: Random): Expression {
  const hasSeconds = random.float() < 0.3;
  const second = hasSeconds ? between(random, 0, 59) : 0;
  const minute = field(random, [0, 59], 0.15);
  const hour = field(random, [0, 23], 0.3);
  const dom = random.float() < 0.15 ? { text: "L", values: [], last: true } : field(random, [1, 28, 31], 0.6);
  const named = between(random, 1, 12);
  const month = random.float() < 0.15 ? { text: MONTH_NAMES[named - 1]!, values: [named] } : field(random, [1, 12], 0.75);
  const dow = dowField(random);
  const text = [...(hasSeconds ? [String(second)] : []), ...[minute, hour, dom, month, dow].map((one) => one.text)].join(" ");
  return { text, second: [second], minute, hour, dom, month, dow };
}

/** A time zone, as the platform knows it. */
export interface Zone {
  readonly name: string;
  /** How far it is ahead of UTC at an instant. */
  offsetAt(at: number): number;
}

function createZone(name: string): Zone {
  const known = new Map<number, number>();
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: name,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  });
  const compute = (block: number): number => {
    const parts = Object.fromEntries(format.formatToParts(block).map(({ type, value }) => [type, Number(value)]));
    return Date.UTC(parts["year"]!, parts["month"]! - 1, parts["day"], parts["hour"], parts["minute"]) - block;
  };
  return {
    name,
    offsetAt(at) {
      const block = Math.floor(at / BLOCK) * BLOCK;
      const offset = known.get(block) ?? compute(block);
      known.set(block, offset);
      return offset;
    },
  };
}

export const zones = (): readonly Zone[] => ZONES.map(createZone);

const fits = ({ values }: Field, value: number): boolean => values === undefined || values.includes(value);

/** Whether a day matches, as a date in UTC that has the fields of the local one. When both days are given, either matches. */
function isDay({ dom, month, dow }: Expression, local: Date): boolean {
  if (!fits(month, local.getUTCMonth() + 1)) return false;
  const isLast = dom.last === true && new Date(local.getTime() + DAY).getUTCDate() === 1;
  const inMonth = isLast || fits(dom, local.getUTCDate());
  const inWeek = fits(dow, local.getUTCDay()) && (dow.nth === undefined || Math.ceil(local.getUTCDate() / 7) === dow.nth);
  return dom.values !== undefined && dow.values !== undefined ? inMonth || inWeek : inMonth && inWeek;
}

/** The first instant after another that matches. Undefined when there is none before the horizon. */
function nextMatch(expression: Expression, zone: Zone, after: number): number | undefined {
  const { second, minute, hour } = expression;
  const [seconds = 0] = second;
  // One time a day: it is made up for at the end of a skipped hour, and runs once in a repeated one.
  const single = minute.values?.length === 1 && hour.values?.length === 1 ? hour.values[0]! * HOUR + minute.values[0]! * MINUTE + seconds * 1000 : undefined;
  const wallOf = (at: number): number => at + zone.offsetAt(at);
  for (let block = Math.floor(after / BLOCK) * BLOCK; block <= after + HORIZON; block += BLOCK) {
    const [before, offset] = [zone.offsetAt(block - 1), zone.offsetAt(block)];
    const wall = block + offset;
    const day = Math.floor(wall / DAY) * DAY;
    if (!isDay(expression, new Date(day))) continue;
    const isSkipped = single !== undefined && offset > before && day + single >= block + before && day + single < wall;
    if (isSkipped && block > after) return block;
    for (let at = block + seconds * 1000; at < block + BLOCK; at += MINUTE) {
      const local = new Date(wallOf(at));
      if (at <= after || !fits(hour, local.getUTCHours()) || !fits(minute, local.getUTCMinutes())) continue;
      const earlier = zone.offsetAt(at - 3 * HOUR);
      const isRepeated = earlier > offset && wallOf(at - (earlier - offset)) === wallOf(at);
      if (single === undefined || !isRepeated) return at;
    }
  }
  return undefined;
}

/** By how much the times of a job are later than the matches. */
function spreadOf({ text, minute, hour }: Expression, jobId: string, staggerMs: number | undefined): number {
  const isHourly = minute.text === "0" && hour.text.includes("*") && (text.split(" ").length === 5 || text.startsWith("0 "));
  const most = staggerMs ?? (isHourly ? 300_000 : 0);
  const digest = createHash("sha256").update(jobId).digest();
  return most === 0 ? 0 : ((digest[0]! * 2 ** 24 + digest[1]! * 2 ** 16 + digest[2]! * 2 ** 8 + digest[3]!) >>> 0) % most;
}

interface Case {
  readonly schedule: Schedule;
  readonly next: (after: number) => number | undefined;
}

/** A schedule, and when it runs by the model. */
export function caseOf(random: Random, zones: readonly Zone[], jobId: string, now: number): Case {
  if (random.float() < 0.15) {
    const everyMs = between(random, 5, 600) * MINUTE + between(random, 0, 999);
    const anchorMs = now - between(random, 0, 3 * DAY);
    const next = (after: number): number => {
      let at = anchorMs;
      while (at <= after) at += everyMs;
      return at;
    };
    return { schedule: { kind: "every", everyMs, anchorMs }, next };
  }
  const expression = generate(random);
  const zone = pick(random, zones);
  const staggerMs = random.float() < 0.3 ? between(random, 0, 600_000) : undefined;
  const spread = spreadOf(expression, jobId, staggerMs);
  const schedule = { kind: "cron", expr: expression.text, tz: zone.name, ...(staggerMs === undefined ? {} : { staggerMs }) } as const;
  return {
    schedule,
    next: (after) => {
      const match = nextMatch(expression, zone, after - spread);
      return match === undefined ? undefined : match + spread;
    },
  };
}

/** Days in 2026 and 2027 on which clocks are set, among others. */
export function momentOf(random: Random): number {
  const changes = ["2026-03-08", "2026-03-29", "2026-04-04", "2026-10-03", "2026-10-25", "2026-11-01", "2027-03-14", "2027-03-28"];
  if (random.float() < 0.6) return Date.parse(`${pick(random, changes)}T00:00:00Z`) + between(random, -12 * HOUR, 30 * HOUR);
  return between(random, Date.UTC(2026, 0, 1), Date.UTC(2027, 11, 31));
}

/** Times that are compared one after the other. */
const TIMES = 6;
/** Of a job with very many times while the gateway was down only so many are recorded; such cases are left out. */
const MOST_MISSED = 900;

function differencesOf(random: Random, zones: readonly Zone[], jobId: string): readonly string[] {
  const start = momentOf(random);
  const { schedule, next } = caseOf(random, zones, jobId, start);
  const times = timesOf(schedule, jobId);
  const said = (at: number | undefined): string => (at === undefined ? "none" : new Date(at).toISOString());
  const about = `${JSON.stringify(schedule)} of ${jobId}`;
  const found: string[] = [];
  const listed: number[] = [];
  for (let at = start, count = 0; count < TIMES; count += 1) {
    const [ours, model] = [times.next(at), next(at)];
    const isBeyond = model === undefined && (ours === undefined || ours > at + HORIZON - 2 * DAY);
    if (ours !== model && !isBeyond) found.push(`${about}: after ${said(at)} comes ${said(ours)}, and by the rules ${said(model)}`);
    if (model === undefined || ours !== model) break;
    listed.push(model);
    at = model;
  }
  return [...found, ...missedDifferences(random, { schedule, next, times, about, planned: listed[0] })];
}

interface Missed extends Case {
  readonly times: ReturnType<typeof timesOf>;
  readonly about: string;
  readonly planned: number | undefined;
}

/** What is made up for after a gateway was down: the last time of up to six hours ago, unless the job says otherwise; all others are recorded. */
function missedDifferences(random: Random, { schedule, next, times, about, planned }: Missed): readonly string[] {
  if (planned === undefined) return [];
  const policy = pick(random, [undefined, "skip", "last", "all"] as const);
  const missedMaxAgeMs = random.float() < 0.5 ? undefined : between(random, 0, 2 * DAY);
  const now = planned + pick(random, [0, 30_000, 61_000, between(random, 0, 6 * HOUR), between(random, 0, 3 * DAY)]);
  const all: number[] = [];
  for (let at: number | undefined = planned; at !== undefined && at <= now && all.length <= MOST_MISSED; at = next(at)) all.push(at);
  if (all.length > MOST_MISSED) return [];
  const mostAge = missedMaxAgeMs ?? 6 * HOUR;
  const wanted = all.filter((at, index) => {
    const isNow = now - at <= MINUTE;
    const isYoung = now - at <= mostAge;
    if (policy === "all") return isNow || isYoung;
    return index === all.length - 1 && (isNow || (policy !== "skip" && isYoung));
  });
  const job = { schedule, ...(policy === undefined ? {} : { missed: policy }), ...(missedMaxAgeMs === undefined ? {} : { missedMaxAgeMs }) };
  const due = dueRuns(job, times, planned, now);
  const isSame = JSON.stringify([due.run, due.missed]) === JSON.stringify([wanted, all.filter((at) => !wanted.includes(at))]);
  const shown = JSON.stringify({ policy, missedMaxAgeMs, planned, now, ran: due.run, missed: due.missed.length, wanted, all: all.length });
  return isSame ? [] : [`${about}: after the gateway was down other times run than by the rules: ${shown}`];
}

export interface ScheduleReport {
  readonly schedules: number;
  /** One sentence per difference. Empty is the only good answer. */
  readonly broken: readonly string[];
}

export function scheduleCampaign({ schedules, seed }: { readonly schedules: number; readonly seed: number }): ScheduleReport {
  const random = seededRandom(seed);
  const known = zones();
  const broken = Array.from({ length: schedules }, (_, n) => differencesOf(random, known, `job-${n}`)).flat();
  return { schedules, broken };
}
