import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { AppError } from "../../../base/errors.ts";
import { isInside } from "../../../base/files.ts";
import { SKILL_FILE } from "../load-skills.ts";
import { waysOf } from "../install/way.ts";
import { parseSkill, type Skill } from "../skill.ts";
import { promptList } from "../snapshot.ts";
import { templateLines } from "../template.ts";
import { BASIC_PROGRAMS, fencedPrograms, shellPrograms, type StartedProgram } from "./commands.ts";

/** Something about a skill that its author should know. */
export interface SkillRemark {
  readonly severity: "error" | "warning";
  readonly message: string;
  /** Relative to the skill's folder. */
  readonly file: string;
  readonly line?: number;
}

export interface CheckedSkill {
  /** Absent when the file is no skill. */
  readonly skill?: Skill;
  readonly remarks: readonly SkillRemark[];
  /** Characters that it costs in every prompt. */
  readonly promptChars: number;
}

/** Longer ones do not fit the line that a model chooses by. */
const MOST_DESCRIPTION_CHARS = 200;
const MOST_LINES = 500;

/** Reads a skill as its users and the model will, and says what will not work. Nothing of it runs. */
export function checkSkill(folder: string): CheckedSkill {
  const filePath = join(folder, SKILL_FILE);
  if (!existsSync(filePath)) throw new AppError("NOT_FOUND", `there is no ${SKILL_FILE} in ${folder}`);
  const text = readFileSync(filePath, "utf8");
  const { skill, problems } = parseSkill(text, { filePath, baseDir: folder, folderName: basename(folder), source: "openclaw-workspace" });
  const remarks: SkillRemark[] = problems.map((message) => ({ severity: "error", message, file: SKILL_FILE }));
  if (!skill) return { remarks, promptChars: 0 };
  const add = (severity: SkillRemark["severity"], message: string, file = SKILL_FILE, line?: number): void =>
    void remarks.push({ severity, message, file, ...(line === undefined ? {} : { line }) });
  if (skill.name !== basename(folder)) add("warning", `the name ${skill.name} is not that of its folder, ${basename(folder)}`);
  if (skill.description.length > MOST_DESCRIPTION_CHARS) {
    add("warning", `the description has ${skill.description.length} characters; it is part of every prompt, so keep it within ${MOST_DESCRIPTION_CHARS}`);
  }
  for (const { line, text: left } of templateLines(text))
    add("warning", `is not filled in: ${JSON.stringify(left)} is the text of the template`, SKILL_FILE, line);
  const lines = text.split("\n").length;
  if (lines > MOST_LINES) add("warning", `it has ${lines} lines; move details into files that it names`);
  const ways = new Set(["darwin", "linux", "win32"].flatMap((platform) => waysOf(skill.install, platform).map(({ id }) => id)));
  if (ways.size < skill.install.length)
    add("error", `${skill.install.length - ways.size} of ${skill.install.length} entries of install cannot be used: check kind and names`);
  for (const path of namedFiles(text))
    if (!isInside(folder, join(folder, path)) || !existsSync(join(folder, path))) add("error", `names {baseDir}/${path}, which does not exist`);
  const known = new Set([...skill.requires.bins, ...skill.requires.anyBins, ...BASIC_PROGRAMS]);
  for (const { program, line } of foreign(fencedPrograms(text), known)) add("error", `runs ${program}, which is not in requires.bins`, SKILL_FILE, line);
  for (const file of shellScripts(folder)) {
    for (const { program, line } of foreign(shellPrograms(readFileSync(join(folder, file), "utf8")), known))
      add("error", `runs ${program}, which is not in requires.bins`, file, line);
  }
  return { skill, remarks, promptChars: promptList([skill], { home: folder, limits: { maxSkillsInPrompt: 1, maxSkillsPromptChars: 100_000 } }).length };
}

const namedFiles = (text: string): readonly string[] => [...new Set([...text.matchAll(/\{baseDir\}\/([\w./-]*\w)/g)].map(([, path]) => path ?? ""))];

/** Programs that are neither there by themselves nor asked for; each once. */
function foreign(started: readonly StartedProgram[], known: ReadonlySet<string>): readonly StartedProgram[] {
  const seen = new Set<string>();
  return started.filter(({ program }) => {
    const isOwn = /^[{$"./~]/.test(program) || program.includes("/") || !/^[\w.+-]+$/.test(program);
    if (isOwn || known.has(program) || seen.has(program)) return false;
    seen.add(program);
    return true;
  });
}

function shellScripts(folder: string): readonly string[] {
  const scripts = join(folder, "scripts");
  if (!statSync(scripts, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(scripts)
    .filter((name) => /\.(?:sh|bash)$/.test(name))
    .map((name) => `scripts/${name}`);
}
