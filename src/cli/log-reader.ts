import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";

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

export interface LogChunk {
  readonly lines: readonly string[];
  /** Where the next read goes on. */
  readonly cursor: number;
  readonly size: number;
  /** Older lines were left out because of the size limit. */
  readonly truncated: boolean;
  /** The file is shorter than the cursor: it was rotated, and this read began at its start. */
  readonly rotated: boolean;
}

/** Reads whole lines from `cursor` on, at most the last `maxBytes`. Without a cursor: from the end backwards. Undefined when there is no file. */
export function readLog(file: string, options: { readonly cursor?: number; readonly maxBytes: number }): LogChunk | undefined {
  if (!existsSync(file)) return undefined;
  const fd = openSync(file, "r");
  try {
    const { size } = fstatSync(fd);
    const rotated = options.cursor !== undefined && options.cursor > size;
    const from = rotated ? 0 : (options.cursor ?? 0);
    const start = Math.max(from, size - options.maxBytes);
    const buffer = Buffer.alloc(size - start);
    const read = readSync(fd, buffer, 0, buffer.length, start);
    const text = new StringDecoder("utf8").write(buffer.subarray(0, read));
    const end = text.lastIndexOf("\n") + 1;
    const lines = text.slice(0, end).split("\n").slice(0, -1);
    const truncated = start > from;
    // A read that begins in the middle of the file begins in the middle of a line.
    return { lines: truncated ? lines.slice(1) : lines, cursor: start + Buffer.byteLength(text.slice(0, end)), size, truncated, rotated };
  } finally {
    closeSync(fd);
  }
}
