import { join, sep } from "node:path";
import { isInside } from "../../base/files.ts";
import type { SkillLimits } from "./limits.ts";
import type { Skill } from "./skill.ts";

export interface PromptListOptions {
  readonly home: string;
  readonly limits: Pick<SkillLimits, "maxSkillsInPrompt" | "maxSkillsPromptChars">;
  /** A line about computers that skills may use. */
  readonly note?: string | undefined;
}

/** The list of skills as a model reads it; empty when there is none. It holds as many, in order, as the limits allow. */
export function promptList(skills: readonly Skill[], { home, limits, note }: PromptListOptions): string {
  const offered = skills.filter((skill) => !skill.disableModelInvocation);
  if (offered.length === 0) return "";
  const frame = listOf([]).length;
  const blocks: string[] = [];
  let chars = frame;
  for (const skill of offered.slice(0, limits.maxSkillsInPrompt)) {
    const block = blockOf(skill, home);
    chars += block.length + 1;
    if (chars > limits.maxSkillsPromptChars) break;
    blocks.push(block);
  }
  const cut =
    blocks.length < offered.length && `⚠️ Skills truncated: included ${blocks.length} of ${offered.length}. \`openclaw call skills.status\` shows them all.`;
  return [note, cut, blocks.length > 0 && listOf(blocks)].filter(Boolean).join("\n");
}

const listOf = (blocks: readonly string[]): string => ["<available_skills>", ...blocks, "</available_skills>"].join("\n");

function blockOf(skill: Skill, home: string): string {
  return [
    "  <skill>",
    `    <name>${escapeXml(skill.name)}</name>`,
    `    <description>${escapeXml(skill.description)}</description>`,
    `    <location>${escapeXml(shortPath(skill.filePath, home))}</location>`,
    "  </skill>",
  ].join("\n");
}

function shortPath(path: string, home: string): string {
  return home !== sep && isInside(home, path) && path !== home ? join("~", path.slice(home.length)) : path;
}

/** One line of text that cannot end its element. */
function escapeXml(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029\s]+/gu, " ")
    .trim()
    .replace(/[&<>"']/g, (char) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[char] ?? "&apos;");
}
