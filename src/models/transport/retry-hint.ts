import type { ErrorFacts } from "./error-body.ts";
import type { Answer } from "./post.ts";

const SECOND_MS = 1000;
const DAY_MS = 24 * 60 * 60_000;
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: SECOND_MS, m: 60 * SECOND_MS, h: 60 * 60 * SECOND_MS, d: DAY_MS };

/** When the provider may be called again, in milliseconds from `now`: from its headers, the fields of its answer, or its message. */
export function retryHint(headers: Answer["headers"] | undefined, facts: Pick<ErrorFacts, "text" | "codes" | "retryAfterMs">, now: number): number | undefined {
  const stated = (headers && (fromHeaders(headers, now) ?? windowReset(headers, now))) ?? facts.retryAfterMs ?? fromText(facts.text, now);
  // A daily limit is not over in half a minute, whatever the answer suggests.
  const daily = dayEnd(facts, now);
  return daily === undefined || (stated !== undefined && stated > 10 * 60 * SECOND_MS) ? stated : daily;
}

/** `retry-after-ms`, and `retry-after` in seconds or as a date. */
function fromHeaders(headers: Answer["headers"], now: number): number | undefined {
  const exact = numberOf(headers.get("retry-after-ms"));
  if (exact !== undefined) return exact;
  const value = headers.get("retry-after");
  if (value === null) return undefined;
  const seconds = numberOf(value);
  if (seconds !== undefined) return seconds * SECOND_MS;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Subscription windows: Anthropic's when it is used up, and Codex's. */
function windowReset(headers: Answer["headers"], now: number): number | undefined {
  const spent = headers.get("anthropic-ratelimit-unified-status") === "rejected";
  const reset = spent ? numberOf(headers.get("anthropic-ratelimit-unified-reset")) : undefined;
  if (reset !== undefined) return Math.max(0, reset * SECOND_MS - now);
  const seconds = numberOf(headers.get("x-codex-primary-reset-after-seconds"));
  return seconds === undefined ? undefined : seconds * SECOND_MS;
}

function numberOf(value: string | null): number | undefined {
  if (value === null || value.trim() === "") return undefined;
  const number = Number(value);
  return Number.isFinite(number) && number >= 0 ? number : undefined;
}

const DURATION =
  /(?:try again in|retry (?:after|in)|reset(?:s)? (?:after|in)|try again after)\s+((?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)\b[\s,]*)+)/i;
const PART = /(\d+(?:\.\d+)?)\s*([a-z]+)/gi;

/** Durations and points in time in providers' messages. */
function fromText(text: string, now: number): number | undefined {
  const spoken = DURATION.exec(spaced(text))?.[1];
  if (spoken !== undefined) {
    let ms = 0;
    for (const [, number, unit] of spoken.matchAll(PART)) ms += Number(number) * (UNITS[unitOf(unit!)] ?? 0);
    return Math.ceil(ms);
  }
  const at =
    /resets? at (\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d))/i.exec(text)?.[1] ??
    // Z.ai states no time zone; its times are Beijing's.
    /reset at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)/i.exec(text)?.[1]?.replace(/ (.*)$/, "T$1+08:00") ??
    /regain access on (\d{4}-\d\d-\d\d at \d\d:\d\d) UTC/i.exec(text)?.[1]?.replace(" at ", "T").concat(":00Z");
  const time = at === undefined ? Number.NaN : Date.parse(at);
  return Number.isNaN(time) ? undefined : Math.max(0, time - now);
}

/** `21h53m56s` as `21h 53m 56s`. */
const spaced = (text: string): string => text.replaceAll(/(\d(?:ms|h|m|s))(?=\d)/g, "$1 ");

function unitOf(word: string): string {
  const lower = word.toLowerCase();
  return lower === "ms" || lower.startsWith("milli") ? "ms" : lower[0]!;
}

const DAILY = /tokens per day|requests per day|per[- ]day\b|\(tpd\)|\(rpd\)|daily (?:limit|quota)/i;

/** The end of the day for a daily limit: Google's days end at midnight in California, others' at midnight UTC. */
function dayEnd({ text, codes }: Pick<ErrorFacts, "text" | "codes">, now: number): number | undefined {
  if (codes.some((code) => /PerDay/.test(code))) return DAY_MS - (Math.max(0, now - pacificOffset(now)) % DAY_MS);
  return DAILY.test(text) ? DAY_MS - (now % DAY_MS) : undefined;
}

/** How far California is behind UTC. */
function pacificOffset(now: number): number {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: "America/Los_Angeles", dateStyle: "short", timeStyle: "medium" });
  return Math.round((now - Date.parse(`${format.format(now).replace(" ", "T")}Z`)) / UNITS["m"]!) * UNITS["m"]!;
}
