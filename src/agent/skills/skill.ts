import { isObject } from "../../config/index.ts";
import { parseFlow } from "./flow-value.ts";
import { parseFrontMatter } from "./front-matter.ts";

/** Where a skill was found; a later one replaces an earlier of the same name. */
export const SKILL_SOURCES = [
  "openclaw-extra",
  "openclaw-bundled",
  "openclaw-managed",
  "agents-skills-personal",
  "agents-skills-project",
  "openclaw-workspace",
] as const;

export type SkillSource = (typeof SKILL_SOURCES)[number];

/** What a skill needs to be offered. */
export interface SkillRequirements {
  readonly bins: readonly string[];
  readonly anyBins: readonly string[];
  readonly env: readonly string[];
  readonly config: readonly string[];
}

/** A slash command that calls a tool without asking a model. */
export interface SkillDispatch {
  readonly tool: string;
  readonly argMode: "raw";
}

/** Instructions in a folder, as its `SKILL.md` describes them. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly filePath: string;
  readonly baseDir: string;
  readonly source: SkillSource;
  /** Its key in `skills.entries`. */
  readonly key: string;
  readonly userInvocable: boolean;
  /** True keeps it out of the prompt. */
  readonly disableModelInvocation: boolean;
  readonly dispatch?: SkillDispatch;
  readonly homepage?: string;
  readonly emoji?: string;
  /** Variable that `skills.entries.<key>.apiKey` fills. */
  readonly primaryEnv?: string;
  readonly always: boolean;
  /** Platforms it works on; any when empty. */
  readonly os: readonly string[];
  readonly requires: SkillRequirements;
  /** How what it needs can be installed, as written. */
  readonly install: readonly unknown[];
}

export interface SkillLocation {
  readonly filePath: string;
  readonly baseDir: string;
  /** Name when the file gives none. */
  readonly folderName: string;
  readonly source: SkillSource;
}

/** A skill, or why there is none; remarks on a skill that is there are worth showing. */
export interface ParsedSkill {
  readonly skill?: Skill;
  readonly problems: readonly string[];
}

const NAME = /^[a-z0-9-]{1,64}$/;
const DESCRIPTION_CHARS = 1024;

/** Reads the head of a `SKILL.md`. */
export function parseSkill(text: string, location: SkillLocation): ParsedSkill {
  const front = parseFrontMatter(text);
  if (!front) {
    const begun = /^\uFEFF?---[ \t]*\r?\n/.test(text);
    const message = begun
      ? "the front matter is not closed: add a line --- after the last field"
      : "no front matter: the file has to begin with a block between --- lines that gives a description";
    return { problems: [message] };
  }
  const { fields } = front;
  const problems = [...front.problems];
  const name = textOf(fields["name"]) ?? location.folderName;
  const description = textOf(fields["description"]);
  if (description === undefined) return { problems: [...problems, "no description: without one no model knows when to use the skill"] };
  if (!NAME.test(name)) problems.push(`name ${JSON.stringify(name)}: expected up to 64 lower-case letters, digits and "-"`);
  if (description.length > DESCRIPTION_CHARS) problems.push(`the description has ${description.length} characters; ${DESCRIPTION_CHARS} are enough`);
  const skill = { name, description, ...restOf(fields, name), filePath: location.filePath, baseDir: location.baseDir, source: location.source };
  return { skill, problems };
}

function restOf(fields: Readonly<Record<string, unknown>>, name: string): Omit<Skill, "name" | "description" | "filePath" | "baseDir" | "source"> {
  const { own, ...shared } = readMetadata(fields);
  const tool = fields["command-dispatch"] === "tool" ? textOf(fields["command-tool"]) : undefined;
  const primaryEnv = textOf(own["primaryEnv"]);
  return {
    key: textOf(own["skillKey"]) ?? name,
    userInvocable: flagOf(fields["user-invocable"], true),
    disableModelInvocation: flagOf(fields["disable-model-invocation"], false),
    ...(tool === undefined ? {} : { dispatch: { tool, argMode: "raw" } as const }),
    ...(primaryEnv === undefined ? {} : { primaryEnv }),
    ...shared,
  };
}

/** What the front matter of skills and hooks has in common; `own` is all of `metadata.openclaw`. */
export function readMetadata(
  fields: Readonly<Record<string, unknown>>,
): Pick<Skill, "homepage" | "emoji" | "always" | "os" | "requires" | "install"> & { readonly own: Readonly<Record<string, unknown>> } {
  const written = fields["metadata"];
  const metadata = typeof written === "string" ? parseFlow(written) : written;
  const own = isObject(metadata) && isObject(metadata["openclaw"]) ? metadata["openclaw"] : {};
  const requires = isObject(own["requires"]) ? own["requires"] : {};
  const homepage = textOf(own["homepage"]) ?? textOf(fields["homepage"]);
  const emoji = textOf(own["emoji"]);
  return {
    own,
    ...(homepage === undefined ? {} : { homepage }),
    ...(emoji === undefined ? {} : { emoji }),
    always: flagOf(own["always"], false),
    os: textsOf(own["os"]),
    requires: { bins: textsOf(requires["bins"]), anyBins: textsOf(requires["anyBins"]), env: textsOf(requires["env"]), config: textsOf(requires["config"]) },
    install: Array.isArray(own["install"]) ? own["install"] : [],
  };
}

export function textOf(value: unknown): string | undefined {
  const text = typeof value === "number" || typeof value === "boolean" ? String(value) : value;
  return typeof text === "string" && text.trim() !== "" ? text.trim() : undefined;
}

/** A list, or one text with commas. */
export function textsOf(value: unknown): readonly string[] {
  const all: readonly unknown[] = Array.isArray(value) ? value : typeof value === "string" ? value.split(",") : [];
  return all.map(textOf).filter((text): text is string => text !== undefined);
}

function flagOf(value: unknown, absent: boolean): boolean {
  if (typeof value === "boolean") return value;
  if (typeof value !== "string") return absent;
  return /^(?:true|yes|on|1)$/i.test(value.trim()) || (absent && !/^(?:false|no|off|0)$/i.test(value.trim()));
}
