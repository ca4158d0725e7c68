/** When something is to happen, in the form of a scheduled job. */
export type Schedule =
  | { readonly kind: "at"; readonly at: string }
  | { readonly kind: "every"; readonly everyMs: number }
  /** Minute, hour, day, month, weekday, in the gateway's time zone. */
  | { readonly kind: "cron"; readonly expr: string };

export interface When {
  readonly schedule: Schedule;
  /** For people: `at 2026-11-15 15:30`, `every 2 hours`. */
  readonly text: string;
  /** The sentence without its time. */
  readonly rest: string;
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const NUMBER = String.raw`(\d{1,5}(?:\.\d{1,2})?|an?|half an)`;
const UNIT = String.raw`(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)`;
const CLOCK = String.raw`(\d{1,2})(?:[:.](\d{2}))?\s*(am|pm|o'clock)?`;
const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

type Rule = readonly [pattern: RegExp, read: (match: RegExpExecArray, now: number) => Omit<When, "rest"> | undefined];

const RULES: readonly Rule[] = [
  [new RegExp(String.raw`\bin ${NUMBER}\s*${UNIT}\b`, "i"), ([, n = "", unit = ""], now) => at(now + spanOf(n, unit))],
  [
    new RegExp(String.raw`\b(?:every ?day|daily|every (weekday|${WEEKDAYS.join("|")}))(?: at ${CLOCK})?(?!\w)`, "i"),
    ([, days, hour, minute, half]) => {
      const time = clockOf(hour ?? "9", minute, half);
      const index = WEEKDAYS.indexOf(days?.toLowerCase() ?? "");
      const weekday = index !== -1 ? String(index) : days === undefined ? "*" : "1-5";
      return (
        time && {
          schedule: { kind: "cron", expr: `${time.minute} ${time.hour} * * ${weekday}` },
          text: `every ${days?.toLowerCase() ?? "day"} at ${shown(time)}`,
        }
      );
    },
  ],
  [
    new RegExp(String.raw`\bevery (?:${NUMBER}\s*)?${UNIT}\b`, "i"),
    ([, n, unit = ""]) => ({ schedule: { kind: "every", everyMs: spanOf(n ?? "1", unit) }, text: `every ${n === undefined ? "" : `${n} `}${unit}` }),
  ],
  [
    new RegExp(String.raw`\b(?:on )?(\d{4})-(\d{2})-(\d{2})(?:(?: at|T| )\s*${CLOCK})?(?!\w)`, "i"),
    ([, year, month, day, hour, minute, half]) => {
      const time = clockOf(hour ?? "9", minute, half);
      const date = time && new Date(Number(year), Number(month) - 1, Number(day), time.hour, time.minute);
      return date?.getDate() === Number(day) ? at(date.getTime()) : undefined;
    },
  ],
  [new RegExp(String.raw`\bat ${CLOCK} (tomorrow|today|tonight)\b`, "i"), ([, hour, minute, half, day], now) => onDay(day, [hour, minute, half], now)],
  [new RegExp(String.raw`\b(tomorrow|today|tonight)(?: at ${CLOCK})?(?!\w)`, "i"), ([, day, hour, minute, half], now) => onDay(day, [hour, minute, half], now)],
  [new RegExp(String.raw`\bat ${CLOCK}(?!\w)`, "i"), ([, hour, minute, half], now) => onDay(undefined, [hour, minute, half], now)],
];

/** Finds a time in a sentence. Times of day are those of the machine's time zone. */
export function readWhen(sentence: string, now: number): When | undefined {
  for (const [pattern, read] of RULES) {
    const match = pattern.exec(sentence);
    const when = match ? read(match, now) : undefined;
    if (!match || !when) continue;
    const rest = `${sentence.slice(0, match.index)} ${sentence.slice(match.index + match[0].length)}`.replaceAll(/\s+/g, " ").trim();
    return { ...when, rest };
  }
  return undefined;
}

function spanOf(written: string, unit: string): number {
  const n = /^half/i.test(written) ? 0.5 : /^an?$/i.test(written) ? 1 : Number(written);
  return Math.max(1000, Math.round(n * (UNITS[unit.slice(0, 1).toLowerCase()] ?? 0)));
}

interface TimeOfDay {
  readonly hour: number;
  readonly minute: number;
}

function clockOf(hour: string | undefined, minute: string | undefined, half: string | undefined): TimeOfDay | undefined {
  let h = Number(hour);
  const m = Number(minute ?? 0);
  const isHalf = half !== undefined && /^[ap]m$/i.test(half);
  if (!Number.isInteger(h) || h > 23 || m > 59 || (isHalf && (h === 0 || h > 12))) return undefined;
  if (isHalf) h = (h % 12) + (/^p/i.test(half) ? 12 : 0);
  return { hour: h, minute: m };
}

const two = (n: number): string => String(n).padStart(2, "0");
const shown = ({ hour, minute }: TimeOfDay): string => `${two(hour)}:${two(minute)}`;

function at(ms: number): Omit<When, "rest"> | undefined {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return undefined;
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return { schedule: { kind: "at", at: date.toISOString() }, text: `at ${day} ${shown({ hour: date.getHours(), minute: date.getMinutes() })}` };
}

/** The next such time; on a named day, that day's even when it has passed. */
function onDay(day: string | undefined, [hour, minute, half]: readonly (string | undefined)[], now: number): Omit<When, "rest"> | undefined {
  const named = day?.toLowerCase();
  const time = clockOf(hour ?? (named === "tonight" ? "20" : "9"), minute, half);
  if (!time) return undefined;
  const date = new Date(now);
  date.setHours(time.hour, time.minute, 0, 0);
  if (named === "tomorrow" || (named === undefined && date.getTime() <= now)) date.setDate(date.getDate() + 1);
  return at(date.getTime());
}
