/** The Markdown of A2UI's Text: headings, lists, code, strong and emphasised words. HTML, pictures and links stay text. Linear. */
export interface Span {
  readonly kind: "text" | "strong" | "em" | "code";
  readonly text: string;
}

export type Block =
  | { readonly kind: "paragraph"; readonly spans: readonly Span[] }
  | { readonly kind: "heading"; readonly level: number; readonly spans: readonly Span[] }
  | { readonly kind: "list"; readonly isOrdered: boolean; readonly items: readonly (readonly Span[])[] }
  | { readonly kind: "code"; readonly text: string };

const MARKS = [
  ["`", "code"],
  ["**", "strong"],
  ["__", "strong"],
  ["*", "em"],
  ["_", "em"],
] as const;

const isWord = (sign: string | undefined): boolean => sign !== undefined && /[\p{L}\p{N}]/u.test(sign);

/** Where a mark at this place is closed; undefined when it opens nothing. */
function closing(text: string, at: number, mark: string): number | undefined {
  const from = at + mark.length;
  if (/\s|^$/.test(text[from] ?? "")) return undefined;
  if (mark.startsWith("_") && isWord(text[at - 1])) return undefined;
  const end = text.indexOf(mark, from + 1);
  return end < 0 || (mark !== "`" && /\s/.test(text[end - 1]!)) || (mark.startsWith("_") && isWord(text[end + mark.length])) ? undefined : end;
}

function spansOf(text: string): readonly Span[] {
  const spans: Span[] = [];
  const absent = new Set<string>();
  let plain = 0;
  for (let at = 0; at < text.length; at += 1) {
    const [mark, kind] = MARKS.find(([sign]) => text.startsWith(sign, at)) ?? [];
    if (mark === undefined || kind === undefined || absent.has(mark)) continue;
    const end = closing(text, at, mark);
    if (end === undefined) {
      // Once there is none further on, none is looked for again.
      if (!text.includes(mark, at + mark.length + 1)) absent.add(mark);
      at += mark.length - 1;
      continue;
    }
    if (plain < at) spans.push({ kind: "text", text: text.slice(plain, at) });
    spans.push({ kind, text: text.slice(at + mark.length, end) });
    plain = end + mark.length;
    at = plain - 1;
  }
  if (plain < text.length) spans.push({ kind: "text", text: text.slice(plain) });
  return spans;
}

const HEADING = /^(#{1,5})\s+(\S.*)$/;
const ITEM = /^\s{0,3}(?:[-*+]|(\d{1,4})[.)])\s+(\S.*)$/;

export function parseSimpleMarkdown(text: string): readonly Block[] {
  const blocks: Block[] = [];
  const lines = text.split("\n");
  let words: string[] = [];
  const endParagraph = (): void => {
    if (words.length > 0) blocks.push({ kind: "paragraph", spans: spansOf(words.join("\n")) });
    words = [];
  };
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!;
    const heading = HEADING.exec(line);
    const item = ITEM.exec(line);
    if (line.startsWith("```")) {
      endParagraph();
      const code: string[] = [];
      for (at += 1; at < lines.length && !lines[at]!.startsWith("```"); at += 1) code.push(lines[at]!);
      blocks.push({ kind: "code", text: code.join("\n") });
    } else if (heading) {
      endParagraph();
      blocks.push({ kind: "heading", level: heading[1]!.length, spans: spansOf(heading[2]!) });
    } else if (item) {
      endParagraph();
      const isOrdered = item[1] !== undefined;
      const last = blocks.at(-1);
      const spans = spansOf(item[2]!);
      if (last?.kind === "list" && last.isOrdered === isOrdered) blocks[blocks.length - 1] = { ...last, items: [...last.items, spans] };
      else blocks.push({ kind: "list", isOrdered, items: [spans] });
    } else if (line.trim() === "") endParagraph();
    else words.push(line);
  }
  endParagraph();
  return blocks;
}
