import type { ClockChange } from "./starters.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** Milliseconds that the clocks of a zone are ahead of UTC. */
function offsetOf(format: Intl.DateTimeFormat, at: number): number {
  const [, sign, hours = "0", minutes = "0"] = /GMT(?:([+-])(\d+)(?::(\d+))?)?/.exec(format.format(at)) ?? [];
  return (sign === "-" ? -1 : 1) * (Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS);
}

/** The coming two changes of the clocks in each zone: into summer and out of it, in whichever order they come. */
export function nextChanges(zones: readonly string[], from: number): readonly ClockChange[] {
  return zones.flatMap((zone) => {
    const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
    const found: ClockChange[] = [];
    let before = offsetOf(format, from);
    // Clocks are changed at full or half hours.
    for (let at = Math.ceil(from / HOUR_MS) * HOUR_MS; found.length < 2; at += HOUR_MS / 2) {
      const after = offsetOf(format, at);
      if (after !== before) found.push({ zone, at, offsets: [before, after] });
      before = after;
    }
    return found;
  });
}
