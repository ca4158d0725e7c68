/** How long a budget lasts. */
export type Per = "day" | "month";

/** One day or month on somebody's calendar. */
export interface Period {
  /** `2026-11-15` or `2026-11`. */
  readonly name: string;
  /** Milliseconds since the epoch; the end is the beginning of the next one. */
  readonly from: number;
  readonly to: number;
}

const DAY_MS = 86_400_000;

/** A calendar of one time zone. */
export interface Calendar {
  readonly timeZone: string;
  period(per: Per, now: number): Period;
}

/** The calendar of the first of these time zones that exists; the last one is the machine's. */
export function createCalendar(wanted: string | undefined): Calendar {
  const format = formatOf(wanted?.trim()) ?? formatOf(undefined)!;

  /** What the clock on the wall shows, as if it were UTC. */
  function wall(at: number): number {
    const shown = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const part = (type: Intl.DateTimeFormatPartTypes): number => shown.get(type)!;
    return Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
  }

  /** The first moment at which the wall shows this time or, where the clock jumps over it, a later one. */
  function momentOf(shown: number): number {
    const offsets = [shown - DAY_MS, shown + DAY_MS].map((at) => wall(at) - at);
    const moments = offsets.map((offset) => shown - offset).filter((at) => wall(at) >= shown);
    return moments.length === 0 ? shown - offsets[1]! : Math.min(...moments);
  }

  return {
    timeZone: format.resolvedOptions().timeZone,
    period(per, now) {
      const date = new Date(wall(now));
      const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
      const [first, next] = per === "day" ? [Date.UTC(year, month, day), Date.UTC(year, month, day + 1)] : [Date.UTC(year, month), Date.UTC(year, month + 1)];
      return { name: new Date(first).toISOString().slice(0, per === "day" ? 10 : 7), from: momentOf(first), to: momentOf(next) };
    },
  };
}

function formatOf(timeZone: string | undefined): Intl.DateTimeFormat | undefined {
  const fields = { year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric", hourCycle: "h23" } as const;
  try {
    return new Intl.DateTimeFormat("en-US", { ...fields, ...(timeZone ? { timeZone } : {}) });
  } catch {
    return undefined;
  }
}
