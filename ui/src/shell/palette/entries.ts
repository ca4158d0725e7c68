import type { IconName } from "../../look/icons.ts";
import { t } from "../../words/words.ts";

/** One thing that can be opened or done from the palette. */
export interface Entry {
  readonly id: string;
  readonly group: Group;
  readonly icon: IconName;
  /** A verb and its object, or the name of a place. */
  readonly label: string;
  /** Where it is, or what it is about. */
  readonly hint?: string | undefined;
  /** Keys that do the same without the palette, with `-` between them. */
  readonly keys?: string | undefined;
  readonly needsPerson?: boolean;
  /** Opens or does it. The palette is closed by then. */
  readonly run: () => unknown;
  /** It needs a text first: the palette asks for it, and the entry for what was typed does it. */
  readonly ask?: { readonly hint: string; readonly value: string; readonly entry: (text: string) => Entry } | undefined;
  /** What else can be done with it, behind Tab. */
  readonly more?: (() => readonly Entry[]) | undefined;
}

/** Headings of the list, in the order they are shown. */
export const GROUPS = {
  attention: t("Needs attention"),
  object: t("This page"),
  recent: t("Recent"),
  commands: t("Commands"),
  chats: t("Chats"),
  things: t("Automation and settings"),
  pages: t("Pages"),
  memory: t("Memory"),
} as const;
export type Group = keyof typeof GROUPS;

/** What the first letter of the input narrows the list to. */
export type Mode = "all" | "commands" | "chats" | "settings";

const MODES: Readonly<Record<string, Mode>> = { ">": "commands", "@": "chats", "#": "settings" };

/** The input, taken apart: `>`, `@` or `#` in front, and the words. */
export function readInput(input: string): { readonly mode: Mode; readonly words: string } {
  const text = input.trimStart();
  const mode = MODES[text.charAt(0)] ?? "all";
  return { mode, words: (mode === "all" ? text : text.slice(1)).trim() };
}

const GROUPS_OF: Readonly<Record<Mode, readonly Group[]>> = {
  all: Object.keys(GROUPS) as Group[],
  commands: ["object", "commands", "things"],
  chats: ["recent", "chats"],
  settings: ["things"],
};

const wordsOf = (text: string): readonly string[] => text.toLowerCase().split(/\s+/).filter(Boolean);

/** From so many letters on a word may have one that is wrong, missing, too many or changed places with the next. */
const TOLERANT = 4;

/** True when one mistake at most lies between two words. */
function isNear(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  const swapped = a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
  return swapped || a.slice(at + 1) === b.slice(at + 1) || a.slice(at) === b.slice(at + 1) || a.slice(at + 1) === b.slice(at);
}

/** True when a word of the text is meant, or begins as it does, though one letter was mistyped. */
const isMeant = (word: string, text: string): boolean =>
  word.length >= TOLERANT &&
  text.split(/[^\p{L}\p{N}]+/u).some((other) => other.length >= TOLERANT - 1 && [0, -1, 1].some((more) => isNear(word, other.slice(0, word.length + more))));

const has = (text: string, word: string): boolean => text.includes(word) || isMeant(word, text);

/** Whether every word is in the label or the hint; one letter of each may be mistyped. */
export function fits({ label, hint = "" }: Pick<Entry, "label" | "hint">, words: string): boolean {
  const text = `${label} ${hint}`.toLowerCase();
  return wordsOf(words).every((word) => has(text, word));
}

/** 0: the label begins with the words; 1: a word of it does; 2: it has them; 3: the hint has them; 4: one was mistyped. */
function rank({ label, hint = "" }: Entry, words: string): number {
  const name = label.toLowerCase();
  const wanted = words.toLowerCase();
  if (wanted === "" || name.startsWith(wanted)) return 0;
  if (name.includes(` ${wanted}`)) return 1;
  return wordsOf(wanted).every((word) => name.includes(word)) ? 2 : wordsOf(wanted).every((word) => `${name} ${hint.toLowerCase()}`.includes(word)) ? 3 : 4;
}

/** The entries in the order of their groups; in a group the best first. Each is there once. */
export function arranged(entries: readonly Entry[], mode: Mode, words: string): readonly Entry[] {
  const seen = new Set<string>();
  return GROUPS_OF[mode].flatMap((group) =>
    entries
      .filter(({ id, label, hint, group: own }) => {
        if (own !== group || seen.has(id) || !fits({ label, hint }, words)) return false;
        seen.add(id);
        return true;
      })
      .toSorted((a, b) => rank(a, words) - rank(b, words)),
  );
}

/** A text in pieces: those that the words are in, and those between them. */
export function marked(text: string, words: string): readonly { readonly text: string; readonly isFound: boolean }[] {
  const wanted = wordsOf(words).map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  if (wanted.length === 0) return [{ text, isFound: false }];
  return text
    .split(new RegExp(`(${wanted.join("|")})`, "gi"))
    .map((piece, at) => ({ text: piece, isFound: at % 2 === 1 }))
    .filter((piece) => piece.text !== "");
}
