import type { FileHandle } from "node:fs/promises";
import { nameGlob, pathGlob, type Glob } from "./glob.ts";

/** What a `.gitignore` says about what lies in and below its folder. */
export interface IgnoreRules {
  /** Undefined when it says nothing about this path, which is written from the folder of the file. */
  verdict(path: string, isFolder: boolean): boolean | undefined;
}

const MAX_FILE_BYTES = 64 * 1024;
const MAX_RULES = 1000;
const MAX_RULE_CHARS = 255;

interface Rule {
  readonly matches: Glob;
  readonly ignored: boolean;
  readonly foldersOnly: boolean;
}

/** Reads the beginning of a `.gitignore`; what is longer than any real one is left out. */
export async function loadIgnoreRules(file: FileHandle): Promise<IgnoreRules> {
  const buffer = Buffer.alloc(MAX_FILE_BYTES);
  const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
  return parseIgnoreRules(buffer.toString("utf8", 0, bytesRead));
}

export function parseIgnoreRules(text: string): IgnoreRules {
  const rules = text.split("\n", MAX_RULES).flatMap((line) => parseRule(line.replace(/\r$/, "")));
  return {
    verdict(path, isFolder) {
      // The last rule that fits decides.
      for (let at = rules.length - 1; at >= 0; at -= 1) {
        const { matches, ignored, foldersOnly } = rules[at]!;
        if ((isFolder || !foldersOnly) && matches(path)) return ignored;
      }
      return undefined;
    },
  };
}

function parseRule(line: string): readonly Rule[] {
  if (line.length > MAX_RULE_CHARS || line.startsWith("#")) return [];
  const ignored = !line.startsWith("!");
  // Blanks at the end do not count unless the last one is escaped.
  const trimmed = line.slice(ignored ? 0 : 1).replace(/(?<!\\) +$/, "");
  const foldersOnly = trimmed.endsWith("/");
  const pattern = foldersOnly ? trimmed.slice(0, -1) : trimmed;
  if (pattern === "") return [];
  const matches = pattern.includes("/") ? pathGlob(pattern.replace(/^\//, "")) : nameGlob(pattern);
  return [{ matches, ignored, foldersOnly }];
}
