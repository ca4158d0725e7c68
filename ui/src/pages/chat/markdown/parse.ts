import MarkdownIt, { type MarkdownIt as Parser, type Token } from "markdown-it";
import { footnotes, formulas } from "./extras.ts";
import { addressOf, pictureOf, type Address } from "./address.ts";

/** Markdown as a tree of what may be shown. There is no HTML in it: what looks like some is text. */
export type Node =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "break" }
  | { readonly kind: "rule" }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "fence"; readonly text: string; readonly language: string }
  | { readonly kind: "picture"; readonly source: string; readonly alt: string }
  | { readonly kind: "link"; readonly address: Address; readonly children: readonly Node[] }
  | { readonly kind: "heading"; readonly level: number; readonly children: readonly Node[] }
  | { readonly kind: "list"; readonly ordered: boolean; readonly start: number; readonly children: readonly Node[] }
  | { readonly kind: "item"; readonly done?: boolean; readonly children: readonly Node[] }
  | { readonly kind: "cell"; readonly head: boolean; readonly align: string; readonly children: readonly Node[] }
  | { readonly kind: "math"; readonly text: string; readonly display: boolean }
  | { readonly kind: "note-mark"; readonly number: number }
  | { readonly kind: "note"; readonly number: number; readonly children: readonly Node[] }
  | { readonly kind: Plain; readonly children: readonly Node[] };

type Plain = "paragraph" | "tight" | "strong" | "em" | "strike" | "quote" | "table" | "thead" | "tbody" | "row" | "group";

const PLAIN: Readonly<Record<string, Plain>> = {
  strong_open: "strong",
  em_open: "em",
  s_open: "strike",
  blockquote_open: "quote",
  table_open: "table",
  thead_open: "thead",
  tbody_open: "tbody",
  tr_open: "row",
};

/** Emphasis, tables, links and lists; no HTML, no clever quotes. Addresses become links only when they begin with a scheme. */
function createParser(): Parser {
  const parser = new MarkdownIt({ html: false, linkify: true, breaks: false, typographer: false });
  parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
  // Every address is looked at by `addressOf`; what it refuses is still shown as text, not as Markdown.
  parser.validateLink = () => true;
  footnotes(parser);
  formulas(parser);
  return parser;
}

const parser = createParser();

const attribute = (token: Token, name: string): string => String(token.attrGet(name) ?? "");

function imageOf(token: Token): Node {
  const alt = token.content;
  const source = attribute(token, "src");
  const picture = pictureOf(source);
  if (picture !== undefined) return { kind: "picture", source: picture, alt };
  const text: Node = { kind: "text", text: alt === "" ? source : alt };
  const address = addressOf(source, text.text);
  return address ? { kind: "link", address, children: [text] } : text;
}

function leafOf(token: Token): Node | undefined {
  switch (token.type) {
    case "text":
    case "text_special":
    case "html_inline":
    case "html_block":
      return token.content === "" ? undefined : { kind: "text", text: token.content };
    // Who writes in a chat means the ends of their lines.
    case "softbreak":
    case "hardbreak":
      return { kind: "break" };
    case "hr":
      return { kind: "rule" };
    case "code_inline":
      return { kind: "code", text: token.content };
    case "fence":
      return { kind: "fence", text: token.content.replace(/\n$/, ""), language: token.info.trim().split(/\s+/)[0] ?? "" };
    case "code_block":
      return { kind: "fence", text: token.content.replace(/\n$/, ""), language: "" };
    case "math_inline":
    case "math_block":
      return { kind: "math", text: token.content, display: token.type === "math_block" };
    case "footnote_ref":
      return { kind: "note-mark", number: Number(token.meta?.["number"]) };
    case "image":
      return imageOf(token);
    default:
      return undefined;
  }
}

export function plainText(nodes: readonly Node[]): string {
  return nodes.map((node) => ("children" in node ? plainText(node.children) : "text" in node ? node.text : "")).join("");
}

/** `[ ] ` and `[x] ` at the beginning of an item. */
function itemOf(children: readonly Node[]): Node {
  const [first, ...rest] = children;
  const [lead, ...others] = first && (first.kind === "paragraph" || first.kind === "tight") ? first.children : [];
  const mark = lead?.kind === "text" ? /^\[([ xX])\]\s+/.exec(lead.text) : null;
  if (!mark || !first || !("children" in first) || lead?.kind !== "text") return { kind: "item", children };
  const text: Node = { kind: "text", text: lead.text.slice(mark[0].length) };
  return { kind: "item", done: mark[1] !== " ", children: [{ ...first, children: [text, ...others] }, ...rest] };
}

function branchOf(token: Token, children: readonly Node[]): Node {
  const plain = PLAIN[token.type];
  if (plain) return { kind: plain, children };
  switch (token.type) {
    case "paragraph_open":
      return { kind: token.hidden ? "tight" : "paragraph", children };
    case "heading_open":
      return { kind: "heading", level: Number(token.tag.slice(1)) || 6, children };
    case "bullet_list_open":
      return { kind: "list", ordered: false, start: 1, children };
    case "ordered_list_open":
      return { kind: "list", ordered: true, start: Number(attribute(token, "start") || 1), children };
    case "list_item_open":
      return itemOf(children);
    case "th_open":
    case "td_open":
      return { kind: "cell", head: token.type === "th_open", align: /text-align:(\w+)/.exec(attribute(token, "style"))?.[1] ?? "", children };
    case "footnote_open":
      return { kind: "note", number: Number(token.meta?.["number"]), children };
    case "link_open": {
      const address = addressOf(attribute(token, "href"), plainText(children));
      return address ? { kind: "link", address, children } : { kind: "group", children };
    }
    default:
      return { kind: "group", children };
  }
}

/** Reads tokens until the branch they are in is closed. */
function treeOf(tokens: readonly Token[], from: { at: number }): readonly Node[] {
  const nodes: Node[] = [];
  while (from.at < tokens.length) {
    const token = tokens[from.at]!;
    from.at += 1;
    if (token.nesting < 0) return nodes;
    if (token.nesting > 0) nodes.push(branchOf(token, treeOf(tokens, from)));
    else if (token.type === "inline") nodes.push(...treeOf(token.children ?? [], { at: 0 }));
    else {
      const leaf = leafOf(token);
      if (leaf) nodes.push(leaf);
    }
  }
  return nodes;
}

/** Markdown from anywhere as what may be shown of it. */
export function parseMarkdown(text: string): readonly Node[] {
  return treeOf(parser.parse(text, {}), { at: 0 });
}
