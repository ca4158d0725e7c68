import { createTextMatcher, ERASED } from "../base/erase-text.ts";
import type { Recall } from "./thread/recalls.ts";

/** Lines of a note that were recalled in several turns, and would be known to every conversation in `MEMORY.md`. */
export interface Suggestion {
  readonly n: number;
  readonly path: string;
  /** Where the lines are in the note now. */
  readonly startLine: number;
  readonly endLine: number;
  /** The heading above them, under which they go into `MEMORY.md`. */
  readonly heading?: string | undefined;
  /** In how many turns they were recalled. */
  readonly recalls: number;
  /** The mean of their scores in these turns. */
  readonly score: number;
  readonly lines: readonly string[];
  /** What accepting it does to `MEMORY.md`. */
  readonly diff: string;
}

const LEAST_RECALLS = 3;
/** A passage with a lower score was probably not what the turn needed. The same bar as for passages that are recalled without being asked for. */
const LEAST_SCORE = 0.25;
const MAX_LINES = 8;
const CONTEXT = 2;
const LIST_MARK = /^\s*(?:[-*+]|\d+[.)])\s+(?:\d{2}:\d{2}\s+)?/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/;
/** Headings that only name a day, as notes of days and saved conversations begin with. */
const ONLY_A_DAY = /^(?:session:?\s*)?\d{4}-\d{2}-\d{2}(?:[\sT]+[\d:]+(?:\s*[A-Z]{2,5})?)?$/i;

/** What a line of a note says, without the marks of a list. Empty for headings, and for what a snippet cut off. */
function factOf(line: string): string {
  if (HEADING.test(line)) return "";
  const fact = line.replace(LIST_MARK, "").trim();
  return fact.endsWith("…") || fact.includes(ERASED) ? "" : fact;
}

const factsIn = (snippet: string): ReadonlySet<string> =>
  new Set(
    snippet
      .replace(/\n\nSource: \S+$/, "")
      .split("\n")
      .map(factOf)
      .filter((fact) => fact !== ""),
  );

/** In which turns each fact of each note was recalled, with its best score there. */
function recalledFacts(recalls: readonly Recall[]): ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, number>>> {
  const notes = new Map<string, Map<string, Map<string, number>>>();
  for (const { results, sessionId, asked, entryId } of recalls) {
    // Searching twice in one turn is one recall.
    const turn = `${sessionId} ${asked ?? entryId}`;
    for (const { path, source, snippet, score } of results) {
      if (source !== "memory" || !path.startsWith("memory/") || score < LEAST_SCORE) continue;
      const facts = notes.get(path) ?? new Map<string, Map<string, number>>();
      notes.set(path, facts);
      for (const fact of factsIn(snippet)) {
        const turns = facts.get(fact) ?? new Map<string, number>();
        facts.set(fact, turns.set(turn, Math.max(score, turns.get(turn) ?? 0)));
      }
    }
  }
  return notes;
}

interface Section {
  readonly path: string;
  readonly heading: string | undefined;
  readonly facts: { readonly line: number; readonly fact: string; readonly turns: ReadonlyMap<string, number> }[];
}

/** The facts that are still in a note, by the heading that they stand under. */
function sectionsOf(path: string, text: string, facts: ReadonlyMap<string, ReadonlyMap<string, number>>, known: (fact: string) => boolean): readonly Section[] {
  const sections: Section[] = [];
  const seen = new Set<string>();
  let above: string | undefined;
  let open: Section | undefined;
  for (const [index, written] of text.split(/\r?\n/).entries()) {
    const [, , title] = HEADING.exec(written) ?? [];
    if (title !== undefined) {
      above = title === "" || ONLY_A_DAY.test(title) ? undefined : title;
      open = undefined;
      continue;
    }
    const fact = factOf(written);
    const turns = facts.get(fact);
    if (!turns || turns.size < LEAST_RECALLS || seen.has(fact) || known(fact)) continue;
    seen.add(fact);
    if (!open) sections.push((open = { path, heading: above, facts: [] }));
    if (open.facts.length < MAX_LINES) open.facts.push({ line: index + 1, fact, turns });
  }
  return sections;
}

interface Insertion {
  /** Lines of `MEMORY.md` before the change, and after which of them something is inserted. */
  readonly before: readonly string[];
  readonly at: number;
  readonly added: readonly string[];
}

/** The last line of a section with this heading, counted from 1; undefined when there is none. */
function endOfSection(lines: readonly string[], heading: string): number | undefined {
  const levelOf = (line: string): number => HEADING.exec(line)?.[1]?.length ?? 0;
  const start = lines.findIndex((line) => HEADING.exec(line)?.[2]?.toLowerCase() === heading.toLowerCase());
  if (start === -1) return undefined;
  const next = lines.findIndex((line, index) => index > start && levelOf(line) > 0);
  let end = next === -1 ? lines.length : next;
  while (end > start + 1 && lines[end - 1]?.trim() === "") end -= 1;
  return end;
}

function insertionOf(main: string, { lines, path, heading }: Pick<Suggestion, "lines" | "path" | "heading">): Insertion {
  const items = lines.map((line) => `- ${line} (${path})`);
  if (main.trim() === "") return { before: [], at: 0, added: ["# Memory", "", ...(heading === undefined ? [] : [`## ${heading}`, ""]), ...items] };
  const before = main.replace(/\n$/, "").split("\n");
  if (heading === undefined) {
    // Before the first section: at the end it would belong to whichever section happens to be the last.
    const first = before.findIndex((line) => /^ {0,3}##/.test(line));
    let at = first === -1 ? before.length : first;
    while (at > 0 && before[at - 1]?.trim() === "") at -= 1;
    return { before, at, added: HEADING.test(before[at - 1] ?? "") ? ["", ...items] : items };
  }
  const end = endOfSection(before, heading);
  if (end === undefined) return { before, at: before.length, added: ["", `## ${heading}`, "", ...items] };
  return { before, at: end, added: HEADING.test(before[end - 1] ?? "") ? ["", ...items] : items };
}

/** `MEMORY.md` with what was accepted, under its heading. */
export function withSuggestion(main: string, suggestion: Pick<Suggestion, "lines" | "path" | "heading">): string {
  const { before, at, added } = insertionOf(main, suggestion);
  return `${[...before.slice(0, at), ...added, ...before.slice(at)].join("\n")}\n`;
}

function diffOf(main: string, suggestion: Pick<Suggestion, "lines" | "path" | "heading">): string {
  const { before, at, added } = insertionOf(main, suggestion);
  const [above, below] = [before.slice(Math.max(0, at - CONTEXT), at), before.slice(at, at + CONTEXT)];
  const same = above.length + below.length;
  const from = at - above.length + 1;
  const head = `@@ -${same === 0 ? 0 : from},${same} +${from},${same + added.length} @@`;
  const kept = (lines: readonly string[]): readonly string[] => lines.map((line) => ` ${line}`);
  return ["--- MEMORY.md", "+++ MEMORY.md", head, ...kept(above), ...added.map((line) => `+${line}`), ...kept(below)].join("\n");
}

/** Notes whose text `suggestionsOf` compares with what was recalled. */
export const recalledNotes = (recalls: readonly Recall[]): readonly string[] => [...recalledFacts(recalls).keys()];

/**
 * Lines of notes that are recalled again and again, what helped most first: by the number of turns, weighted with the scores. Only what is in the note
 * now, by `notes`: a line that was forgotten or changed since it was recalled is not offered. What `MEMORY.md` already says is left out.
 */
export function suggestionsOf(recalls: readonly Recall[], main: string, notes: ReadonlyMap<string, string>): readonly Suggestion[] {
  const known = (fact: string): boolean => createTextMatcher([fact])(main);
  return [...recalledFacts(recalls)]
    .flatMap(([path, facts]) => sectionsOf(path, notes.get(path) ?? "", facts, known))
    .map(({ path, heading, facts }) => {
      const scores = facts.flatMap(({ turns }) => [...turns.values()]);
      return {
        path,
        startLine: Math.min(...facts.map(({ line }) => line)),
        endLine: Math.max(...facts.map(({ line }) => line)),
        ...(heading === undefined ? {} : { heading }),
        recalls: Math.max(...facts.map(({ turns }) => turns.size)),
        score: Math.round((scores.reduce((sum, score) => sum + score, 0) / scores.length) * 1000) / 1000,
        lines: facts.map(({ fact }) => fact),
      };
    })
    .toSorted((a, b) => b.recalls * b.score - a.recalls * a.score || (a.path < b.path ? -1 : a.path > b.path ? 1 : a.startLine - b.startLine))
    .map((found, index) => ({ n: index + 1, ...found, diff: diffOf(main, found) }));
}
