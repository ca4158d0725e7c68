/** A line of the log. What is no JSON is a message without a level. */
export interface LogLine {
  /** Counts up, also over lines that were dropped. */
  readonly id: number;
  readonly time: number | undefined;
  readonly level: string;
  readonly subsystem: string;
  readonly message: string;
  /** As it stands in the file. */
  readonly raw: string;
}

/** From the gravest on. */
export const LEVELS = ["fatal", "error", "warn", "info", "debug", "trace"] as const;

const text = (value: unknown): string => (typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value));

/** Reads a line of the log file. */
export function parseLine(raw: string, id: number): LogLine {
  try {
    const found = JSON.parse(raw) as Record<string, unknown>;
    if (typeof found !== "object" || found === null) throw new TypeError("no object");
    const { time, level, subsystem, message, msg } = found;
    const at = typeof time === "number" ? time : Date.parse(text(time));
    return { id, time: Number.isNaN(at) ? undefined : at, level: text(level).toLowerCase(), subsystem: text(subsystem), message: text(message ?? msg), raw };
  } catch {
    return { id, time: undefined, level: "", subsystem: "", message: raw, raw };
  }
}

/** A line with indentation, for reading. */
export function unfolded(raw: string): string {
  try {
    return JSON.stringify(JSON.parse(raw), undefined, 2);
  } catch {
    return raw;
  }
}

export interface LogFilter {
  /** The least grave level that is shown; empty shows all. */
  readonly level: string;
  /** Of this subsystem and what is below it; empty shows all. */
  readonly subsystem: string;
  readonly text: string;
  readonly regex: boolean;
  /** Milliseconds; 0 shows all times. */
  readonly since: number;
}

export const NO_FILTER: LogFilter = { level: "", subsystem: "", text: "", regex: false, since: 0 };

/** Tests lines against a filter; a sentence when its pattern cannot be read. */
export function matcher(filter: LogFilter): ((line: LogLine) => boolean) | string {
  const rank = (level: string): number => LEVELS.indexOf(level as (typeof LEVELS)[number]);
  const least = filter.level === "" ? LEVELS.length : rank(filter.level);
  const words = filter.text.trim().toLowerCase();
  let pattern: RegExp | undefined;
  if (filter.regex && words !== "") {
    try {
      pattern = new RegExp(filter.text.trim(), "i");
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
  return ({ level, subsystem, time, raw }) => {
    if (rank(level) > least || (least < LEVELS.length && rank(level) < 0)) return false;
    if (filter.subsystem !== "" && subsystem !== filter.subsystem && !subsystem.startsWith(`${filter.subsystem}/`)) return false;
    if (filter.since > 0 && (time ?? 0) < filter.since) return false;
    if (words === "") return true;
    return pattern ? pattern.test(raw) : raw.toLowerCase().includes(words);
  };
}

/** The newest lines of a log, and those of them that pass a filter. */
export interface LogBook {
  readonly lines: readonly LogLine[];
  readonly shown: readonly LogLine[];
  readonly subsystems: ReadonlySet<string>;
  add(raws: readonly string[]): void;
  filter(test: (line: LogLine) => boolean): void;
  clear(): void;
}

/** Keeps at most `most` lines; older ones are forgotten a tenth at a time, so that adding stays cheap. */
export function createLogBook(most = 50_000): LogBook {
  let lines: LogLine[] = [];
  let shown: LogLine[] = [];
  let test: (line: LogLine) => boolean = () => true;
  let next = 0;
  const subsystems = new Set<string>();
  return {
    get lines() {
      return lines;
    },
    get shown() {
      return shown;
    },
    subsystems,
    add(raws) {
      for (const raw of raws) {
        if (raw === "") continue;
        const line = parseLine(raw, (next += 1));
        lines.push(line);
        if (line.subsystem !== "") subsystems.add(line.subsystem);
        if (test(line)) shown.push(line);
      }
      if (lines.length <= most) return;
      lines = lines.slice(-Math.floor(most * 0.9));
      const oldest = lines[0]?.id ?? 0;
      shown = shown.filter(({ id }) => id >= oldest);
    },
    filter(by) {
      test = by;
      shown = lines.filter(test);
    },
    clear() {
      lines = [];
      shown = [];
    },
  };
}
