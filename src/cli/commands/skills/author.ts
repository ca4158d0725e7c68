import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { checkSkill } from "../../../agent/index.ts";
import { AppError } from "../../../base/errors.ts";
import { createIds } from "../../../base/ids.ts";
import { escapeLine } from "../../../base/printable.ts";
import { systemRandom } from "../../../base/random.ts";
import { shellWord } from "../../../base/text.ts";
import { loadSkillInstall } from "../../../plugins/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { bundledNames, skillsDirOf, TARGET_OPTIONS } from "./target.ts";
import { lacksOf, loadSkillsFor, namedSkill } from "./source.ts";

export const create = defineCommand({
  positionals: "<name>",
  options: {
    description: { type: "string", value: "text", help: "When to use it, in one line; the model chooses by this" },
    dir: { type: "string", value: "folder", help: "Create it in this folder" },
    ...TARGET_OPTIONS,
    force: { type: "boolean", help: "Allow the name of a bundled skill, which it replaces" },
    json: JSON_OPTION,
  },
  examples: [{ line: 'openclaw skills create release-notes --description "Write release notes from the git log."', does: "Create a skill in the workspace" }],
  async run({ io, values, positionals: [name] }) {
    if (name === undefined) throw new AppError("INVALID_INPUT", 'expected a name of at most 64 lower-case letters, digits and "-"');
    const description = values.description?.trim() || undefined;
    const skillsDir = values.dir === undefined ? skillsDirOf(io, { ...values, workspace: values.managed !== true }) : resolve(io.cwd, values.dir);
    const { createSkill } = await loadSkillInstall();
    const bundled = values.dir === undefined ? await bundledNames(io) : new Set<string>();
    const folder = createSkill({ name, description, skillsDir, bundled, force: values.force, pid: process.pid, token: createIds(systemRandom).hex(6) });
    if (values.json) return printJson(io, { ok: true, name, path: folder });
    io.out(`Created ${join(folder, "SKILL.md")}\n`);
    if (bundled.has(name)) io.out(`It replaces the bundled skill ${name}\n`);
    io.out(io.runnable(`Edit it, then check it with: openclaw skills test ${values.dir === undefined ? name : (shellWord(folder) ?? "<folder>")}\n`));
  },
});

export const test = defineCommand({
  positionals: "<name or folder>",
  options: { agent: TARGET_OPTIONS.agent, json: JSON_OPTION },
  examples: [{ line: "openclaw skills test weather", does: "Check a skill without running it" }],
  async run({ io, values, positionals: [named] }) {
    if (named === undefined) throw new AppError("INVALID_INPUT", "expected a skill name or folder");
    const view = await loadSkillsFor(io, values.agent);
    const folder = resolve(io.cwd, named);
    const isFolder = existsSync(join(folder, "SKILL.md"));
    const baseDir = isFolder ? folder : namedSkill(view, named).baseDir;
    const { skill, remarks, promptChars } = checkSkill(baseDir);
    const { findings } = (await loadSkillInstall()).scanSkill(baseDir);
    const row = view.rows.find((one) => one.baseDir === baseDir);
    const errors = remarks.filter(({ severity }) => severity === "error").length;
    if (values.json) {
      printJson(io, {
        ok: errors === 0,
        name: skill?.name,
        path: baseDir,
        promptChars,
        remarks,
        findings,
        ...(row ? { eligible: row.eligible, missing: row.missing } : {}),
      });
      return errors === 0 ? 0 : 1;
    }
    const style = createStyle(io.color);
    for (const { severity, message, file, line } of remarks) {
      io.out(
        `${severity === "error" ? style.red("error") : style.yellow("warning")} ${escapeLine(`${file}${line === undefined ? "" : `:${line}`} ${message}`)}\n`,
      );
    }
    for (const { severity, message, file = "", line } of findings)
      io.out(`${style.yellow(severity)} ${escapeLine(`${file}${line === undefined ? "" : `:${line}`} ${message}`)}\n`);
    if (row && !row.eligible)
      io.out(
        `${style.yellow("here")} ${escapeLine(row.disabled ? "it is disabled" : `it lacks ${lacksOf(row).join(", ") || "a place in skills.allowBundled"}`)}\n`,
      );
    io.out(
      errors === 0
        ? style.green(`${escapeLine(skill?.name ?? named)} is ready; it adds ${promptChars} characters to every prompt\n`)
        : style.red(`${errors} error${errors === 1 ? "" : "s"}\n`),
    );
    return errors === 0 ? 0 : 1;
  },
});
