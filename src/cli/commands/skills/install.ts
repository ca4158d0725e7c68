import { homedir } from "node:os";
import { AppError } from "../../../base/errors.ts";
import { createIds } from "../../../base/ids.ts";
import { systemClock } from "../../../base/clock.ts";
import { escapeLine } from "../../../base/printable.ts";
import { systemRandom } from "../../../base/random.ts";
import { formatBytes } from "../../../base/text.ts";
import { loadSkillInstall, type SkillInstallDeps, type SkillReview } from "../../../plugins/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { describeFinding } from "../plugins/install.ts";
import { installHooks } from "../plugins/trial.ts";
import { installForSkill } from "./programs.ts";
import { bundledNames, skillsDirOf, TARGET_OPTIONS } from "./target.ts";

const COMMON_OPTIONS = {
  ...TARGET_OPTIONS,
  sha256: { type: "string", value: "hex", help: "Expected SHA-256 of the archive" },
  force: { type: "boolean", help: "Replace an existing skill" },
  "dry-run": { type: "boolean", help: "Show what would happen without changing anything" },
  yes: { type: "boolean", short: "y", help: "Don't ask for confirmation" },
  json: JSON_OPTION,
} as const;

/** Files that a review lists by name. */
const MOST_LISTED = 15;

/** What installing skills needs, as a command has it. */
async function skillDeps(io: Io, skillsDir: string, { yes, quiet }: { readonly yes: boolean; readonly quiet: boolean }): Promise<SkillInstallDeps> {
  const { paths, env } = loadFor(io);
  return {
    skillsDir,
    bundled: await bundledNames(io),
    config: () => loadFor(io).snapshot.resolved,
    hooks: await installHooks(io),
    env,
    platform: process.platform,
    cwd: io.cwd,
    home: paths.home ?? homedir(),
    pid: process.pid,
    clock: systemClock,
    ids: createIds(systemRandom),
    signal: io.signal(),
    onStep: quiet ? undefined : (what) => io.err(`${what} …\n`),
    async agree(review) {
      if (!quiet) io.out(describeReview(io, review));
      if (yes) return true;
      if (!io.interactive) throw new AppError("INVALID_INPUT", `without a terminal, review it with --dry-run, then use --yes to confirm`);
      return io.confirm(`Install ${review.name} into ${skillsDir}?`);
    },
  };
}

function describeReview(io: Io, review: SkillReview): string {
  const style = createStyle(io.color);
  const { name, description, files, bytes, bins, anyBins, env, config, install, scan, homepage } = review;
  const scripts = files.filter(({ script }) => script);
  const list = (label: string, values: readonly string[]): string => (values.length === 0 ? "" : `  ${style.dim(label)} ${escapeLine(values.join(", "))}\n`);
  const named = files
    .slice(0, MOST_LISTED)
    .map(({ path, bytes: size, script }) => `    ${escapeLine(path)} ${style.dim(`${formatBytes(size)}${script ? ", script" : ""}`)}\n`);
  return [
    `${style.bold(escapeLine(name))}: ${escapeLine(description)}\n`,
    homepage === undefined ? "" : list("homepage:", [homepage]),
    `  ${style.dim("files:")} ${files.length}, ${formatBytes(bytes)}${scripts.length === 0 ? ", no scripts" : `, ${scripts.length} of them scripts`}\n`,
    ...named,
    files.length > MOST_LISTED ? `    … and ${files.length - MOST_LISTED} more\n` : "",
    list("needs programs:", [...bins, ...(anyBins.length === 0 ? [] : [`one of ${anyBins.join(", ")}`])]),
    list("reads environment:", env),
    list("needs settings:", config),
    list("installers:", install),
    ...scan.findings.map((finding) => `  ${describeFinding(finding, finding.severity === "critical" ? style.red : style.yellow)}`),
  ].join("");
}

export const install = defineCommand({
  positionals: "<skill | archive | folder | https address | git repository>[#ref[:folder]]",
  options: {
    id: { type: "string", value: "id", help: "Installer to use, if there are several" },
    timeout: { type: "string", value: "ms", help: "Time limit for installing programs, in ms (default 300000)" },
    ...COMMON_OPTIONS,
  },
  examples: [
    {
      line: "openclaw skills create release-diary --dir . && openclaw skills install ./release-diary --dry-run",
      does: "Review what would be installed",
    },
  ],
  async run({ io, values, positionals: [spec] }) {
    if (spec === undefined) throw new AppError("INVALID_INPUT", "expected a skill name, a folder, an archive, an https URL or a git repository");
    const { isSkillSource, installSkill } = await loadSkillInstall();
    if (!isSkillSource(spec, io.cwd)) return installForSkill(io, spec, values);
    const skillsDir = skillsDirOf(io, values);
    const deps = await skillDeps(io, skillsDir, { yes: values.yes === true, quiet: values.json === true });
    const { force, sha256 } = values;
    const result = await installSkill({ spec, sha256, force, dryRun: values["dry-run"] }, deps);
    const { status, path, review, record } = result;
    if (values.json) {
      printJson(io, { ok: status !== "declined", status, path, review, record });
      return status === "declined" ? 1 : 0;
    }
    if (status === "dry run") {
      io.out(`${describeReview(io, review)}Would be installed into ${path}. No changes made\n`);
      return 0;
    }
    if (status === "declined") {
      io.out("No changes made\n");
      return 1;
    }
    io.out(`${status} ${review.name} in ${path}\n`);
    if (record.sha256 !== undefined) io.out(createStyle(io.color).dim(`sha256 ${record.sha256}\n`));
    return 0;
  },
});

export const update = defineCommand({
  positionals: "[name]",
  options: { all: { type: "boolean", help: "Update all installed skills" }, ...COMMON_OPTIONS },
  examples: [{ line: "openclaw skills update --all --dry-run", does: "List skills with newer content" }],
  async run({ io, values, positionals: [name] }) {
    if ((name === undefined) === (values.all !== true)) throw new AppError("INVALID_INPUT", "expected a skill name, or --all");
    const deps = await skillDeps(io, skillsDirOf(io, values), { yes: values.yes === true, quiet: values.json === true });
    const { updateSkills } = await loadSkillInstall();
    const { sha256, force } = values;
    const outcomes = await updateSkills({ name, sha256, force, dryRun: values["dry-run"] }, deps);
    const failed = outcomes.some(({ status }) => status === "failed");
    if (values.json) printJson(io, { ok: !failed, outcomes });
    else if (outcomes.length === 0) io.out(`No skills were installed into ${deps.skillsDir}\n`);
    else
      for (const { name: one, status, reason } of outcomes)
        io.out(io.runnable(`${escapeLine(`${one}: ${status}${reason === undefined ? "" : `: ${reason}`}`)}\n`));
    return failed ? 1 : 0;
  },
});

export const remove = defineCommand({
  positionals: "<name>",
  options: {
    ...TARGET_OPTIONS,
    force: { type: "boolean", help: "Also remove a skill that was not installed with this command" },
    "dry-run": { type: "boolean", help: "Show what would be removed" },
    yes: COMMON_OPTIONS.yes,
    json: JSON_OPTION,
  },
  examples: [
    { line: "openclaw skills create old-notes && openclaw skills remove old-notes --workspace --force --dry-run", does: "Show what would be deleted" },
  ],
  async run({ io, values, positionals: [name] }) {
    if (name === undefined) throw new AppError("INVALID_INPUT", "expected a skill name; list them with: openclaw skills list");
    const deps = { skillsDir: skillsDirOf(io, values), pid: process.pid };
    const { removeSkill } = await loadSkillInstall();
    const planned = removeSkill(name, { force: values.force, dryRun: true }, deps);
    const agreed = values["dry-run"] || values.yes || (io.interactive && (await io.confirm(`Delete ${planned.path}?`)));
    if (!agreed) {
      if (!io.interactive) throw new AppError("INVALID_INPUT", `this deletes ${planned.path}; without a terminal, use --yes to confirm`);
      io.out("No changes made\n");
      return 1;
    }
    if (!values["dry-run"]) removeSkill(name, { force: values.force }, deps);
    if (values.json) printJson(io, { ok: true, ...planned, dryRun: values["dry-run"] === true });
    else io.out(values["dry-run"] ? `Would remove ${planned.path}\n` : `Removed ${planned.path}. Its settings in skills.entries are kept\n`);
    return 0;
  },
});
