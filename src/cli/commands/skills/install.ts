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
  sha256: { type: "string", value: "hex", help: "what the archive has to be" },
  force: { type: "boolean", help: "replace the one that is there" },
  "dry-run": { type: "boolean", help: "look at everything, change nothing" },
  yes: { type: "boolean", short: "y", help: "do not ask" },
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
      if (!io.interactive) throw new AppError("INVALID_INPUT", `nobody is here to agree; look at what it contains with --dry-run, then add --yes`);
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
    list("programs it needs:", [...bins, ...(anyBins.length === 0 ? [] : [`one of ${anyBins.join(", ")}`])]),
    list("environment it reads:", env),
    list("settings it needs:", config),
    list("it can install:", install),
    ...scan.findings.map((finding) => `  ${describeFinding(finding, finding.severity === "critical" ? style.red : style.yellow)}`),
  ].join("");
}

export const install = defineCommand({
  positionals: "<skill | archive | folder | https address | git repository>[#ref[:folder]]",
  options: {
    id: { type: "string", value: "id", help: "of several ways to install a program, this one" },
    timeout: { type: "string", value: "ms", help: "how long programs may take to install (default 300000)" },
    ...COMMON_OPTIONS,
  },
  examples: [
    {
      line: "openclaw skills create release-diary --dir . && openclaw skills install ./release-diary --dry-run",
      does: "what it contains, and what stands out in it",
    },
  ],
  async run({ io, values, positionals: [spec] }) {
    if (spec === undefined)
      throw new AppError("INVALID_INPUT", "expected the name of a skill, or where to take one from: a folder, an archive, an https address, a git repository");
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
      io.out(`${describeReview(io, review)}would be installed into ${path}; nothing was changed\n`);
      return 0;
    }
    if (status === "declined") {
      io.out("nothing was installed\n");
      return 1;
    }
    io.out(`${status} ${review.name} in ${path}\n`);
    if (record.sha256 !== undefined) io.out(createStyle(io.color).dim(`sha256 ${record.sha256}\n`));
    return 0;
  },
});

export const update = defineCommand({
  positionals: "[name]",
  options: { all: { type: "boolean", help: "all that were installed there" }, ...COMMON_OPTIONS },
  examples: [{ line: "openclaw skills update --all --dry-run", does: "which installed skills have newer content" }],
  async run({ io, values, positionals: [name] }) {
    if ((name === undefined) === (values.all !== true)) throw new AppError("INVALID_INPUT", "expected the name of a skill, or --all");
    const deps = await skillDeps(io, skillsDirOf(io, values), { yes: values.yes === true, quiet: values.json === true });
    const { updateSkills } = await loadSkillInstall();
    const { sha256, force } = values;
    const outcomes = await updateSkills({ name, sha256, force, dryRun: values["dry-run"] }, deps);
    const failed = outcomes.some(({ status }) => status === "failed");
    if (values.json) printJson(io, { ok: !failed, outcomes });
    else if (outcomes.length === 0) io.out(`no skill was installed into ${deps.skillsDir}\n`);
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
    force: { type: "boolean", help: "also one that was not installed by this command" },
    "dry-run": { type: "boolean", help: "say what would be removed" },
    yes: COMMON_OPTIONS.yes,
    json: JSON_OPTION,
  },
  examples: [{ line: "openclaw skills create old-notes && openclaw skills remove old-notes --workspace --force --dry-run", does: "what would be deleted" }],
  async run({ io, values, positionals: [name] }) {
    if (name === undefined) throw new AppError("INVALID_INPUT", "expected the name of a skill; openclaw skills list shows them");
    const deps = { skillsDir: skillsDirOf(io, values), pid: process.pid };
    const { removeSkill } = await loadSkillInstall();
    const planned = removeSkill(name, { force: values.force, dryRun: true }, deps);
    const agreed = values["dry-run"] || values.yes || (io.interactive && (await io.confirm(`Delete ${planned.path}?`)));
    if (!agreed) {
      if (!io.interactive) throw new AppError("INVALID_INPUT", `nobody is here to agree to deleting ${planned.path}; add --yes`);
      io.out("nothing was removed\n");
      return 1;
    }
    if (!values["dry-run"]) removeSkill(name, { force: values.force }, deps);
    if (values.json) printJson(io, { ok: true, ...planned, dryRun: values["dry-run"] === true });
    else io.out(values["dry-run"] ? `would remove ${planned.path}\n` : `removed ${planned.path}; its settings in skills.entries stay\n`);
    return 0;
  },
});
