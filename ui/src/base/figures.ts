import { locale, t } from "../words/words.ts";

const number = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" });
const clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });
const dayOnly = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" });
const dayAndClock = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
const exact = new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "medium" });

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long ago, in words. */
export function ago(at: number, now = Date.now()): string {
  const past = at - now;
  const size = Math.abs(past);
  if (size < 45_000) return past <= 0 ? t("just now") : relative.format(Math.round(past / 1000), "second");
  if (size < 45 * MINUTE) return relative.format(Math.round(past / MINUTE), "minute");
  if (size < 22 * HOUR) return relative.format(Math.round(past / HOUR), "hour");
  return relative.format(Math.round(past / DAY), "day");
}

/** The time of day: `14:05`. */
export const clockTime = (at: number): string => clock.format(at);

/** The day of the year: `3 Nov`. */
export const dayTime = (at: number): string => dayOnly.format(at);

/** The time of day, with the date when it is another day. */
export function moment(at: number, now = Date.now()): string {
  return new Date(at).toDateString() === new Date(now).toDateString() ? clock.format(at) : dayAndClock.format(at);
}

/** For titles: the whole date, in this browser's zone or in another one, which is then named. */
export function exactly(at: number, timeZone?: string): string {
  if (timeZone === undefined || timeZone === exact.resolvedOptions().timeZone) return exact.format(at);
  try {
    return new Intl.DateTimeFormat(locale, {
      weekday: "long",
      day: "numeric",
      month: "long",
      year: "numeric",
      hour: "numeric",
      minute: "2-digit",
      second: "2-digit",
      timeZone,
      timeZoneName: "short",
    }).format(at);
  } catch {
    return exact.format(at); // A zone that this browser does not know.
  }
}

const digits = (count: number): Intl.NumberFormat => new Intl.NumberFormat(locale, { minimumFractionDigits: count, maximumFractionDigits: count });
const [whole, tenths, hundredth, thousandths] = [digits(0), digits(1), digits(2), digits(3)] as const;

type Unit = readonly [ms: number, show: (count: number) => string];

/** Two units, the smaller one rounded: what rounds up to a whole larger one is one, and none of the smaller is not said. */
function inTwo(ms: number, [largeMs, large]: Unit, [smallMs, small]: Unit): string {
  const rounded = Math.round(ms / smallMs) * smallMs;
  const rest = Math.round((rounded % largeMs) / smallMs);
  const first = large(Math.floor(rounded / largeMs));
  return rest === 0 ? first : `${first} ${small(rest)}`;
}

const SECONDS: Unit = [1000, (count) => t`${whole.format(count)} s`];
const MINUTES: Unit = [MINUTE, (count) => t`${whole.format(count)} min`];
const HOURS: Unit = [HOUR, (count) => t`${whole.format(count)} h`];
const DAYS: Unit = [DAY, (count) => t`${whole.format(count)} d`];

/** A length of time as it is written here: `340 ms`, `2.4 s`, `3 min 20 s`, `5 h 4 min`. */
export function duration(ms: number): string {
  if (ms < 1) return t`${hundredth.format(ms)} ms`;
  if (ms < 999.5) return t`${(ms < 10 ? tenths : whole).format(ms)} ms`;
  if (ms < MINUTE - 50) return t`${tenths.format(ms / 1000)} s`;
  if (ms < HOUR - 500) return inTwo(ms, MINUTES, SECONDS);
  if (ms < DAY - MINUTE / 2) return inTwo(ms, HOURS, MINUTES);
  return inTwo(ms, DAYS, HOURS);
}

/** With so many digits behind the point, or behind the comma. */
export const decimal = (value: number, places: 0 | 1 | 2 | 3): string => (places === 3 ? thousandths : [whole, tenths, hundredth][places]!).format(value);

/** `512 B`, `3.2 kB`, `1.4 GB`. */
export function bytes(size: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = size;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${number.format(value)} ${units[unit]}`;
}

/** `950`, `12.3K`. */
export const tokens = (amount: number): string => compact.format(amount);

const inDollars = (digits: number): Intl.NumberFormat =>
  new Intl.NumberFormat(locale, {
    style: "currency",
    currency: "USD",
    currencyDisplay: "narrowSymbol",
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
const [wholeDollars, cents, partsOfCents] = [inDollars(0), inDollars(2), inDollars(4)];

/** US dollars as they are written here; small sums with more digits. */
export function money(dollars: number): string {
  if (dollars === 0) return wholeDollars.format(0);
  return (dollars < 0.01 ? partsOfCents : cents).format(dollars);
}

const hundredths = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 });

/** `2%`, or `2 %` where that is written so. */
export const inPercent = (amount: number): string => hundredths.format(amount / 100);

const UNITS: Readonly<Record<string, string>> = { s: "second", m: "minute", h: "hour", d: "day" };

/** A length of time of the configuration, such as `30m`, in words; another one as it is. */
export function span(text: string): string {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text) ?? [];
  if (count === undefined || unit === undefined) return text;
  return new Intl.NumberFormat(locale, { style: "unit", unit: UNITS[unit]!, unitDisplay: "short" }).format(Number(count));
}

/** A number as it is written here. */
export const figure = (count: number): string => count.toLocaleString(locale);

/** `1 session`, `3 sessions`. */
export const plural = (count: number, one: string, many: string): string => `${figure(count)} ${count === 1 ? one : many}`;
