import { citationOf, type SearchHit, type Source } from "./types.ts";
import { shownTime } from "./zone.ts";

/** A passage as a turn was given it. */
export interface InjectedPassage {
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly score: number;
  readonly source: Source;
  readonly snippet: string;
}

/** How a passage begins that `memorySearch.recall: "inject"` adds to a message. Its other lines are indented, so that no text can begin a passage of its own. */
const BEGINS = /^- (\S.*)#L(\d+)(?:-L(\d+))? \(.*; score (0(?:\.\d+)?|1(?:\.0+)?)\): (.*)$/;
const INDENT = "  ";

/** Passages as text for a message, each with where it is from. The transcript is the record of what was given: `parsePassages` reads this again. */
export function passagesText(hits: readonly SearchHit[], { timeZone, mostChars }: { readonly timeZone: string; readonly mostChars: number }): string {
  return hits
    .map((hit) => {
      const who = (hit.source === "memory" ? "note" : (hit.speaker ?? hit.role ?? "message")).replaceAll(/\s+/g, " ");
      const facts = [who, shownTime(hit, timeZone)?.slice(0, 10)].filter((fact) => fact !== undefined).join(", ");
      const text = hit.snippet
        .slice(0, mostChars)
        .toWellFormed()
        .split(/\r\n?|\n/)
        .join(`\n${INDENT}`);
      return `- ${citationOf(hit)} (${facts}; score ${hit.score.toFixed(2)}): ${text}`;
    })
    .join("\n");
}

/** The passages in a text that `passagesText` made. */
export function parsePassages(text: string): readonly InjectedPassage[] {
  const found: (Omit<InjectedPassage, "snippet"> & { readonly lines: string[] })[] = [];
  for (const line of text.split("\n")) {
    const [begins, path = "", first, last = first, score, rest = ""] = BEGINS.exec(line) ?? [];
    if (begins === undefined) {
      if (line.startsWith(INDENT)) found.at(-1)?.lines.push(line.slice(INDENT.length));
      continue;
    }
    const source = /^sessions\/[^/]+$/.test(path) ? "sessions" : "memory";
    found.push({ path, startLine: Number(first), endLine: Number(last), score: Number(score), source, lines: [rest] });
  }
  return found.map(({ lines, ...passage }) => ({ ...passage, snippet: lines.join("\n") }));
}
