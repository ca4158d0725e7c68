import { readFile } from "node:fs/promises";
import { join, matchesGlob } from "node:path";

const IGNORE_FILES = [".gitignore", ".ignore", ".fdignore"];
const MAX_BYTES = 65_536;

/** Whether the ignore files of a folder leave out one of its folders. The last rule that fits decides. */
export type IsIgnored = (name: string) => boolean;

export async function loadIgnoreRules(folder: string): Promise<IsIgnored> {
  const texts = await Promise.all(IGNORE_FILES.map((name) => readFile(join(folder, name), "utf8").catch(() => "")));
  const rules = texts.filter((text) => text.length <= MAX_BYTES).flatMap(parseRules);
  return (name) => rules.findLast((rule) => rule.pattern === name || matchesGlob(name, rule.pattern))?.ignores ?? false;
}

interface Rule {
  readonly pattern: string;
  readonly ignores: boolean;
}

/** Rules that can name an entry of this folder; those about deeper paths do not concern us. */
function parseRules(text: string): readonly Rule[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => ({
      pattern: line
        .replace(/^!/, "")
        .replace(/^(?:\*\*)?\//, "")
        .replace(/\/(?:\*\*)?$/, ""),
      ignores: !line.startsWith("!"),
    }))
    .filter((rule) => rule.pattern !== "" && !rule.pattern.includes("/"));
}
