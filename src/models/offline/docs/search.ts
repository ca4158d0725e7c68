import { clip } from "../../../base/text.ts";
import type { DocSection } from "./pages.ts";

/** Stop words. */
const EMPTY = new Set(
  "a about all an and any are as at be but by can could did do does explain find for from get give go had happen happens has have help how i if in into is it its like make may me mean means my need no not of on one or please show set should so some tell than that the their them then there these they this to up us use used uses using want was way we what when which who why will with work works would write you your".split(
    " ",
  ),
);
/** The product's own name is on every page. */
const EVERYWHERE = new Set(["openclaw"]);
/** Weight of a word in the section's own heading, and in those above it, relative to the text. */
const OWN_HEADING = 1;
const UPPER_HEADING = 0.3;
/** Reference lists for programmers contain every word somewhere: they answer when nothing else does. */
const REFERENCE = /^docs\/(?:protocol\.md|plugins\/)/;
const REFERENCE_WEIGHT = 0.3;
/** A section must match this share of the query, weighted by how rare the words are. */
const LEAST_SHARE = 0.55;

export interface DocAnswer {
  readonly section: DocSection;
  /** The best matching paragraphs and table rows, as text. */
  readonly text: string;
}

/** The words of a text, stemmed. */
export function wordsOf(text: string): readonly string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}_-]*/gu) ?? []).filter((word) => !EMPTY.has(word) && !EVERYWHERE.has(word)).map(stem);
}

function stem(word: string): string {
  if (word.length <= 3) return word;
  return word.replace(/(?:ies)$/, "y").replace(/(?<=\w{3})(?:ing|ed|es|s)$/, "");
}

interface Indexed {
  readonly section: DocSection;
  readonly own: ReadonlySet<string>;
  readonly upper: ReadonlySet<string>;
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

/** Built once, searched often. */
export interface DocIndex {
  find(question: string): DocAnswer | undefined;
}

export function createDocIndex(sections: readonly DocSection[]): DocIndex {
  const indexed = sections.map(indexOf);
  const inSections = new Map<string, number>();
  for (const { counts, own, upper } of indexed)
    for (const word of new Set([...counts.keys(), ...own, ...upper])) inSections.set(word, (inSections.get(word) ?? 0) + 1);
  const rarity = (word: string): number => Math.log(1 + indexed.length / (1 + (inSections.get(word) ?? 0)));

  return {
    find(question) {
      const asked = [...new Set(wordsOf(question))];
      const whole = asked.reduce((sum, word) => sum + rarity(word), 0);
      if (whole === 0) return undefined;
      let best: { readonly section: DocSection; readonly score: number } | undefined;
      for (const { section, own, upper, counts, length } of indexed) {
        let score = 0;
        let share = 0;
        for (const word of asked) {
          const count = counts.get(word) ?? 0;
          const heading = own.has(word) ? OWN_HEADING : upper.has(word) ? UPPER_HEADING : 0;
          if (count === 0 && heading === 0) continue;
          share += rarity(word);
          score += rarity(word) * (count / (count + 1 + length / 200) + heading);
        }
        if (REFERENCE.test(section.page)) score *= REFERENCE_WEIGHT;
        if (share / whole >= LEAST_SHARE && score > (best?.score ?? 0)) best = { section, score };
      }
      return best && { section: best.section, text: excerpt(best.section.text, new Set(asked)) };
    },
  };
}

function indexOf(section: DocSection): Indexed {
  const counts = new Map<string, number>();
  const words = wordsOf(section.text);
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return {
    section,
    own: new Set(wordsOf(section.headings.at(-1) ?? "")),
    upper: new Set(wordsOf(`${section.headings.slice(0, -1).join(" ")} ${section.page}`)),
    counts,
    length: words.length,
  };
}

const MAX_CHARS = 900;
const MAX_BLOCKS = 3;

/** The parts of a section that match the query, in their order; its start when none does. */
function excerpt(text: string, asked: ReadonlySet<string>): string {
  const blocks = blocksOf(text);
  const scored = blocks.map((block, index) => ({ block, index, score: new Set(wordsOf(block).filter((word) => asked.has(word))).size }));
  const best = Math.max(...scored.map(({ score }) => score));
  const found = scored
    .filter(({ score }) => score * 2 > best)
    .toSorted((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, MAX_BLOCKS)
    .toSorted((a, b) => a.index - b.index);
  const shown = found.length > 0 ? found.map(({ block }) => block) : blocks.slice(0, 1);
  return clip(shown.join("\n\n"), MAX_CHARS);
}

/** Paragraphs, code fences, and table rows one by one without their bars. */
function blocksOf(text: string): readonly string[] {
  let block: string[] = [];
  const blocks = [block];
  let isFenced = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) isFenced = !isFenced;
    if (line.trim() === "" && !isFenced) blocks.push((block = []));
    else block.push(line);
  }
  return blocks.flatMap((lines) => {
    const [first] = lines;
    if (first === undefined) return [];
    return first.startsWith("|") ? lines.slice(2).map((row) => `- ${cellsOf(row).join(": ")}`) : [lines.join("\n")];
  });
}

function cellsOf(row: string): readonly string[] {
  return row
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())
    .filter((cell) => cell !== "");
}
