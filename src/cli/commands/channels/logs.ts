import { AppError } from "../../../base/errors.ts";
import { formatLine } from "../../../base/log/console-sink.ts";
import type { LogLevel } from "../../../base/log/logger.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson, type Io } from "../../io.ts";
import { currentLogFile } from "../../log-location.ts";
import { parseLogLine, readLog, type LogLine } from "../../log-reader.ts";
import { createStyle } from "../../output/style.ts";
import { channelId } from "./source.ts";

const MAX_BYTES = 1_000_000;
type Line = Extract<LogLine, { type: "log" }>;

/** Lines of one channel, or of all: those of the `channels` subsystem, and those that name the channel. */
export function isOfChannel({ subsystem, raw }: Pick<Line, "subsystem" | "raw">, channel: string): boolean {
  if (subsystem === `channels/${channel}` || (channel === "all" && /^channels(?:\/|$)/.test(subsystem))) return true;
  const { channel: named } = JSON.parse(raw) as { readonly channel?: unknown };
  return typeof named === "string" && (channel === "all" || named === channel);
}

function print(io: Io, { time, level, subsystem, message, raw }: Line): void {
  const { time: _time, level: _level, subsystem: _subsystem, message: _text, ...fields } = JSON.parse(raw) as Record<string, unknown>;
  io.out(`${formatLine({ time: Date.parse(time), level: level as LogLevel, subsystem, message, fields }, { color: io.color })}\n`);
}

export const logs = defineCommand({
  options: {
    channel: { type: "string", value: "id", help: "of this channel (default all)" },
    lines: { type: "string", value: "n", help: "how many of the last lines (default 200)" },
    json: JSON_OPTION,
  },
  examples: [
    { line: "openclaw channels logs", does: "the last 200 lines about channels" },
    { line: "openclaw channels logs --channel telegram --lines 50 --json", does: "of one channel, for machines" },
  ],
  async run({ io, values }) {
    const channel = channelId(values.channel ?? "all");
    const most = Number(values.lines ?? 200);
    if (!Number.isInteger(most) || most < 1) throw new AppError("INVALID_INPUT", `--lines takes a whole number above 0, not "${values.lines}"`);
    const file = await currentLogFile(io);
    const chunk = readLog(file, { maxBytes: MAX_BYTES });
    const all = (chunk?.lines ?? []).map(parseLogLine).filter((line): line is Line => line.type === "log");
    const lines = all.filter((line) => isOfChannel(line, channel)).slice(-most);
    if (values.json) return printJson(io, { file, channel, lines: lines.map(({ raw }) => JSON.parse(raw) as unknown) });
    io.err(`${createStyle(io.color).dim(file)}\n`);
    if (lines.length === 0) io.err(chunk ? `nothing was logged about ${channel === "all" ? "channels" : channel}\n` : "there is no log yet\n");
    for (const line of lines) print(io, line);
  },
});
