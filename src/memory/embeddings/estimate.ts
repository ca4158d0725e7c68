/** A request carries at most this many estimated tokens. */
const REQUEST_TOKENS = 8000;

/** About four bytes each. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

export const estimateAll = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + estimateTokens(text), 0);

/** The beginning of a text that is surely below a provider's limit: no token has less than one byte. */
export function cutToTokens(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text;
  let cut = text.slice(0, most);
  while (Buffer.byteLength(cut) > most) cut = cut.slice(0, Math.floor((cut.length * most) / Buffer.byteLength(cut)));
  return cut.toWellFormed();
}

/** Texts in groups that one request can carry. A text that is larger than a request is a group of its own. */
export function groupByTokens<T extends { readonly text: string }>(items: readonly T[], maxTexts: number): readonly (readonly T[])[] {
  const groups: T[][] = [];
  let size = 0;
  for (const item of items) {
    const tokens = estimateTokens(item.text);
    const last = groups.at(-1);
    if (last && size + tokens <= REQUEST_TOKENS && last.length < maxTexts) {
      last.push(item);
      size += tokens;
    } else {
      groups.push([item]);
      size = tokens;
    }
  }
  return groups;
}
