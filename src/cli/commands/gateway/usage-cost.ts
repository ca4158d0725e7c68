import { AppError } from "../../../base/errors.ts";
import type { MethodResult } from "../../../protocol/index.ts";
import { defineCommand } from "../../command.ts";
import { callGateway, GATEWAY_OPTIONS } from "../../gateway-call.ts";
import { printJson } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";

type Totals = MethodResult<"usage.cost">["totals"];

const DAYS = 30;

function daysOf(given: string | undefined): number {
  if (given === undefined) return DAYS;
  if (!/^\d+$/.test(given) || Number(given) < 1) throw new AppError("INVALID_INPUT", `--days takes a whole number above 0, not "${given}"`);
  return Number(given);
}

const row = (name: string, { totalCost, input, output, cacheRead, cacheWrite, totalTokens }: Totals): string[] => [
  name,
  `$${totalCost.toFixed(2)}`,
  ...[totalTokens, input, output, cacheRead, cacheWrite].map(String),
];

export const usageCost = defineCommand({
  options: { days: { type: "string", value: "n", help: `how many days, today included (default ${DAYS})` }, ...GATEWAY_OPTIONS },
  examples: [
    { line: "openclaw gateway usage-cost", does: `the last ${DAYS} days` },
    { line: "openclaw gateway usage-cost --days 7 --json", does: "the last week, for machines" },
  ],
  async run({ io, values }) {
    const usage = await callGateway(io, "usage.cost", { days: daysOf(values.days) }, values);
    if (values.json) return printJson(io, usage);
    if (usage.daily.length === 0) return io.out(`nothing was used in the last ${usage.days} days\n`);
    const rows = [...usage.daily.map((day) => row(day.date, day)), row("All", usage.totals)];
    io.out(
      formatTable(["Day (UTC)", "Cost", "Tokens", "Input", "Output", "Cache read", "Cache write"], rows, {
        style: createStyle(io.color),
        columns: io.columns,
      }),
    );
  },
});
