import type { Entity } from "./objects.ts";

const FOUND: readonly (readonly [type: string, pattern: RegExp])[] = [
  ["bot_command", /(?<![\w/])\/[A-Za-z0-9_]{1,32}(?:@\w{3,32})?/g],
  ["mention", /(?<![\w@])@[A-Za-z]\w{3,31}/g],
  ["url", /https?:\/\/[^\s<>"]+/g],
  ["hashtag", /(?<![\w#])#[\p{L}_][\p{L}\p{N}_]*/gu],
];

/** What the platform finds in a text by itself, outside of what is marked already. */
export function findEntities(text: string, given: readonly Entity[] = []): readonly Entity[] {
  const taken = (at: number): boolean =>
    given.some(({ offset, length, type }) => ["code", "pre", "text_link"].includes(type) && at >= offset && at < offset + length);
  const found = FOUND.flatMap(([type, pattern]) => [...text.matchAll(pattern)].map((match) => ({ type, offset: match.index, length: match[0].length })));
  return [...given, ...found.filter(({ offset }) => !taken(offset))].sort((a, b) => a.offset - b.offset || b.length - a.length);
}
