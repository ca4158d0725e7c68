import { messageOf, AppError } from "../../../base/errors.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { timeoutOf, tryGateway, type Answered } from "../../gateway-call.ts";
import { findTarget } from "../../gateway-target.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { busy } from "./busy.ts";
import { issueLines, statusTable, type Status } from "./rendering.ts";
import { openChannels, channelId } from "./source.ts";
import { formatLine } from "../../../base/log/console-sink.ts";
import { currentLogFile } from "../../log-location.ts";
import { logRecordOf, parseLogLine, readLog, type RecordLine } from "../../log-reader.ts";

/** What a connection takes beside the answer that is waited for. */
const SLACK_MS = 5000;

interface Found {
  readonly status: Status;
  /** Why the gateway was not asked. */
  readonly unreachable?: string;
}

interface Asked {
  readonly probe: boolean;
  readonly timeoutMs: number;
}

/** What the running gateway says of its accounts. */
export async function askGateway(io: Io, { probe, timeoutMs }: Asked): Promise<Answered<Status>> {
  const patience = timeoutMs + (probe ? SLACK_MS : 0);
  return findTarget(io, {}).then(
    (target) => tryGateway(io, target, patience, (client) => client.request("channels.status", { probe, timeoutMs })),
    (error: unknown) => ({ ok: false, error: messageOf(error) }),
  );
}

/** Asks the gateway; where there is none, the configuration and, with `probe`, the platforms. */
async function look(io: Io, { probe, timeoutMs }: Asked): Promise<Found> {
  using _ = busy(io, probe ? "Checking connections" : "Asking the gateway");
  const asked = await askGateway(io, { probe, timeoutMs });
  if (asked.value) return { status: asked.value };
  await using view = await openChannels(io);
  return { status: await view.channels.status({ probe, timeoutMs }), unreachable: asked.error?.split("\n", 1)[0] ?? "no answer" };
}

function printStatus(io: Io, { status, unreachable }: Found): void {
  const style = createStyle(io.color);
  if (unreachable !== undefined) io.out(`${style.yellow("!")} ${unreachable}. Showing the configuration instead\n`);
  const table = statusTable(status, { style, columns: io.columns, now: io.now() });
  io.out(io.runnable(table === "" ? "No channels configured. Add one with: openclaw channels add\n" : table));
  for (const line of issueLines(status, style)) io.out(line);
}

export const status = defineCommand({
  options: {
    probe: { type: "boolean", help: "Check the credentials with each platform" },
    timeout: { type: "string", value: "ms", help: "Time to wait for each, in ms (default 10000)" },
    json: JSON_OPTION,
  },
  examples: [
    { line: "openclaw channels status", does: "Status of each account" },
    { line: "openclaw channels status --probe --json", does: "Check the platforms and print JSON" },
  ],
  async run({ io, values }) {
    const found = await look(io, { probe: values.probe ?? false, timeoutMs: Math.round(timeoutOf(values)) });
    const { unreachable } = found;
    if (values.json) printJson(io, { ...found.status, ...(unreachable === undefined ? {} : { gateway: { reachable: false, error: unreachable } }) });
    else printStatus(io, found);
  },
});

const MAX_BYTES = 1_000_000;

/** Lines of one channel, or of all: those of the `channels` subsystem, and those that name the channel. */
function isOfChannel(line: RecordLine, channel: string): boolean {
  const { subsystem } = line;
  if (subsystem === `channels/${channel}` || (channel === "all" && /^channels(?:\/|$)/.test(subsystem))) return true;
  const { channel: named } = logRecordOf(line).fields;
  return typeof named === "string" && (channel === "all" || named === channel);
}

export const logs = defineCommand({
  options: {
    channel: { type: "string", value: "id", help: "Channel (default: all)" },
    lines: { type: "string", value: "n", help: "Number of lines (default 200)" },
    json: JSON_OPTION,
  },
  examples: [
    { line: "openclaw channels logs", does: "Last 200 lines about channels" },
    { line: "openclaw channels logs --channel telegram --lines 50 --json", does: "One channel, as JSON" },
  ],
  async run({ io, values }) {
    const channel = channelId(values.channel ?? "all");
    const most = Number(values.lines ?? 200);
    if (!Number.isInteger(most) || most < 1) throw new AppError("INVALID_INPUT", `--lines takes a whole number above 0, not "${values.lines}"`);
    const file = await currentLogFile(io);
    const chunk = readLog(file, { maxBytes: MAX_BYTES });
    const all = (chunk?.lines ?? []).map(parseLogLine).filter((line) => line.type === "log");
    const lines = all.filter((line) => isOfChannel(line, channel)).slice(-most);
    if (values.json) return printJson(io, { file, channel, lines: lines.map(({ raw }): unknown => JSON.parse(raw)) });
    io.err(`${createStyle(io.color).dim(file)}\n`);
    if (lines.length === 0) io.err(chunk ? `No log lines about ${channel === "all" ? "channels" : channel}\n` : "No log yet\n");
    for (const line of lines) io.out(`${formatLine(logRecordOf(line), { color: io.color })}\n`);
  },
});
