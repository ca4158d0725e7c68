import { setTimeout as wait } from "node:timers/promises";
import { AppError } from "../../base/errors.ts";
import { formatLine } from "../../base/log/console-sink.ts";
import { LOG_LEVELS } from "../../base/log/logger.ts";
import { defineCommand, JSON_OPTION, type Values } from "../command.ts";
import type { Io } from "../io.ts";
import { logRecordOf, parseLogLine, readLog, type LogChunk, type LogLine } from "../log-reader.ts";
import { createStyle } from "../output/style.ts";

const OPTIONS = {
  follow: { type: "boolean", short: "f", help: "Keep showing new lines until Ctrl-C" },
  level: { type: "string", value: "level", help: `Minimum level: ${LOG_LEVELS.slice(1).join(", ")}` },
  subsystem: { type: "string", value: "name", help: "Only this subsystem (store, config, gateway, …)" },
  room: { type: "string", value: "name", help: "Older name of --subsystem" },
  limit: { type: "string", value: "n", help: "Number of lines to start with (default 200)" },
  "max-bytes": { type: "string", value: "n", help: "Maximum number of bytes to read (default 250000)" },
  interval: { type: "string", value: "ms", help: "Polling interval in ms (default 1000)" },
  plain: { type: "boolean", help: "Disable colors" },
  "local-time": { type: "boolean", help: "Accepted for compatibility; times are always local" },
  json: JSON_OPTION,
} as const;

function count(values: Values<typeof OPTIONS>, name: "limit" | "max-bytes" | "interval", fallback: number): number {
  const text = values[name];
  if (text === undefined) return fallback;
  if (!/^\d+$/.test(text) || Number(text) < 1) throw new AppError("INVALID_INPUT", `--${name} takes a whole number above 0, not "${text}"`);
  return Number(text);
}

function levelOf(text: string | undefined): number {
  if (text === undefined) return LOG_LEVELS.length;
  const rank = LOG_LEVELS.findIndex((level) => level === text);
  if (rank < 1) throw new AppError("INVALID_INPUT", `--level takes one of ${LOG_LEVELS.slice(1).join(", ")}, not "${text}"`);
  return rank;
}

function createPrinter(io: Io, values: Values<typeof OPTIONS>): (line: LogLine) => void {
  if (values.json) return (line) => io.out(`${JSON.stringify(line)}\n`);
  const color = io.color && !values.plain;
  return (line) => io.out(`${line.type === "raw" ? line.raw : formatLine(logRecordOf(line), { color })}\n`);
}

function createFilter(values: Values<typeof OPTIONS>): (line: LogLine) => boolean {
  const limit = levelOf(values.level);
  const subsystem = values.subsystem ?? values.room;
  return (line) => {
    if (line.type === "raw") return values.level === undefined && subsystem === undefined;
    if (subsystem !== undefined && line.subsystem !== subsystem) return false;
    return LOG_LEVELS.findIndex((level) => level === line.level) <= limit;
  };
}

export const logs = defineCommand({
  options: OPTIONS,
  examples: [
    { line: "openclaw logs", does: "Last 200 lines" },
    { line: "openclaw logs --follow --level warn", does: "Follow warnings and errors" },
    { line: "openclaw logs --subsystem store --json", does: "One subsystem, as JSON" },
  ],
  async run({ io, values }) {
    // From the first moment on: Ctrl-C is how following ends.
    const signal = values.follow ? io.signal() : undefined;
    const { currentLogFile } = await import("../log-location.ts");
    const maxBytes = count(values, "max-bytes", 250_000);
    const limit = count(values, "limit", 200);
    const interval = count(values, "interval", 1000);
    const print = createPrinter(io, values);
    const wanted = createFilter(values);
    const notice = (message: string): void =>
      values.json ? io.out(`${JSON.stringify({ type: "notice", message })}\n`) : io.err(`${createStyle(io.color).dim(message)}\n`);
    let file = await currentLogFile(io);
    let chunk: LogChunk | undefined = readLog(file, { maxBytes });
    if (!chunk && !values.follow) throw new AppError("NOT_FOUND", `no log at ${file}; start the gateway first: openclaw gateway`);
    if (values.json) io.out(`${JSON.stringify({ type: "meta", file, cursor: chunk?.cursor ?? 0, size: chunk?.size ?? 0 })}\n`);
    else io.err(`${createStyle(io.color).dim(file)}\n`);
    if (chunk?.truncated) notice(`Older lines omitted: only the last ${maxBytes} bytes were read (--max-bytes)`);
    for (const line of (chunk?.lines ?? []).map(parseLogLine).filter(wanted).slice(-limit)) print(line);
    if (!signal) return;
    while (!signal.aborted) {
      await wait(interval, undefined, { signal }).catch(() => {});
      const now = await currentLogFile(io);
      if (now !== file) notice(`The log continues in ${now}`);
      const cursor = now === file ? (chunk?.cursor ?? 0) : 0;
      file = now;
      chunk = readLog(file, { cursor, maxBytes }) ?? chunk;
      if (chunk?.rotated) notice("The log was rotated");
      for (const line of (chunk?.lines ?? []).map(parseLogLine).filter(wanted)) print(line);
      if (chunk) chunk = { ...chunk, lines: [] };
    }
  },
});
