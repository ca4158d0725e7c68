/** When a job runs. Expressions, time zones and daylight saving are croner's; the rest is arithmetic. */
import { createHash } from "node:crypto";
import { Cron } from "croner";
import { AppError, messageOf } from "../../base/errors.ts";
import type { MethodParams } from "../../protocol/index.ts";

export type Schedule = MethodParams<"cron.add">["schedule"];
type Expression = Extract<Schedule, { kind: "cron" }>;

/** The times of one job, in milliseconds since the epoch. */
export interface Times {
  /** The first time strictly after `after`; undefined when there is none. */
  next(after: number): number | undefined;
}

/** Jobs at the full hour are spread over this long, so that not all of them start in the same second. */
const DEFAULT_STAGGER_MS = 300_000;
const MINUTE_MS = 60_000;
const MAX_AHEAD_MS = 10 * 365.25 * 24 * 60 * MINUTE_MS;

/** However short an interval is written, a job runs at most this often. */
const SHORTEST_MS = 1000;

/** The interval at which a job runs: the written one, or as many of it as make a second. */
export const everyStep = ({ everyMs }: Pick<Extract<Schedule, { kind: "every" }>, "everyMs">): number => Math.ceil(SHORTEST_MS / everyMs) * everyMs;

/** Whether an expression names full hours with a wildcard, such as `0 * * * *`. */
function isHourly(expr: string): boolean {
  const fields = expr.trim().split(/\s+/);
  if (fields[0] === "@hourly") return true;
  const [minute, hour] = fields.length === 5 ? fields : fields.slice(1);
  return minute === "0" && hour !== undefined && hour.includes("*") && (fields.length === 5 || fields[0] === "0");
}

/** The delay after each match is shorter than this; 0: there is none. */
const longestStagger = ({ expr, staggerMs }: Expression): number => staggerMs ?? (isHourly(expr) ? DEFAULT_STAGGER_MS : 0);

/** The delay after each match, the same for a job at all times: the first four bytes of SHA-256 of its id, modulo the stagger. */
function staggerOf(jobId: string, schedule: Expression): number {
  const most = longestStagger(schedule);
  return most === 0 ? 0 : createHash("sha256").update(jobId).digest().readUInt32BE(0) % most;
}

/** Parses an expression. A bad one, or an unknown zone, is refused with the reason. */
function parseExpression({ expr, tz }: Expression): Cron {
  try {
    const cron = new Cron(expr, { paused: true, ...(tz === undefined ? {} : { timezone: tz }) });
    // An unknown zone shows only when a time is computed.
    cron.nextRun(new Date(0));
    return cron;
  } catch (error) {
    const reason = messageOf(error).replace(/\s*Original error:.*$/s, "");
    const where = tz === undefined ? "" : ` in time zone ${JSON.stringify(tz)}`;
    throw new AppError("UNAVAILABLE", `the schedule ${JSON.stringify(expr)}${where} cannot be used: ${reason}`, { details: { expr, tz } });
  }
}

/** Milliseconds since the epoch. Digits are milliseconds; a time without a zone is UTC. Undefined when it is neither. */
export function parseAt(text: string): number | undefined {
  const plain = text.trim();
  if (/^\d{10,}$/.test(plain)) return Number(plain);
  const isoTime = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?(?<zone>Z|[+-]\d{2}:?\d{2})?$/i.exec(plain);
  if (!isoTime) return undefined;
  const hasTime = plain.length > 10;
  const time = Date.parse(plain.replace(" ", "T") + (isoTime.groups?.["zone"] === undefined && hasTime ? "Z" : ""));
  // 30 February is no date, although it is read as one in March.
  const day = plain.slice(0, 10);
  const isDay = !Number.isNaN(Date.parse(day)) && new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
  return Number.isNaN(time) || !isDay ? undefined : time;
}

/** Completes a schedule as it is stored, and refuses one that can never run. */
export function checkSchedule(schedule: Schedule, now: number): Schedule {
  const invalid = (text: string): AppError => new AppError("INVALID_INPUT", text, { details: { schedule } });
  if (schedule.kind === "every") {
    const { everyMs, anchorMs = now } = schedule;
    if (everyMs > MAX_AHEAD_MS) throw invalid(`schedule.everyMs is more than 10 years: ${everyMs}`);
    if (anchorMs > now + MAX_AHEAD_MS) throw invalid(`schedule.anchorMs is more than 10 years ahead: ${anchorMs}`);
    return { ...schedule, anchorMs };
  }
  if (schedule.kind === "cron") {
    if (parseExpression(schedule).nextRun(new Date(now)) === null)
      throw new AppError("UNAVAILABLE", `the schedule ${JSON.stringify(schedule.expr)} never matches again`, { details: { expr: schedule.expr } });
    const staggerMs = schedule.staggerMs ?? (isHourly(schedule.expr) ? DEFAULT_STAGGER_MS : undefined);
    return { ...schedule, ...(staggerMs === undefined ? {} : { staggerMs }) };
  }
  const at = parseAt(schedule.at);
  if (at === undefined)
    throw invalid(`schedule.at is not a time: ${JSON.stringify(schedule.at)}; expected ISO 8601, such as 2026-01-31T09:00:00Z, or milliseconds since 1970`);
  const written = new Date(at).toISOString();
  if (at < now - MINUTE_MS) throw invalid(`schedule.at is in the past: ${written} (now ${new Date(now).toISOString()})`);
  if (at > now + MAX_AHEAD_MS) throw invalid(`schedule.at is more than 10 years ahead: ${written}`);
  return { kind: "at", at: written };
}

/** The times of a stored schedule. Throws when its expression or zone is not known here, as one of another version may be. */
export function timesOf(schedule: Schedule, jobId: string): Times {
  if (schedule.kind === "at") {
    const at = parseAt(schedule.at);
    return { next: (after) => (at !== undefined && at > after ? at : undefined) };
  }
  if (schedule.kind === "every") {
    const { anchorMs = 0 } = schedule;
    const step = everyStep(schedule);
    return { next: (after) => (after < anchorMs ? anchorMs : anchorMs + (Math.floor((after - anchorMs) / step) + 1) * step) };
  }
  const cron = parseExpression(schedule);
  const stagger = staggerOf(jobId, schedule);
  return {
    next(after) {
      const match = cron.nextRun(new Date(after - stagger));
      return match === null ? undefined : match.getTime() + stagger;
    },
  };
}

/** The values that a field of minutes or seconds names, in order: numbers, ranges, steps and lists of them. Undefined when it says something else. */
function sixtieths(field: string): readonly number[] | undefined {
  const found = new Set<number>();
  for (const part of field.split(",")) {
    const groups = /^(?:(?<any>\*)|(?<from>\d{1,2})(?:-(?<to>\d{1,2}))?)(?:\/(?<step>\d{1,2}))?$/.exec(part)?.groups;
    if (!groups) return undefined;
    const { any, from, to, step } = groups;
    const first = any === undefined ? Number(from) : 0;
    const last = any !== undefined || (to === undefined && step !== undefined) ? 59 : Number(to ?? from);
    const by = Number(step ?? 1);
    if (by === 0 || first > 59 || last > 59 || first > last) return undefined;
    for (let at = first; at <= last; at += by) found.add(at);
  }
  return [...found].sort((a, b) => a - b);
}

/** An expression as hours and what happens in each of them, for counting. Undefined where it cannot be taken apart so. */
export function minutesAndSeconds(schedule: Expression, jobId: string): { readonly hours: Times; readonly offsets: readonly number[] } | undefined {
  const fields = schedule.expr.trim().split(/\s+/);
  const [second, minute, ...rest] = fields.length === 5 ? ["0", ...fields] : fields;
  const [seconds, minutes] = [sixtieths(second ?? ""), sixtieths(minute ?? "")];
  if (fields.length < 5 || !seconds || !minutes) return undefined;
  const stagger = staggerOf(jobId, schedule);
  const hours = timesOf({ ...schedule, expr: ["0", "0", ...rest].join(" "), staggerMs: 0 }, jobId);
  return { hours, offsets: minutes.flatMap((at) => seconds.map((by) => at * MINUTE_MS + by * 1000 + stagger)) };
}

/** The zone that the times of a schedule are meant in: its own, or this machine's. */
export const zoneOf = (schedule: Schedule): string =>
  (schedule.kind === "cron" ? schedule.tz?.trim() : undefined) || Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The next times of a schedule, before a job has it or after. */
export interface Preview {
  readonly times: readonly number[];
  /** IANA name. */
  readonly tz: string;
  /** A new job runs by up to this later: its delay follows from its id, which it gets when it is added. Times of a job have it in them. */
  readonly spreadMs?: number;
}

export function previewTimes(schedule: Schedule, after: number, count: number, jobId?: string): Preview {
  const isNew = jobId === undefined && schedule.kind === "cron";
  const spreadMs = isNew ? longestStagger(schedule) : 0;
  const times = timesOf(isNew ? { ...schedule, staggerMs: 0 } : schedule, jobId ?? "");
  const found: number[] = [];
  for (let at = times.next(after); at !== undefined && found.length < count; at = times.next(at)) found.push(at);
  return { times: found, tz: zoneOf(schedule), ...(spreadMs > 0 ? { spreadMs } : {}) };
}
