/** What a skill contains, for its user to look at before it is installed. */
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSkill, SKILL_FILE, waysOf, type Skill } from "../../agent/index.ts";
import { AppError } from "../../base/errors.ts";
import { clip } from "../../base/text.ts";
import type { BuiltinScan } from "../install/scan/finding.ts";
import { checkTree } from "../install/tree.ts";
import { refuseLinks } from "./download.ts";
import { SKILL_LIMITS } from "./fetch.ts";
import { RECORD_FILE } from "./record.ts";
import { isScript, scanSkill } from "./scan.ts";

export interface SkillReview {
  readonly name: string;
  readonly description: string;
  readonly homepage?: string | undefined;
  readonly files: readonly { readonly path: string; readonly bytes: number; readonly script: boolean }[];
  readonly bytes: number;
  /** Programs that have to be there. */
  readonly bins: readonly string[];
  /** Programs of which one has to be there. */
  readonly anyBins: readonly string[];
  /** Variables that it reads. */
  readonly env: readonly string[];
  readonly config: readonly string[];
  readonly os: readonly string[];
  /** How it would get its programs. */
  readonly install: readonly string[];
  readonly scan: BuiltinScan;
}

const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;
const MOST_SKILL_BYTES = 256_000;

/** Reads a staged skill as the gateway will. Throws when it is none, or not one that may be installed. */
export function reviewSkill(root: string, platform: string): SkillReview {
  const { files, bytes } = checkTree(root, SKILL_LIMITS, "skill");
  refuseLinks(root);
  const own = files.filter((file) => file !== RECORD_FILE).sort();
  const skill = readSkill(root);
  const { requires } = skill;
  return {
    name: skill.name,
    description: skill.description,
    homepage: skill.homepage,
    files: own.map((path) => ({ path, bytes: lstatSync(join(root, path)).size, script: isScript(root, path) })),
    bytes,
    bins: requires.bins,
    anyBins: requires.anyBins,
    env: [...new Set([...requires.env, ...(skill.primaryEnv === undefined ? [] : [skill.primaryEnv])])],
    config: requires.config,
    os: skill.os,
    install: waysOf(skill.install, platform).map(({ label }) => label),
    scan: scanSkill(root, own),
  };
}

function readSkill(root: string): Skill {
  const filePath = join(root, SKILL_FILE);
  const size = lstatSync(filePath).size;
  if (size > MOST_SKILL_BYTES) throw new AppError("INVALID_INPUT", `its ${SKILL_FILE} has ${size} bytes; at most ${MOST_SKILL_BYTES} are read`);
  const { skill, problems } = parseSkill(readFileSync(filePath, "utf8"), { filePath, baseDir: root, folderName: "", source: "openclaw-managed" });
  if (!skill || problems.length > 0) throw new AppError("INVALID_INPUT", `its ${SKILL_FILE} cannot be used: ${problems.join("; ")}`);
  if (!NAME.test(skill.name))
    throw new AppError(
      "INVALID_INPUT",
      `its ${SKILL_FILE} needs a name of at most 64 lower-case letters, digits and "-"; it has ${JSON.stringify(clip(skill.name, 100))}`,
    );
  return skill;
}
