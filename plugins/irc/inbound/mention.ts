/** Whether we are spoken to. */
import { escapeRegExp } from "openclaw/plugin-sdk";

/** A nick has letters, digits and these. */
const IN_NICK = "[\\w\\[\\]\\\\`^{|}-]";

/** The name as a word of its own, with `:` or `,` behind it at the beginning of a text. */
export function nickPattern(nick: string): string {
  return `(?<!${IN_NICK})@?${escapeRegExp(nick)}(?!${IN_NICK})`;
}

/** For the beginning of a text: the name and what separates it from the rest. */
export const addressPattern = (nick: string): string => `^\\s*@?${escapeRegExp(nick)}(?!${IN_NICK})\\s*[:,]?\\s*`;

/** Expressions that are none are left out. */
export function readPatterns(patterns: readonly string[]): RegExp[] {
  return patterns.flatMap((pattern) => {
    try {
      return new RegExp(pattern, "i");
    } catch {
      return [];
    }
  });
}

export function isMentioned(text: string, nicks: readonly string[], patterns: readonly RegExp[]): boolean {
  return nicks.some((nick) => new RegExp(nickPattern(nick), "i").test(text)) || patterns.some((pattern) => pattern.test(text));
}
