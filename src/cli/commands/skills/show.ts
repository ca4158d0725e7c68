import { escapeLine } from "../../../base/printable.ts";
import { loadSkillInstall, type InstalledSkill } from "../../../plugins/index.ts";
import { join } from "node:path";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson } from "../../io.ts";
import { createStyle, type Style } from "../../output/style.ts";
import { formatFacts, formatTable } from "../../output/table.ts";
import { lacksOf, loadSkillsFor, namedSkill, type ListedSkill, type SkillsView } from "./source.ts";

const AGENT = { type: "string", value: "id", help: "Agent (default: the default agent)" } as const;

const recordOf = ({ name, description, emoji, eligible, disabled, blockedByAllowlist, blockedByAgent, source, bundled, homepage, missing }: ListedSkill) => ({
  name,
  description,
  emoji,
  eligible,
  disabled,
  blockedByAllowlist,
  ...(blockedByAgent ? { blockedByAgent } : {}),
  source,
  bundled,
  homepage,
  missing,
});

function statusOf({ eligible, disabled, blockedByAllowlist, blockedByAgent }: ListedSkill, style: Style): string {
  if (disabled) return style.dim("off");
  if (blockedByAllowlist || blockedByAgent) return style.dim("not allowed");
  return eligible ? style.green("ready") : style.yellow("missing");
}

const isUsable = ({ eligible, blockedByAgent }: ListedSkill): boolean => eligible && !blockedByAgent;

/** Why a skill is not offered; undefined when it is. */
function whyNot(row: ListedSkill): string | undefined {
  if (row.disabled) return `skills.entries.${row.skillKey}.enabled is false`;
  if (row.blockedByAllowlist) return "it is not in skills.allowBundled";
  if (row.blockedByAgent) return "it is not in the agent's skill list";
  return row.eligible ? undefined : `needs ${lacksOf(row).join(", ")}`;
}

const SHORT_SOURCES: Readonly<Record<string, string>> = {
  "openclaw-bundled": "bundled",
  "openclaw-managed": "managed",
  "openclaw-workspace": "workspace",
  "openclaw-extra": "extra",
  "agents-skills-personal": "personal",
  "agents-skills-project": "project",
};
const shortSource = (source: string): string => SHORT_SOURCES[source] ?? source;

export const list = defineCommand({
  options: {
    eligible: { type: "boolean", help: "Only ready ones" },
    verbose: { type: "boolean", short: "v", help: "Show requirements and locations" },
    agent: AGENT,
    json: JSON_OPTION,
  },
  examples: [
    { line: "openclaw skills list", does: "All skills" },
    { line: "openclaw skills list --eligible --json", does: "Ready ones, as JSON" },
  ],
  async run({ io, values }) {
    const view = await loadSkillsFor(io, values.agent);
    const rows = values.eligible ? view.rows.filter(isUsable) : view.rows;
    const { workspaceDir, managedSkillsDir } = view;
    if (values.json) return printJson(io, { workspaceDir, managedSkillsDir, skills: rows.map(recordOf) });
    const style = createStyle(io.color);
    if (rows.length === 0) return io.out(io.runnable("No skills. Create one with: openclaw skills create <name>\n"));
    const cells = rows.map((row) => [
      row.name,
      statusOf(row, style),
      shortSource(row.source),
      ...(values.verbose ? [whyNot(row) ?? "-", row.filePath] : [isUsable(row) ? row.description : (whyNot(row) ?? row.description)]),
    ]);
    const last = values.verbose ? ["Needs", "Location"] : ["About"];
    io.out(formatTable(["Skill", "Status", "Source", ...last], cells, { style, columns: io.columns, whole: values.verbose === true }));
    const ready = view.rows.filter(isUsable).length;
    io.out(style.dim(`${ready} of ${view.rows.length} ready${view.gateway ? "" : " (no gateway is running; checked locally)"}\n`));
    for (const { path, message } of view.problems) io.out(style.yellow(`${escapeLine(`${path}: ${message}`)}\n`));
  },
});

export const info = defineCommand({
  positionals: "<name>",
  options: { agent: AGENT, json: JSON_OPTION },
  examples: [{ line: "openclaw skills info weather", does: "Requirements, location and how to install what is missing" }],
  async run({ io, values, positionals: [name] }) {
    const view = await loadSkillsFor(io, values.agent);
    const { blockedByAgent, ...row } = namedSkill(view, name);
    if (values.json) return printJson(io, { ...row, ...(blockedByAgent ? { blockedByAgent } : {}) });
    const style = createStyle(io.color);
    const { requirements: needs } = row;
    const wants = [
      ...needs.bins,
      ...(needs.anyBins.length === 0 ? [] : [`one of ${needs.anyBins.join(", ")}`]),
      ...needs.env.map((one) => `$${one}`),
      ...needs.config,
      ...needs.os,
    ];
    const installed = (await installedIn(view)).find(({ path }) => path === row.baseDir);
    const facts: (readonly [string, string | undefined])[] = [
      ["skill", style.bold(`${row.emoji === undefined ? "" : `${row.emoji} `}${escapeLine(row.name)}`)],
      ["status", statusOf({ ...row, blockedByAgent }, style)],
      ["why", whyNot({ ...row, blockedByAgent })],
      ["about", row.description],
      ["needs", wants.join(", ") || undefined],
      ["source", shortSource(row.source)],
      ["file", row.filePath],
      ["from", installed && `${installed.record.spec}${installed.record.commit === undefined ? "" : ` (${installed.record.commit.slice(0, 12)})`}`],
      ["changed", installed && installed.changed.length > 0 ? installed.changed.join(", ") : undefined],
      ["settings", `skills.entries.${row.skillKey}`],
      ["homepage", row.homepage],
    ];
    const shown = facts.flatMap(([label, value]) =>
      value === undefined ? [] : [[label, label === "skill" || label === "status" ? value : escapeLine(value)] as const],
    );
    io.out(formatFacts(shown, style));
    if (lacksOf(row).length > 0) for (const { label } of row.install) io.out(io.runnable(`${escapeLine(label)}: openclaw skills install ${row.name}\n`));
  },
});

/** What was installed into the folders of this view. */
async function installedIn({ managedSkillsDir, workspaceDir }: SkillsView): Promise<readonly InstalledSkill[]> {
  const { installedSkills } = await loadSkillInstall();
  return [managedSkillsDir, join(workspaceDir, "skills")].flatMap(installedSkills);
}

export const check = defineCommand({
  options: { agent: AGENT, json: JSON_OPTION },
  examples: [{ line: "openclaw skills check", does: "Missing requirements and changed files" }],
  async run({ io, values }) {
    const view = await loadSkillsFor(io, values.agent);
    const { rows, problems } = view;
    const changed = (await installedIn(view)).filter((one) => one.changed.length > 0);
    const eligible = rows.filter(isUsable);
    const disabled = rows.filter((row) => row.disabled);
    const blocked = rows.filter((row) => !row.disabled && (row.blockedByAllowlist || row.blockedByAgent));
    const missing = rows.filter((row) => !isUsable(row) && !disabled.includes(row) && !blocked.includes(row));
    if (values.json) {
      const names = (some: readonly ListedSkill[]): readonly string[] => some.map(({ name }) => name);
      printJson(io, {
        summary: { total: rows.length, eligible: eligible.length, disabled: disabled.length, blocked: blocked.length, missingRequirements: missing.length },
        eligible: names(eligible),
        disabled: names(disabled),
        blocked: names(blocked),
        missingRequirements: missing.map(({ name, missing: lacks, install }) => ({ name, missing: lacks, install })),
        changed: changed.map(({ name, path, changed: files }) => ({ name, path, files })),
        problems,
      });
      return problems.length > 0 || changed.length > 0 ? 1 : 0;
    }
    const style = createStyle(io.color);
    io.out(`${eligible.length} of ${rows.length} skills are ready: ${escapeLine(eligible.map(({ name }) => name).join(", ") || "none")}\n`);
    for (const row of [...disabled, ...blocked]) io.out(`${style.dim(row.disabled ? "off" : "not allowed")} ${escapeLine(`${row.name}: ${whyNot(row)}`)}\n`);
    for (const row of missing) io.out(`${style.yellow("missing")} ${escapeLine(`${row.name}: ${whyNot(row)}`)}${adviceFor(row, io.runnable)}\n`);
    for (const { name, changed: files } of changed)
      io.out(`${style.yellow("changed")} ${escapeLine(`${name}: ${files.join(", ")} changed since it was installed`)}\n`);
    for (const { path, message } of problems) io.out(`${style.red("problem")} ${escapeLine(`${path}: ${message}`)}\n`);
    return problems.length > 0 || changed.length > 0 ? 1 : 0;
  },
});

function adviceFor({ name, missing, install }: ListedSkill, runnable: (text: string) => string): string {
  if (missing.os.length > 0 || install.length === 0 || missing.bins.length + missing.anyBins.length === 0) return "";
  return runnable(`; openclaw skills install ${name}`);
}
