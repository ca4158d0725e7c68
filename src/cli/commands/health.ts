import { formatDuration } from "../../base/text.ts";
import type { MethodResult } from "../../protocol/index.ts";
import { defineCommand } from "../command.ts";
import { callGateway, GATEWAY_OPTIONS } from "../gateway-call.ts";
import { printJson, type Io } from "../io.ts";
import { createStyle } from "../output/style.ts";
import { formatFacts } from "../output/table.ts";

type Health = MethodResult<"health">;

const SHOWN = 5;

/** An older gateway does not report its state: only that it answers is known. */
export function formatState({ status = "ok" }: Pick<Health, "status">, style: ReturnType<typeof createStyle>): string {
  return status === "ok" ? style.green(status) : status === "failed" ? style.red(status) : style.yellow(status);
}

function print(io: Io, report: Health): void {
  const style = createStyle(io.color);
  const agents = report.agents.map(({ agentId, isDefault, heartbeat }) => {
    const marks = [...(isDefault ? ["default"] : []), heartbeat.enabled ? `heartbeat every ${heartbeat.every}` : "heartbeat off"];
    return `${agentId} (${marks.join(", ")})`;
  });
  const channels = report.channelOrder.map((id) => `${report.channelLabels[id] ?? id}${report.channels[id]?.configured === false ? " (not configured)" : ""}`);
  io.out(
    formatFacts(
      [
        ["Gateway", `${formatState(report, style)}, checked in ${Math.round(report.durationMs)} ms`],
        ["Agents", agents.join(", ") || "none"],
        ["Heartbeat", report.heartbeatSeconds > 0 ? `every ${formatDuration(report.heartbeatSeconds * 1000)}` : "off"],
        ["Channels", channels.join(", ") || "none"],
        ["Sessions", `${report.sessions.count} in ${report.sessions.path}`],
      ],
      style,
    ),
  );
  for (const problem of report.problems ?? []) io.out(`${style.yellow("!")} ${problem}\n`);
  for (const { key, age } of report.sessions.recent.slice(0, SHOWN)) io.out(`  ${key} ${style.dim(age === null ? "" : `${formatDuration(age)} ago`)}\n`);
}

export const health = defineCommand({
  options: { ...GATEWAY_OPTIONS, verbose: { type: "boolean", help: "Check everything now instead of using results from the last minute" } },
  examples: [
    { line: "openclaw health", does: "Show the health of the running gateway" },
    { line: "openclaw health --verbose --json", does: "Fresh check, as JSON" },
  ],
  async run({ io, values }) {
    const report = await callGateway(io, "health", values.verbose ? { probe: true } : {}, values);
    if (values.json) printJson(io, report);
    else print(io, report);
  },
});
