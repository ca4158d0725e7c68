import type { ExtractMode } from "../settings.ts";
import { decodeText, scanHtml, type Attributes } from "./scan.ts";
import { joined, PageWriter, type Block, type Region } from "./writer.ts";

/** What a reader sees of a page. */
export interface Page {
  readonly title?: string;
  readonly text: string;
}

/** Larger or deeper pages are only stripped of their tags. */
const MAX_CHARS = 1_000_000;
const MAX_DEPTH = 3000;
/** How far an opening tag looks for what it ends. */
const LOOK_BACK = 64;
/** Part of a page that says less than this is not what the page is about. */
const MIN_PART_CHARS = 140;
const MIN_PART_SHARE = 0.2;

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));
const VOID = words("area base br col embed hr img input link meta param source track wbr");
const DROPPED = words("script style noscript template svg iframe object embed canvas audio video map button select textarea datalist noembed noframes head");
const BLOCKS = words(
  "address article aside blockquote body center details dialog dd div dl dt fieldset figcaption figure footer form header hgroup html legend main menu nav ol p pre search section summary ul table h1 h2 h3 h4 h5 h6 hr",
);
const IN_HEAD = words("title meta link base script style noscript template");
const FRAME = words("nav footer aside search");
const FRAME_ROLES = words("navigation banner contentinfo complementary search dialog alertdialog menu menubar");
const HIDDEN_CLASSES = /(?:^|\s)(?:sr-only|visually-hidden|screen-reader-text)(?:\s|$)/;
const HIDDEN_STYLE =
  /(?:^|;)(?:display:none|visibility:(?:hidden|collapse)|opacity:0?(?:\.0+)?(?:;|!|$)|font-size:0(?:[a-z%]*)(?:;|!|$)|color:transparent|text-indent:-\d{3,}|(?:left|top|margin-left):-\d{4,})/;

interface Ending {
  readonly ends: ReadonlySet<string>;
  readonly within: ReadonlySet<string>;
}

/** Which open elements a tag ends without saying so, and where that stops. */
const IMPLIED: Readonly<Record<string, Ending>> = {
  li: { ends: words("li"), within: words("ul ol menu table td th") },
  dt: { ends: words("dt dd"), within: words("dl table td th") },
  dd: { ends: words("dt dd"), within: words("dl table td th") },
  tr: { ends: words("tr td th"), within: words("table") },
  td: { ends: words("td th"), within: words("tr table") },
  th: { ends: words("td th"), within: words("tr table") },
  tbody: { ends: words("thead tbody tfoot tr td th"), within: words("table") },
  tfoot: { ends: words("thead tbody tfoot tr td th"), within: words("table") },
  a: { ends: words("a"), within: words("table td th li") },
};
const ENDS_PARAGRAPH = { ends: words("p"), within: words("div li td th table section article blockquote ul ol dl body") };

interface Open {
  readonly name: string;
  readonly hidden: boolean;
  readonly frame: boolean;
  readonly close?: (() => void) | undefined;
}

/** The readable part of a page; the whole where none stands out. Runs in time that grows with the page and nothing else. */
export async function readPage(html: string, options: { readonly url: string; readonly mode: ExtractMode }): Promise<Page> {
  if (html.length > MAX_CHARS) return strippedPage(html);
  const reader = new PageReader(options.url, options.mode);
  await scanHtml(html, reader);
  return reader.tooDeep ? strippedPage(html) : reader.page();
}

class PageReader {
  tooDeep = false;
  readonly #writer: PageWriter;
  readonly #open: Open[] = [];
  readonly #counts = new Map<string, number>();
  #base: string;
  #hidden = 0;
  #frame = 0;
  #title: string | undefined;
  #metaTitle: string | undefined;

  constructor(url: string, mode: ExtractMode) {
    this.#base = url;
    this.#writer = new PageWriter(mode);
  }

  text(raw: string): void {
    if (this.#open.at(-1)?.name === "title") this.#title ??= decodeText(raw).replaceAll(/\s+/g, " ").trim();
    else if (this.#hidden === 0) this.#writer.text(decodeText(raw));
  }

  open(name: string, attributes: Attributes): void {
    if (this.#counts.get("head") && !IN_HEAD.has(name)) this.#leave("head");
    this.#readHead(name, attributes);
    this.#endImplied(name);
    if (VOID.has(name)) return this.#void(name, attributes);
    if (this.#open.length >= MAX_DEPTH) this.tooDeep = true;
    if (this.tooDeep) return;
    const hidden = DROPPED.has(name) || name === "title" || isHidden(name, attributes);
    const frame = this.#isFrame(name, attributes);
    if (hidden) this.#hidden += 1;
    if (this.#hidden === 0 && BLOCKS.has(name)) this.#writer.block();
    if (frame) this.#frame += 1;
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    this.#setRegion();
    const close = this.#hidden === 0 ? this.#write(name, attributes) : undefined;
    this.#open.push({ name, hidden, frame, close });
  }

  close(name: string): void {
    if (name === "p" && !this.#counts.get("p") && this.#hidden === 0) this.#writer.block();
    this.#leave(name);
  }

  /** Ends an element and what stands open in it. */
  #leave(name: string): void {
    if (!this.#counts.get(name)) return;
    while (this.#pop() !== name) continue;
  }

  #pop(): string | undefined {
    const last = this.#open.pop();
    if (!last) return undefined;
    last.close?.();
    if (this.#hidden === 0 && BLOCKS.has(last.name)) this.#writer.block();
    if (last.hidden) this.#hidden -= 1;
    if (last.frame) this.#frame -= 1;
    this.#counts.set(last.name, (this.#counts.get(last.name) ?? 1) - 1);
    this.#setRegion();
    return last.name;
  }

  #endImplied(name: string): void {
    const implied = Object.hasOwn(IMPLIED, name) ? IMPLIED[name] : undefined;
    if (implied) this.#endThrough(implied);
    if (this.#counts.get("p") && BLOCKS.has(name)) this.#endThrough(ENDS_PARAGRAPH);
  }

  #endThrough({ ends, within }: Ending): void {
    const near = this.#open.slice(-LOOK_BACK);
    const inside = near.slice(near.findLastIndex(({ name }) => within.has(name)) + 1);
    const found = inside.findIndex(({ name }) => ends.has(name));
    if (found === -1) return;
    for (let left = inside.length - found; left > 0; left -= 1) this.#pop();
  }

  #isFrame(name: string, attributes: Attributes): boolean {
    if (FRAME.has(name) || FRAME_ROLES.has(attributes.get("role") ?? "")) return true;
    return name === "header" && !this.#counts.get("main") && !this.#counts.get("article");
  }

  #setRegion(): void {
    const part: Region = this.#counts.get("main") ? "main" : this.#counts.get("article") ? "article" : "body";
    this.#writer.region = this.#frame > 0 ? "frame" : part;
  }

  #readHead(name: string, attributes: Attributes): void {
    if (name === "base") this.#base = this.#link(attributes.get("href") ?? "") ?? this.#base;
    if (name === "meta" && attributes.get("property") === "og:title") this.#metaTitle ??= decodeText(attributes.get("content") ?? "").trim();
  }

  #link(href: string): string | undefined {
    const written = decodeText(href).trim();
    if (written === "" || written.startsWith("#") || !URL.canParse(written, this.#base)) return undefined;
    const url = new URL(written, this.#base);
    if (!["http:", "https:", "mailto:"].includes(url.protocol)) return undefined;
    return url.href.replaceAll("(", "%28").replaceAll(")", "%29");
  }

  #void(name: string, attributes: Attributes): void {
    if (this.#hidden > 0) return;
    if (name === "br") this.#writer.lineBreak();
    else if (name === "hr") this.#writer.rule();
    else if (name === "img" && !isHidden(name, attributes)) {
      const alt = decodeText(attributes.get("alt") ?? "").trim();
      if (alt) this.#writer.text(` ${alt} `);
    }
  }

  /** Begins what an element is written as; what it gives back ends it. */
  #write(name: string, attributes: Attributes): (() => void) | undefined {
    const writer = this.#writer;
    switch (name) {
      case "a":
        writer.openLink(this.#link(attributes.get("href") ?? ""));
        return () => writer.closeLink();
      case "ul":
      case "ol":
      case "menu":
        writer.openList(name === "ol");
        return () => writer.closeList();
      case "li":
        writer.openItem();
        return () => writer.block();
      case "blockquote":
        writer.openQuote();
        return () => writer.closeQuote();
      case "pre":
        if ((this.#counts.get("pre") ?? 0) > 1) return undefined;
        writer.openPre();
        writer.language(languageOf(attributes));
        return () => writer.closePre();
      case "code":
      case "kbd":
      case "samp":
        if (this.#counts.get("pre")) {
          writer.language(languageOf(attributes));
          return undefined;
        }
        writer.codeEdge();
        return () => writer.codeEdge();
      case "table":
        return writer.openTable() ? () => writer.closeTable() : undefined;
      case "tr":
        if (this.#inTable()) writer.openRow();
        else writer.block();
        return undefined;
      case "td":
      case "th":
        if (!this.#inTable()) return () => writer.block();
        writer.openCell();
        return () => writer.closeCell();
      default:
        if (!/^h[1-6]$/.test(name)) return undefined;
        writer.openHeading(Number(name[1]));
        return () => writer.closeHeading();
    }
  }

  /** The innermost table is one that is written as such, and no cell of it is open. */
  #inTable(): boolean {
    const last = this.#open.slice(-LOOK_BACK).findLast(({ name }) => name === "td" || name === "th" || name === "table");
    return last?.name === "table" && last.close !== undefined;
  }

  page(): Page {
    while (this.#pop() !== undefined) continue;
    const text = joined(bestPart(this.#writer.end()));
    const title = this.#title || this.#metaTitle;
    return { text, ...(title ? { title } : {}) };
  }
}

function languageOf(attributes: Attributes): string {
  return /(?:^|\s)lang(?:uage)?-([\w+#-]{1,20})/.exec(attributes.get("class") ?? "")?.[1] ?? "";
}

/** Not shown to people: what stands there is not meant for them. */
function isHidden(name: string, attributes: Attributes): boolean {
  if (attributes.size === 0) return name === "dialog";
  if (attributes.has("hidden") && attributes.get("hidden") !== "until-found") return true;
  if (attributes.get("aria-hidden")?.toLowerCase() === "true" || (name === "dialog" && !attributes.has("open"))) return true;
  if (HIDDEN_CLASSES.test(attributes.get("class") ?? "")) return true;
  const style = attributes.get("style");
  return style !== undefined && HIDDEN_STYLE.test(decodeText(style).toLowerCase().replaceAll(/\s+/g, ""));
}

/** The part a page marks as its own; without one, everything but its frame. */
function bestPart(blocks: readonly Block[]): readonly Block[] {
  const size = (part: readonly Block[]): number => part.reduce((sum, { text }) => sum + text.length, 0);
  const content = blocks.filter(({ region }) => region !== "frame");
  const enough = Math.max(MIN_PART_CHARS, size(content) * MIN_PART_SHARE);
  for (const region of ["main", "article"] as const) {
    const part = content.filter((block) => block.region === region);
    if (size(part) >= enough) return part;
  }
  return content.length > 0 ? content : blocks;
}

/** Text without tags, for pages that are too large or deep for more. */
async function strippedPage(html: string): Promise<Page> {
  const parts: string[] = [];
  let title: string | undefined;
  let inside: string | undefined;
  await scanHtml(html, {
    text(raw) {
      if (inside === "title") title ??= decodeText(raw).trim();
      else if (inside === undefined) parts.push(decodeText(raw).replaceAll(/\s+/g, " "));
    },
    open(name) {
      if (name === "title" || name === "script" || name === "style") inside = name;
      else if (BLOCKS.has(name) || name === "br" || name === "li" || name === "tr") parts.push("\n");
    },
    close(name) {
      if (name === inside) inside = undefined;
    },
  });
  const text = parts
    .join("")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join("\n");
  return { text, ...(title ? { title } : {}) };
}
