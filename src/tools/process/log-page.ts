const PAGE_LINES = 200;

/** Lines of an output. Without offset and limit the last of them; only a limit means the last so many; only an offset goes to the end. */
export function logPage(text: string, offset?: number, limit?: number): { readonly text: string; readonly totalLines: number } {
  const lines = text === "" ? [] : text.replace(/\r?\n$/, "").split("\n");
  const count = limit ?? (offset === undefined ? PAGE_LINES : lines.length);
  const from = offset ?? Math.max(0, lines.length - count);
  const page = lines.slice(from, from + count).join("\n");
  const cut = offset === undefined && limit === undefined && lines.length > PAGE_LINES;
  return { text: cut ? `${page}\n\n[the last ${PAGE_LINES} of ${lines.length} lines; use offset and limit for others]` : page, totalLines: lines.length };
}
