/** Markdown's marks taken out of one line, for lists that show how something begins. Not a reader of Markdown: what looks odd stays. */
export function plain(text: string): string {
  return text
    .replaceAll(/```[a-z]*|\*\*|__|~~|`/gi, "")
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/(^|\s)(?:#{1,6}|>|[-*+])(?=\s)/g, "$1")
    .replaceAll(/\|?(?:\s*:?-{3,}:?\s*\|)+|\|/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
}
