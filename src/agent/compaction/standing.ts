import { clip } from "../../base/text.ts";
import type { PathItem } from "../../sessions/index.ts";
import { textOf } from "./conversation.ts";

/** Words by which somebody says that something is to hold from now on. */
const LASTING =
  /\b(?:always|never|remember|from now on|keep in mind|(?:don'?t|do not) (?:ever|forget)|at all times|under no circumstances|no matter what|immer|niemals|merk dir|toujours|jamais|siempre|nunca)\b/i;
const MAX_SENTENCE_CHARS = 400;
/** Longer ones are pasted text, not something a person said. */
const MAX_MESSAGE_CHARS = 8_000;
const MAX_SENTENCES = 60;

/** What the gateway wrote around a person's words: event lines, metadata in fences, the time in front. */
function spoken(text: string): string {
  return text
    .replaceAll(/^[^\n]*\(untrusted[^\n]*\):\n```[\s\S]*?(?:\n```|$)/gm, "")
    .replaceAll(/```[\s\S]*?(?:```|$)/g, "")
    .replaceAll(/^System: \[[^\n]*$/gm, "")
    .replaceAll(/^\[[^\]\n]{0,200}\]:? */gm, "");
}

/** Sentences of a person that are meant to last, word for word. Questions are none, and neither is what other sessions or programs said. */
function lastingSentences({ byUser, message }: PathItem): readonly string[] {
  if (!byUser || !message) return [];
  const text = textOf(message);
  if (text.length > MAX_MESSAGE_CHARS) return [];
  return spoken(text)
    .split(/(?<=[.!?。！？])\s+|\n+/)
    .map((sentence) => sentence.replaceAll(/\s+/g, " ").trim())
    .filter((sentence) => LASTING.test(sentence) && !sentence.endsWith("?"))
    .map((sentence) => clip(sentence, MAX_SENTENCE_CHARS));
}

/** What the user wants to hold for good: what was known before and what these messages add, each once, the latest last. */
export function standingInstructions(items: readonly PathItem[], before: readonly string[] = []): readonly string[] {
  const found = new Set(before);
  for (const item of items) {
    for (const sentence of lastingSentences(item)) {
      found.delete(sentence);
      found.add(sentence);
    }
  }
  return [...found].slice(-MAX_SENTENCES);
}
