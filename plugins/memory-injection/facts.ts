import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { readJsonFileWithFallback, writeJsonFileAtomically } from "openclaw/plugin-sdk/json-store";

export interface Fact {
  readonly id: string;
  readonly text: string;
}

export interface Facts {
  /** The same text is kept once. */
  add(text: string): Promise<Fact>;
  /** Deletes every fact that has all words of `words`; how many. */
  remove(words: string): Promise<number>;
  /** The facts that share the most words with a text; none when none shares any. */
  about(text: string, most: number): Promise<readonly Fact[]>;
}

const LONGEST = 500;

/** Words worth comparing: short ones are in every sentence. */
const wordsOf = (text: string): ReadonlySet<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []);

/** Facts in a JSON file. Changes follow each other, so that none is lost. */
export function openFacts(path: string, most: number): Facts {
  let last: Promise<unknown> = Promise.resolve();
  const read = async (): Promise<readonly Fact[]> => (await readJsonFileWithFallback<readonly Fact[]>(path, [])).value;

  function change<T>(edit: (facts: readonly Fact[]) => { readonly facts: readonly Fact[]; readonly result: T }): Promise<T> {
    const done = last.then(async () => {
      const { facts, result } = edit(await read());
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await writeJsonFileAtomically(path, facts.slice(-most));
      return result;
    });
    last = done.catch(() => {});
    return done;
  }

  return {
    add(given) {
      const text = given.replaceAll(/\s+/g, " ").trim().slice(0, LONGEST);
      const fact = { id: createHash("sha256").update(text.toLowerCase()).digest("hex").slice(0, 16), text };
      return change((facts) => ({ facts: [...facts.filter(({ id }) => id !== fact.id), fact], result: fact }));
    },
    remove(words) {
      const wanted = [...wordsOf(words)];
      return change((facts) => {
        const kept = facts.filter(({ text }) => wanted.length === 0 || !wanted.every((word) => wordsOf(text).has(word)));
        return { facts: kept, result: facts.length - kept.length };
      });
    },
    async about(text, count) {
      const words = wordsOf(text);
      const scored = (await read()).map((fact) => ({ fact, score: [...wordsOf(fact.text)].filter((word) => words.has(word)).length }));
      return scored
        .filter(({ score }) => score > 0)
        .sort((a, b) => b.score - a.score)
        .slice(0, count)
        .map(({ fact }) => fact);
    },
  };
}
