import { defineCommand } from "../../command.ts";
import { callGateway, GATEWAY_OPTIONS } from "../../gateway-call.ts";
import { printJson } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { formatState } from "../health.ts";

export const health = defineCommand({
  options: GATEWAY_OPTIONS,
  examples: [
    { line: "openclaw gateway health", does: "one line" },
    { line: "openclaw gateway health --json", does: "everything, for machines" },
  ],
  async run({ io, values }) {
    const started = performance.now();
    const report = await callGateway(io, "health", {}, values);
    if (values.json) return printJson(io, report);
    const channels = report.channelOrder.map((id) => report.channelLabels[id] ?? id);
    const style = createStyle(io.color);
    const state = report.status === undefined || report.status === "ok" ? style.green("OK") : formatState(report, style);
    for (const problem of report.problems ?? []) io.err(`${style.yellow("!")} ${problem}\n`);
    io.out(`${state} (${Math.round(performance.now() - started)} ms), ${channels.length > 0 ? channels.join(", ") : "no channels"}\n`);
  },
});
