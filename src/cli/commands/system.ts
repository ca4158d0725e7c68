import { AppError } from "../../base/errors.ts";
import { formatDuration } from "../../base/text.ts";
import { heartbeatReason, type EventPayload } from "../../protocol/index.ts";
import { defineCommand } from "../command.ts";
import { callGateway, GATEWAY_OPTIONS } from "../gateway-call.ts";
import { printJson, type Io } from "../io.ts";
import { createStyle } from "../output/style.ts";
import { formatTable } from "../output/table.ts";

export const event = defineCommand({
  options: {
    text: { type: "string", help: "Event text" },
    mode: { type: "string", help: "When to act: now or next-heartbeat (default)" },
    ...GATEWAY_OPTIONS,
  },
  examples: [
    { line: 'openclaw system event --text "The backup has finished"', does: "The agent sees it on its next turn or heartbeat" },
    { line: 'openclaw system event --text "The door bell rang" --mode now', does: "Let the agent act on it now" },
  ],
  async run({ io, values }) {
    const text = values.text?.trim() ?? "";
    if (text === "") throw new AppError("INVALID_INPUT", 'expected a text, such as: openclaw system event --text "The backup has finished"');
    const mode = values.mode?.trim() ?? "next-heartbeat";
    if (mode !== "now" && mode !== "next-heartbeat") throw new AppError("INVALID_INPUT", `--mode is now or next-heartbeat, not ${JSON.stringify(mode)}`);
    const done = await callGateway(io, "wake", { text, mode, idempotencyKey: crypto.randomUUID() }, values);
    if (values.json) return printJson(io, done);
    io.out(
      mode === "now"
        ? `Queued; ${done.waits === undefined ? "Let the agent act on it now" : WAITS[done.waits]}.\n`
        : "Queued for the next turn or heartbeat.\n",
    );
  },
});

/** Why the agent does not act at once. */
const WAITS = {
  disabled: "heartbeats are off, so the agent sees it with its next message",
  "quiet-hours": "the agent acts on it when its active hours start, or with its next message",
} as const;

function beatText(io: Io, { ts, status, reason, preview, channel, to, durationMs, silent }: EventPayload<"heartbeat">): string {
  const style = createStyle(io.color);
  const isSent = status === "sent" || (status.startsWith("ok") && silent !== true);
  const shown = { sent: style.yellow("sent"), failed: style.red("failed"), skipped: "skipped", "ok-empty": style.green("ok"), "ok-token": style.green("ok") };
  const lines = [
    ["When", `${new Date(ts).toISOString()} (${formatDuration(Math.max(0, io.now() - ts))} ago)`],
    ["Result", `${shown[status]}${reason === undefined ? "" : `: ${heartbeatReason(reason)}`}`],
    ...(preview === undefined ? [] : [["Text", preview]]),
    ...(channel === undefined || !isSent ? [] : [["Sent to", to === undefined ? channel : `${channel} ${to}`]]),
    ...(durationMs === undefined ? [] : [["Took", formatDuration(durationMs)]]),
  ];
  return lines.map(([name = "", value = ""]) => `${name.padEnd(8)} ${value}\n`).join("");
}

export const heartbeat = defineCommand({
  positionals: "last|enable|disable",
  options: GATEWAY_OPTIONS,
  examples: [
    { line: "openclaw system heartbeat last", does: "Result of the last heartbeat" },
    { line: "openclaw system heartbeat disable", does: "Turn heartbeats off until the gateway restarts" },
  ],
  async run({ io, values, positionals: [action] }) {
    if (action === "last") {
      const last = await callGateway(io, "last-heartbeat", {}, values);
      if (values.json) return printJson(io, last);
      return io.out(last ? beatText(io, last) : "No heartbeat yet\n");
    }
    if (action !== "enable" && action !== "disable")
      throw new AppError("INVALID_INPUT", `expected last, enable or disable, found ${JSON.stringify(action ?? "")}`);
    const done = await callGateway(io, "set-heartbeats", { enabled: action === "enable", idempotencyKey: crypto.randomUUID() }, values);
    if (values.json) return printJson(io, done);
    io.out(done.enabled ? "Heartbeats are on.\n" : "Heartbeats are off until the gateway restarts.\n");
  },
});

export const presence = defineCommand({
  options: GATEWAY_OPTIONS,
  examples: [{ line: "openclaw system presence", does: "Connected and recently connected clients" }],
  async run({ io, values }) {
    const found = await callGateway(io, "system-presence", {}, values);
    if (values.json) return printJson(io, found);
    const rows = found.map(({ host, ip, version, platform, mode, ts }) => [
      host ?? "-",
      ip ?? "-",
      version ?? "-",
      platform ?? "-",
      mode ?? "-",
      formatDuration(Math.max(0, io.now() - ts)),
    ]);
    io.out(formatTable(["Host", "Address", "Version", "Platform", "Mode", "Seen"], rows, { style: createStyle(io.color), columns: io.columns }));
  },
});
