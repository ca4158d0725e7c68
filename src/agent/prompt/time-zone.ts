/** The user's zone: as configured if there is such a zone, else the machine's. */
export function userTimeZone(configured: string | undefined, machine: string): string {
  const zone = configured?.trim();
  return zone && isTimeZone(zone) ? zone : machine;
}

/** Days begin at a quarter of an hour everywhere. */
const QUARTER_MS = 15 * 60_000;

/** Tells which day it is in a zone, in words. The same text is made once. */
export function createToday(): (zone: string, now: number) => string {
  let known: { readonly zone: string; readonly quarter: number; readonly day: string } | undefined;
  return (zone, now) => {
    const quarter = Math.floor(now / QUARTER_MS);
    if (known?.zone !== zone || known.quarter !== quarter) {
      const format = new Intl.DateTimeFormat("en-GB", { timeZone: zone, weekday: "long", day: "numeric", month: "long", year: "numeric" });
      known = { zone, quarter, day: format.format(now) };
    }
    return known.day;
  };
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions();
    return true;
  } catch {
    return false;
  }
}
