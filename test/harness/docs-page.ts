import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./gateway-process.ts";

export interface Block {
  readonly language: string;
  readonly text: string;
}

/** A command of a page. */
export interface Example {
  /** The configuration that stands above it, if one does. */
  readonly config: string | undefined;
  readonly line: string;
  /** What it prints; undefined where the page does not show it. */
  readonly output: string | undefined;
}

/** A page of the documentation as its tests read it. */
export interface DocsPage {
  readonly text: string;
  readonly blocks: readonly Block[];
  /** Each line of each `sh` block. */
  readonly examples: readonly Example[];
  /** The rows of the table under this header, cell by cell, as they are written. */
  rowsOf(header: string): readonly (readonly string[])[];
}

/** What stands between ticks. */
export const ticked = (text: string): readonly string[] => [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);

function examplesOf(blocks: readonly Block[]): readonly Example[] {
  let config: string | undefined;
  return blocks.flatMap(({ language, text }, at) => {
    if (language === "json5") config = text;
    if (language !== "sh") return [];
    const next = blocks[at + 1];
    const output = next?.language === "text" ? next.text : undefined;
    return text
      .trim()
      .split("\n")
      .map((line) => ({ config, line, output }));
  });
}

/** `path` below the checkout. */
export function readPage(path: string): DocsPage {
  const text = readFileSync(join(ROOT, path), "utf8");
  const lines = text.split("\n");
  const blocks = [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, inside]) => ({ language: language!, text: inside! }));
  return {
    text,
    blocks,
    examples: examplesOf(blocks),
    rowsOf(header) {
      const at = lines.indexOf(header);
      if (at === -1) throw new Error(`${path} has no table ${header}`);
      const rows = lines.slice(at + 2);
      const end = rows.findIndex((line) => !line.startsWith("|"));
      return rows.slice(0, end === -1 ? rows.length : end).map((line) =>
        line
          .split("|")
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );
    },
  };
}
