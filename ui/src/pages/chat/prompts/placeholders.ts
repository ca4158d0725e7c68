/** `{name}` in a prompt: something to be written in its place. Not `{}`, and nothing that is longer than a name, such as code. */
const PLACEHOLDER = /(?<![{$\\])\{([\p{L}\p{N}_][\p{L}\p{N}_ .,'’/-]{0,59})\}(?!\})/gu;

/** Where a placeholder stands in a text. */
export interface Placeholder {
  readonly from: number;
  readonly to: number;
  readonly name: string;
}

/** The placeholders of a text, in their order. */
export const placeholdersIn = (text: string): readonly Placeholder[] =>
  [...text.matchAll(PLACEHOLDER)].map((found) => ({ from: found.index, to: found.index + found[0].length, name: found[1] ?? "" }));

/** The next placeholder from a position on, or the first one. */
export function nextPlaceholder(text: string, from: number): Placeholder | undefined {
  const all = placeholdersIn(text);
  return all.find((one) => one.from >= from) ?? all[0];
}
