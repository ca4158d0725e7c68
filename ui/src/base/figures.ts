const number = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const compact = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" });
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const dayAndClock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long ago, in words. */
export function ago(at: number, now = Date.now()): string {
  const past = at - now;
  const size = Math.abs(past);
  if (size < 45_000) return past <= 0 ? "just now" : relative.format(Math.round(past / 1000), "second");
  if (size < 45 * MINUTE) return relative.format(Math.round(past / MINUTE), "minute");
  if (size < 22 * HOUR) return relative.format(Math.round(past / HOUR), "hour");
  return relative.format(Math.round(past / DAY), "day");
}

/** The time of day, with the date when it is another day. */
export function moment(at: number, now = Date.now()): string {
  return new Date(at).toDateString() === new Date(now).toDateString() ? clock.format(at) : dayAndClock.format(at);
}

/** For titles: the whole date, in this browser's zone or in another one, which is then named. */
export function exactly(at: number, timeZone?: string): string {
  if (timeZone === undefined || timeZone === exact.resolvedOptions().timeZone) return exact.format(at);
  try {
    return new Intl.DateTimeFormat(undefined, {
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

/** A length of time: `340 ms`, `2.4 s`, `3 min 20 s`, `5 h 4 min`. */
export function duration(ms: number): string {
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  if (ms < MINUTE) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ${Math.round((ms % MINUTE) / 1000)} s`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ${Math.round((ms % HOUR) / MINUTE)} min`;
  return `${Math.floor(ms / DAY)} d ${Math.round((ms % DAY) / HOUR)} h`;
}

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

/** US dollars; small sums with more digits. */
export function money(dollars: number): string {
  if (dollars === 0) return "$0";
  if (dollars < 0.01) return `$${dollars.toFixed(4)}`;
  return `$${dollars.toFixed(2)}`;
}

/** `1 session`, `3 sessions`. */
export const plural = (count: number, one: string, many = `${one}s`): string => `${count.toLocaleString()} ${count === 1 ? one : many}`;
