import type { ExtractMode } from "../settings.ts";

/** Which part of a page a block stood in. */
export type Region = "main" | "article" | "body" | "frame";

export interface Block {
  readonly text: string;
  readonly region: Region;
  /** An item of a list: no empty line before the next one. */
  readonly item: boolean;
}

interface Collector {
  readonly blocks: Block[];
  inline: string[];
  /** Characters in `inline`. */
  length: number;
}

interface Table {
  readonly rows: string[][];
}

const MAX_LISTS = 6;
const MAX_QUOTES = 4;
const MAX_TABLES = 6;
/** A link that holds more than this was never closed. */
const MAX_LINK_CHARS = 400;
const MAX_COLUMNS = 40;

/** Puts the pieces of a page together as Markdown or plain text. Depths are bounded, so that what is written grows with what is read. */
export class PageWriter {
  region: Region = "body";
  readonly #markdown: boolean;
  /** What is outside of all cells, and what is in each open cell. */
  readonly #outside: Collector = { blocks: [], inline: [], length: 0 };
  readonly #cells: Collector[] = [];
  readonly #lists: { readonly ordered: boolean; index: number }[] = [];
  readonly #tables: Table[] = [];
  #quotes = 0;
  #marker = "";
  #heading = 0;
  #pre: string[] | undefined;
  #language = "";
  #link: { readonly url: string; readonly from: number; readonly startedAt: number } | undefined;

  constructor(mode: ExtractMode) {
    this.#markdown = mode === "markdown";
  }

  get #here(): Collector {
    return this.#cells.at(-1) ?? this.#outside;
  }

  text(text: string): void {
    if (this.#pre) {
      this.#pre.push(text);
      return;
    }
    const flat = text.replaceAll(/[ \t\r\n\f\u00A0]+/g, " ");
    const before = this.#here.inline.at(-1)?.at(-1) ?? " ";
    const rest = flat.startsWith(" ") && (before === " " || before === "\n") ? flat.slice(1) : flat;
    if (rest) this.#push(rest);
  }

  #push(text: string): void {
    const here = this.#here;
    here.inline.push(text);
    here.length += text.length;
  }

  lineBreak(): void {
    if (this.#pre) this.#pre.push("\n");
    else if (this.#here.inline.length > 0) this.#push(this.#link || this.#heading > 0 ? " " : "\n");
  }

  /** Ends the paragraph that is being written. */
  block(): void {
    if (this.#pre) return;
    if (this.#link && this.#here.length - this.#link.startedAt <= MAX_LINK_CHARS) {
      this.text(" ");
      return;
    }
    this.closeLink();
    this.#flush();
  }

  #flush(): void {
    const here = this.#here;
    if (here.inline.length === 0) return;
    const whole = here.inline.join("").trim();
    const text = whole.includes("\n") ? whole.replaceAll(/ ?\n ?/g, "\n") : whole;
    here.inline = [];
    here.length = 0;
    if (text) this.#add(this.#heading > 0 && this.#markdown ? `${"#".repeat(this.#heading)} ${text}` : text);
  }

  /** A finished block, indented as deep as it stands. */
  #add(text: string): void {
    const item = this.#marker !== "";
    const depth = Math.min(this.#lists.length, MAX_LISTS);
    const quote = this.#markdown ? "> ".repeat(Math.min(this.#quotes, MAX_QUOTES)) : "";
    const outer = "  ".repeat(Math.max(depth - 1, 0));
    const first = quote + outer + this.#marker;
    const rest = quote + (depth > 0 ? `${outer}  ` : "");
    const head = item ? first : rest;
    this.#marker = "";
    this.#here.blocks.push({ text: head + (head || rest ? text.replaceAll("\n", `\n${rest}`) : text), region: this.region, item });
  }

  openHeading(level: number): void {
    this.block();
    this.#heading = level;
  }

  closeHeading(): void {
    this.block();
    this.#heading = 0;
  }

  openLink(url: string | undefined): void {
    if (this.#pre || this.#link || url === undefined || !this.#markdown) return;
    this.#link = { url, from: this.#here.inline.length, startedAt: this.#here.length };
  }

  closeLink(): void {
    const link = this.#link;
    if (!link) return;
    this.#link = undefined;
    const here = this.#here;
    const text = here.inline.splice(link.from).join("");
    here.length = link.startedAt;
    const shown = text.trim().replaceAll(/[[\]]/g, String.raw`\$&`);
    if (!shown) return this.text(text);
    this.#push(`${/^\s/.test(text) ? " " : ""}[${shown}](${link.url})${/\s$/.test(text) ? " " : ""}`);
  }

  /** Begin and end of code in a line. */
  codeEdge(): void {
    if (!this.#pre && this.#markdown) this.#push("`");
  }

  openPre(): void {
    if (this.#pre) return;
    this.block();
    this.closeLink();
    this.#flush();
    this.#pre = [];
    this.#language = "";
  }

  language(name: string): void {
    this.#language ||= name;
  }

  closePre(): void {
    const text = this.#pre
      ?.join("")
      .replace(/^\r?\n/, "")
      .trimEnd();
    this.#pre = undefined;
    if (!text) return;
    const longest = (text.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
    const fence = "`".repeat(longest + 1);
    this.#add(this.#markdown ? `${fence}${this.#language}\n${text}\n${fence}` : text);
  }

  openList(ordered: boolean): void {
    this.block();
    this.#lists.push({ ordered, index: 0 });
  }

  closeList(): void {
    this.block();
    this.#lists.pop();
    this.#marker = "";
  }

  openItem(): void {
    this.block();
    const list = this.#lists.at(-1);
    this.#marker = list?.ordered ? `${(list.index += 1)}. ` : "- ";
  }

  openQuote(): void {
    this.block();
    this.#quotes += 1;
  }

  closeQuote(): void {
    this.block();
    this.#quotes -= 1;
  }

  rule(): void {
    this.block();
    if (this.#markdown && !this.#link) this.#add("---");
  }

  /** False where tables stand too deep in each other: its cells are paragraphs then. */
  openTable(): boolean {
    this.block();
    this.closeLink();
    this.#flush();
    if (this.#tables.length >= MAX_TABLES) return false;
    this.#tables.push({ rows: [] });
    return true;
  }

  openRow(): void {
    this.#tables.at(-1)?.rows.push([]);
  }

  openCell(): void {
    this.#cells.push({ blocks: [], inline: [], length: 0 });
  }

  closeCell(): void {
    this.closeLink();
    this.#flush();
    const text = joined(this.#cells.pop()?.blocks ?? []);
    const rows = this.#tables.at(-1)?.rows;
    const row = rows?.at(-1);
    if (row) row.push(text);
    else rows?.push([text]);
  }

  closeTable(): void {
    const all = this.#tables.pop()?.rows ?? [];
    const rows = all.filter((row) => row.some((cell) => cell !== ""));
    const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
    if (width === 0) return;
    const laidOut = width < 2 || rows.length < 2 || width > MAX_COLUMNS || rows.some((row) => row.some((cell) => cell.includes("\n")));
    if (laidOut) for (const row of rows) this.#addRow(row);
    else this.#add(this.#markdown ? pipes(rows, width) : rows.map((row) => row.join("\t")).join("\n"));
  }

  /** A row of a table that only arranges: its cells one after the other. */
  #addRow(row: readonly string[]): void {
    const cells = row.filter((cell) => cell !== "");
    const short = cells.every((cell) => !cell.includes("\n"));
    for (const text of short ? [cells.join(" ")] : cells) this.#add(text);
  }

  /** Everything that was written. */
  end(): readonly Block[] {
    while (this.#cells.length > 0) this.closeCell();
    this.closePre();
    this.closeLink();
    this.#flush();
    while (this.#tables.length > 0) this.closeTable();
    return this.#outside.blocks;
  }
}

function pipes(rows: readonly (readonly string[])[], width: number): string {
  const line = (cells: readonly string[]): string =>
    `| ${Array.from({ length: width }, (_, index) => (cells[index] ?? "").replaceAll("|", String.raw`\|`)).join(" | ")} |`;
  const [head = [], ...rest] = rows;
  return [line(head), `|${" --- |".repeat(width)}`, ...rest.map((row) => line(row))].join("\n");
}

/** Blocks as one text. */
export function joined(blocks: readonly Block[]): string {
  return blocks.map(({ text, item }, index) => (index === 0 ? "" : item && blocks[index - 1]?.item ? "\n" : "\n\n") + text).join("");
}
