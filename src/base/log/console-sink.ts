import type { LogFields, LogLevel, LogRecord, LogSink } from "./logger.ts";

export type ConsoleStyle = "pretty" | "compact" | "json";

export interface ConsoleSinkDeps {
  readonly stream: { write(text: string): unknown };
  /** Read for every line, since it may change. */
  readonly style: ConsoleStyle;
  readonly color: boolean;
}

const COLORS: Readonly<Record<LogLevel, number>> = { silent: 0, fatal: 35, error: 31, warn: 33, info: 36, debug: 90, trace: 90 };

/** One record as the JSON line that files and `--json` show. */
export function formatJson(record: LogRecord): string {
  const { time, level, subsystem, message, fields } = record;
  return JSON.stringify({ ...fields, time: new Date(time).toISOString(), level, subsystem: subsystem, message });
}

/** A redacted error has a stack; the console shows only its message, the file has the rest. */
function isError(value: unknown): value is { readonly message: string } {
  return typeof value === "object" && value !== null && "stack" in value && "message" in value && typeof value.message === "string";
}

function formatFields(fields: LogFields): string {
  return Object.entries(fields)
    .map(([key, value]) => [key, isError(value) ? value.message : value] as const)
    .map(([key, value]) => `${key}=${typeof value === "string" && !/[\s"=]/.test(value) ? value : JSON.stringify(value)}`)
    .join(" ");
}

/** One record as a line for people: local time, level, subsystem, message, fields. */
export function formatLine(record: LogRecord, options: { readonly color: boolean; readonly compact?: boolean }): string {
  const paint = (code: number, text: string): string => (options.color ? `\x1b[${code}m${text}\x1b[0m` : text);
  const date = new Date(record.time);
  const pad = (value: number): string => String(value).padStart(2, "0");
  const time = `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
  const head = options.compact ? time : `${paint(90, time)} ${paint(COLORS[record.level], record.level.padEnd(5))}`;
  const fields = formatFields(record.fields);
  return `${head} ${paint(1, `[${record.subsystem}]`)} ${record.message}${fields ? ` ${paint(90, fields)}` : ""}`;
}

export function createConsoleSink(deps: ConsoleSinkDeps): LogSink {
  return {
    write(record) {
      const { stream, style, color } = deps;
      stream.write(`${style === "json" ? formatJson(record) : formatLine(record, { color, compact: style === "compact" })}\n`);
    },
    flush: () => Promise.resolve(),
  };
}
