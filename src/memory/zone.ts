/** The zone in which times are shown and understood: as configured if this system knows it, else the machine's. */
export function timeZoneOf(configured: string | undefined): string {
  const zone = configured?.trim() || undefined;
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    return new Intl.DateTimeFormat("en-US").resolvedOptions().timeZone;
  }
}

/** Seconds east of UTC in a zone at a time. */
export function zoneSeconds(timeZone: string, at: number): number {
  const shown = new Intl.DateTimeFormat("en-US", { timeZone, hourCycle: "h23", dateStyle: "short", timeStyle: "medium" }).format(at);
  return Math.round((Date.parse(`${shown} UTC`) - at) / 1000 / 900) * 900;
}

/** `2026-11-17` and `14:05` in a zone. */
export function localTime(at: number, timeZone: string): { readonly day: string; readonly time: string } {
  const [day = "", time = ""] = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" }).format(at).split(" ");
  return { day, time };
}

/** An ISO time with the clock and offset of a zone: `2026-11-17T14:05:00+01:00`. */
export function zonedIso(at: number, timeZone: string): string {
  const east = zoneSeconds(timeZone, at);
  const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  const offset = `${east < 0 ? "-" : "+"}${two(Math.abs(east) / 3600)}:${two((Math.abs(east) % 3600) / 60)}`;
  return `${new Date(at + east * 1000).toISOString().slice(0, 19)}${offset}`;
}

/**
 * When a passage was written, as people read it: `2026-11-17 14:05` in their zone. A note has the day of its file name, which is the same everywhere.
 * Undefined where no time is known.
 */
export function shownTime({ at, source }: { readonly at?: string | undefined; readonly source?: string }, timeZone: string): string | undefined {
  const time = at === undefined ? Number.NaN : Date.parse(at);
  if (at === undefined || Number.isNaN(time)) return undefined;
  if (source === "memory") return at.slice(0, 10);
  const { day, time: clock } = localTime(time, timeZone);
  return `${day} ${clock}`;
}
