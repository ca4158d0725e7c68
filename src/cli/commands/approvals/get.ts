import { formatDuration } from "../../../base/text.ts";
import { defineCommand } from "../../command.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";
import { RULES_OPTIONS, withRules, type RulesSnapshot } from "./source.ts";

type Rules = NonNullable<RulesSnapshot["file"]["defaults"]>;

function said({ security, ask, askFallback, autoAllowSkills }: Rules): string {
  const facts = { security, ask, askFallback, autoAllowSkills };
  const parts = Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${String(value)}`]));
  return parts.join(", ") || "nothing of their own";
}

/** Rules for people. */
export function printRules(io: Io, { path, exists, file }: RulesSnapshot): void {
  const style = createStyle(io.color);
  io.out(`${path}${exists ? "" : " (not there yet: what the configuration says holds)"}\n`);
  if (file.defaults) io.out(`${style.bold("everybody")}: ${said(file.defaults)}\n`);
  for (const [agent, rules] of Object.entries(file.agents ?? {})) {
    io.out(`${style.bold(agent === "*" ? "every agent (*)" : `agent ${agent}`)}: ${said(rules)}\n`);
    const rows = (rules.allowlist ?? []).map(({ pattern, lastUsedAt, lastUsedCommand }) => [
      pattern,
      lastUsedAt === undefined ? "never" : `${formatDuration(Math.max(0, io.now() - lastUsedAt))} ago`,
      lastUsedCommand ?? "-",
    ]);
    if (rows.length > 0) io.out(formatTable(["Runs unasked", "Used", "Last command"], rows, { style, columns: io.columns }));
  }
}

export const get = defineCommand({
  options: RULES_OPTIONS,
  examples: [{ line: "openclaw approvals get --json", does: "for machines, with the hash that a change names" }],
  async run({ io, values }) {
    const snapshot = await withRules(io, values, (source) => source.get());
    if (values.json) printJson(io, snapshot);
    else printRules(io, snapshot);
  },
});
