export { readLog, type LogChunk } from "../base/log/read-log.ts";

/** One line of a log file: a record of ours, or text that something else wrote there. */
export type LogLine =
  | { readonly type: "log"; readonly time: string; readonly level: string; readonly subsystem: string; readonly message: string; readonly raw: string }
  | { readonly type: "raw"; readonly raw: string };

export function parseLogLine(raw: string): LogLine {
  try {
    const record = JSON.parse(raw) as Record<string, unknown>;
    const { time, level, subsystem, message } = record;
    if ([time, level, message].every((field) => typeof field === "string")) {
      return {
        type: "log",
        time: time as string,
        level: level as string,
        subsystem: typeof subsystem === "string" ? subsystem : "",
        message: message as string,
        raw,
      };
    }
  } catch {
    // Not one of ours.
  }
  return { type: "raw", raw };
}
