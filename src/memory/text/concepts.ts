import { readFileSync } from "node:fs";
import type { Analyser } from "./analyser.ts";
import { LANGUAGES, type Language } from "./languages.ts";
import { dataFile } from "../data-file.ts";

/** Groups of everyday words that a question and its answer use for the same thing: `pet dog cat`, `job work employer`. */
export interface Concepts {
  /** Stems of the words in the groups of a word, without its own. */
  related(word: string, stem: string, language: Language): readonly string[];
}

const isLanguage = (value: string): value is Language => LANGUAGES.some((language) => language === value);

/** Reads lines of the form `en: pet dog cat puppy`. */
export function createConcepts(text: string, analyser: Analyser): Concepts {
  const groups: (readonly string[])[] = [];
  const byStem = new Map<string, number[]>();
  for (const line of text.split("\n")) {
    const [head = "", rest] = line.split(":", 2);
    const language = head.trim();
    if (rest === undefined || !isLanguage(language)) continue;
    const stems = [
      ...new Set(
        rest
          .trim()
          .split(/\s+/)
          .map((word) => analyser.stem(word, language)),
      ),
    ];
    const n = groups.push(stems) - 1;
    for (const stem of stems) byStem.set(`${language} ${stem}`, [...(byStem.get(`${language} ${stem}`) ?? []), n]);
  }
  return {
    related(word, stem, language) {
      const own = new Set([stem, word]);
      const found = new Set<string>();
      for (const key of [`${language} ${stem}`, `${language} ${word}`]) {
        for (const n of byStem.get(key) ?? []) for (const other of groups[n] ?? []) if (!own.has(other)) found.add(other);
      }
      return [...found];
    },
  };
}

/** The groups of words that are shipped. Without the file nothing is expanded. */
export function loadConcepts(analyser: Analyser): Concepts {
  let text = "";
  try {
    text = readFileSync(dataFile("concepts.txt"), "utf8");
  } catch {
    // The search works without it, with less to go by.
  }
  return createConcepts(text, analyser);
}
