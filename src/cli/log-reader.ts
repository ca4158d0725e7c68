import type { LogLevel, LogRecord } from "../base/log/logger.ts";
import { isRecord } from "../base/records.ts";

export { readLog, type LogChunk } from "../base/log/read-log.ts";

/** A line of a log file that the gateway wrote. */
export interface RecordLine {
  readonly type: "log";
  readonly time: string;
  readonly level: string;
  readonly subsystem: string;
  readonly message: string;
  readonly raw: string;
}

/** One line of a log file: a record, or other text. */
export type LogLine = RecordLine | { readonly type: "raw"; readonly raw: string };

function parseFields(raw: string): Readonly<Record<string, unknown>> {
  const parsed: unknown = JSON.parse(raw);
  return isRecord(parsed) ? parsed : {};
}

export function parseLogLine(raw: string): LogLine {
  try {
    const { time, level, subsystem, message } = parseFields(raw);
    if (typeof time === "string" && typeof level === "string" && typeof message === "string")
      return { type: "log", time, level, subsystem: typeof subsystem === "string" ? subsystem : "", message, raw };
  } catch {
    // Not a record.
  }
  return { type: "raw", raw };
}

/** The record of a line, with all of its fields. */
export function logRecordOf({ time, level, subsystem, message, raw }: RecordLine): LogRecord {
  const { time: _time, level: _level, subsystem: _subsystem, message: _message, ...fields } = parseFields(raw);
  return { time: Date.parse(time), level: level as LogLevel, subsystem, message, fields };
}
