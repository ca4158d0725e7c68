import { formatLocated } from "../../../config/index.ts";
import { loadBudgets, type BudgetState } from "../../../models/index.ts";
import { inspectStore, NO_TOTALS } from "../../../store/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor, requireValid } from "../../config-source.ts";
import { printJson } from "../../io.ts";
import { createStyle, type Style } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";

const BAR_WIDTH = 20;
type BudgetWords = Pick<Awaited<ReturnType<typeof loadBudgets>>, "scopeText" | "usedText">;

function bar(share: number): string {
  const full = Math.min(BAR_WIDTH, Math.floor(share * BAR_WIDTH));
  return `${"█".repeat(full)}${"░".repeat(BAR_WIDTH - full)} ${String(Math.floor(share * 100)).padStart(3)} %`;
}

function row(budget: BudgetState, { scopeText, usedText }: BudgetWords, style: Style): string[] {
  const paint = { ok: style.green, warn: style.yellow, stop: style.red }[budget.state];
  return [`${budget.per} ${budget.period.name}`, scopeText(budget) || "everything", paint(bar(budget.share)), paint(budget.state), usedText(budget)];
}

export const budgets = defineCommand({
  options: { json: JSON_OPTION },
  examples: [
    { line: "openclaw models budgets", does: "Show how much of each budget is used" },
    { line: "openclaw models budgets --json", does: "Same, as JSON" },
  ],
  async run({ io, values }) {
    const { snapshot, paths } = loadFor(io);
    requireValid(snapshot, formatLocated);
    using state = inspectStore(paths.state);
    const budgetsModule = await loadBudgets();
    const report = await budgetsModule
      .createBudgets({
        store: { read: async (kind, input) => state?.read(kind, input) ?? (input.by.length === 0 ? [NO_TOTALS] : []) },
        clock: io,
        config: () => snapshot.config,
      })
      .report();
    if (values.json) return printJson(io, report);
    const { budgets } = report;
    if (budgets.length === 0) {
      const listed = snapshot.config.usage?.budgets?.length ?? 0;
      return io.out(listed === 0 ? "No budgets configured (usage.budgets)\n" : "No usage yet\n");
    }
    const style = createStyle(io.color);
    const rows = budgets.map((budget) => row(budget, budgetsModule, style));
    io.out(formatTable(["Period", "Of", "Used", "State", "Amount"], rows, { style, columns: io.columns }));
    io.out(style.dim(`Days and months in ${report.timeZone}\n`));
  },
});
