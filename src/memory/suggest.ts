import { createTextMatcher } from "../base/erase-text.ts";
import type { Recall } from "./thread/recalls.ts";

/** Lines of a note that were recalled in several turns, and would be known to every conversation in `MEMORY.md`. */
export interface Suggestion {
  readonly n: number;
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
  /** In how many turns they were recalled. */
  readonly recalls: number;
  readonly lines: readonly string[];
  /** What accepting it does to `MEMORY.md`. */
  readonly diff: string;
}

const LEAST_RECALLS = 3;
const MAX_LINES = 8;
const LIST_MARK = /^\s*(?:[-*+]|\d+[.)])\s+(?:\d{2}:\d{2}\s+)?/;

/** Lines that say something, without headings and marks of lists. */
function factsIn(snippet: string): readonly string[] {
  const text = snippet.replace(/\n\nSource: \S+$/, "");
  return text
    .split("\n")
    .filter((line) => !/^\s*#/.test(line))
    .map((line) => line.replace(LIST_MARK, "").trim())
    .filter((line) => line !== "" && !line.endsWith("…"));
}

/** `MEMORY.md` with what was accepted at its end. */
export function withSuggestion(main: string, { lines, path }: Pick<Suggestion, "lines" | "path">): string {
  const begun = main.trim() === "" ? "# Memory\n\n" : main.endsWith("\n") ? main : `${main}\n`;
  return `${begun}${lines.map((line) => `- ${line} (${path})\n`).join("")}`;
}

function diffOf(main: string, suggestion: Pick<Suggestion, "lines" | "path">): string {
  const before = main === "" ? [] : main.replace(/\n$/, "").split("\n");
  const after = withSuggestion(main, suggestion).replace(/\n$/, "").split("\n");
  const context = before.slice(-2);
  const added = after.slice(before.length);
  const from = before.length - context.length + 1;
  const head = `@@ -${before.length === 0 ? 0 : from},${context.length} +${from},${context.length + added.length} @@`;
  return ["--- MEMORY.md", "+++ MEMORY.md", head, ...context.map((line) => ` ${line}`), ...added.map((line) => `+${line}`)].join("\n");
}

/** Notes that are recalled again and again, most often recalled first. What `MEMORY.md` already says is left out. */
export function suggestionsOf(recalls: readonly Recall[], main: string): readonly Suggestion[] {
  const places = new Map<string, { readonly path: string; startLine: number; endLine: number; readonly turns: Set<string>; snippet: string }>();
  for (const { results, sessionId, asked, entryId } of recalls) {
    for (const { path, startLine, endLine, source, snippet } of results) {
      if (source !== "memory" || !path.startsWith("memory/")) continue;
      const key = `${path}#${startLine}-${endLine}`;
      const place = places.get(key) ?? { path, startLine, endLine, turns: new Set<string>(), snippet };
      // Searching twice in one turn is one recall.
      place.turns.add(`${sessionId} ${asked ?? entryId}`);
      places.set(key, place);
    }
  }
  const known = (line: string): boolean => createTextMatcher([line])(main);
  return [...places.values()]
    .filter(({ turns }) => turns.size >= LEAST_RECALLS)
    .map(({ path, startLine, endLine, turns, snippet }) => ({
      path,
      startLine,
      endLine,
      recalls: turns.size,
      lines: factsIn(snippet)
        .filter((line) => !known(line))
        .slice(0, MAX_LINES),
    }))
    .filter(({ lines }) => lines.length > 0)
    .toSorted((a, b) => b.recalls - a.recalls || (a.path < b.path ? -1 : 1))
    .map((found, index) => ({ n: index + 1, ...found, diff: diffOf(main, found) }));
}
