import { badRequest, type Entity } from "./objects.ts";

/** Text without its tags, and what the tags said. */
export interface Parsed {
  readonly text: string;
  readonly entities: readonly Entity[];
}

const TYPES: Readonly<Record<string, string>> = {
  b: "bold",
  strong: "bold",
  i: "italic",
  em: "italic",
  u: "underline",
  ins: "underline",
  s: "strikethrough",
  strike: "strikethrough",
  del: "strikethrough",
  "tg-spoiler": "spoiler",
  span: "spoiler",
  "tg-emoji": "custom_emoji",
  code: "code",
  pre: "pre",
  blockquote: "blockquote",
  a: "text_link",
};
const ENTITY = /^&(?:(lt|gt|amp|quot)|#(\d{1,7})|#x([0-9a-f]{1,6}));?/i;
const NAMED: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"' };
const SPACE = /\s/;

interface Open {
  readonly tag: string;
  readonly value: string;
  readonly start: number;
}

const refuse = (what: string): never => {
  throw badRequest(`can't parse entities: ${what}`);
};

function decode(rest: string): { readonly char: string; readonly length: number } | undefined {
  const found = ENTITY.exec(rest);
  if (!found) return undefined;
  const [all, name, decimal, hex] = found;
  const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
  if (name === undefined && !(code > 0 && code <= 0x10ffff)) return undefined;
  return { char: name === undefined ? String.fromCodePoint(code) : NAMED[name.toLowerCase()]!, length: all.length };
}

/** Reads attributes up to the end of a start tag. `fail` says where the tag began. */
function attributes(html: string, from: number, tag: string, fail: (what: string) => never): { readonly value: string; readonly end: number } {
  let at = from;
  let value = "";
  const skip = (): void => {
    while (at < html.length && SPACE.test(html[at]!)) at += 1;
  };
  for (;;) {
    skip();
    if (at >= html.length) fail("Unclosed start tag");
    if (html[at] === ">") return { value, end: at };
    const begin = at;
    while (at < html.length && !SPACE.test(html[at]!) && html[at] !== "=" && html[at] !== ">") at += 1;
    const name = html.slice(begin, at).toLowerCase();
    if (name === "") fail(`Empty attribute name in the tag "${tag}"`);
    skip();
    if (html[at] !== "=") {
      if (at >= html.length) fail("Unclosed start tag");
      if (tag === "blockquote" && name === "expandable") value = "expandable";
      continue;
    }
    at += 1;
    skip();
    const quote = html[at];
    let given = "";
    if (quote === '"' || quote === "'") {
      at += 1;
      while (at < html.length && html[at] !== quote) {
        const entity = html[at] === "&" ? decode(html.slice(at, at + 12)) : undefined;
        given += entity?.char ?? html[at]!;
        at += entity?.length ?? 1;
      }
      at += 1;
    } else {
      const token = at;
      while (at < html.length && /[\w.-]/.test(html[at]!)) at += 1;
      given = html.slice(token, at);
      if (at < html.length && !SPACE.test(html[at]!) && html[at] !== ">") fail("Unexpected end of name token");
    }
    if (at >= html.length) fail("Unclosed start tag");
    if (tag === "a" && name === "href") value = given;
    if (tag === "tg-emoji" && name === "emoji-id") value = given;
    if (tag === "code" && name === "class" && given.startsWith("language-")) value = given.slice(9);
    if (tag === "span" && name === "class") value = given;
  }
}

/** Reads `parse_mode: HTML`, with the errors of the real one. */
export function parseHtml(html: string): Parsed {
  const open: Open[] = [];
  const entities: Entity[] = [];
  let text = "";
  let at = 0;
  while (at < html.length) {
    const char = html[at]!;
    const entity = char === "&" ? decode(html.slice(at, at + 12)) : undefined;
    if (char !== "<") {
      text += entity?.char ?? char;
      at += entity?.length ?? 1;
      continue;
    }
    const offset = Buffer.byteLength(html.slice(0, at));
    const fail = (what: string): never => refuse(`${what} at byte offset ${offset}`);
    const isEnd = html[at + 1] === "/";
    let end = at + (isEnd ? 2 : 1);
    const nameFrom = end;
    while (end < html.length && !SPACE.test(html[end]!) && html[end] !== ">") end += 1;
    const tag = html.slice(nameFrom, end).toLowerCase();
    if (!isEnd) {
      if (end >= html.length) fail("Unclosed start tag");
      if (!(tag in TYPES)) fail(`Unsupported start tag "${tag}"`);
      const read = attributes(html, end, tag, fail);
      if (tag === "span" && read.value !== "tg-spoiler") fail(`Tag "span" must have class "tg-spoiler"`);
      open.push({ tag, value: read.value, start: text.length });
      at = read.end + 1;
      continue;
    }
    const last = open.pop();
    if (!last) return fail("Unexpected end tag");
    while (end < html.length && SPACE.test(html[end]!)) end += 1;
    if (html[end] !== ">") fail("Unclosed end tag");
    if (tag !== "" && tag !== last.tag) refuse(`Unmatched end tag at byte offset ${offset}, expected "</${last.tag}>", found "</${tag}>"`);
    entities.push(...entityOf(last, text, open));
    at = end + 1;
  }
  const unclosed = open.at(-1);
  if (unclosed) refuse(`Can't find end tag corresponding to start tag "${unclosed.tag}"`);
  return trim(text, tidy(entities));
}

function entityOf({ tag, value, start }: Open, text: string, outer: readonly Open[]): readonly Entity[] {
  const length = text.length - start;
  if (length === 0) return [];
  const place = { offset: start, length };
  if (tag === "a") {
    const url = value === "" ? text.slice(start) : value;
    return /^(?:https?|tg|mailto|tel|ton):/i.test(url) || /^[\w-]+(?:\.[\w-]+)+/.test(url) ? [{ type: "text_link", ...place, url }] : [];
  }
  if (tag === "code" && value !== "" && outer.at(-1)?.tag === "pre") return [{ type: "pre", ...place, language: value }];
  if (tag === "tg-emoji") return [{ type: "custom_emoji", ...place, custom_emoji_id: value }];
  if (tag === "blockquote" && value === "expandable") return [{ type: "expandable_blockquote", ...place }];
  return [{ type: TYPES[tag]!, ...place }];
}

/** Code contains nothing else, a quote no quote, and a language belongs to its block. */
function tidy(entities: readonly Entity[]): readonly Entity[] {
  const inside = (inner: Entity, outer: Entity): boolean =>
    inner !== outer && inner.offset >= outer.offset && inner.offset + inner.length <= outer.offset + outer.length;
  const isCode = ({ type }: Entity): boolean => type === "code" || type === "pre";
  const isQuote = ({ type }: Entity): boolean => type.endsWith("blockquote");
  const kept = entities.filter((entity) => {
    if (entity.type === "pre" && entity.language === undefined)
      return !entities.some((other) => other.language !== undefined && other.offset === entity.offset && other.length === entity.length);
    if (entity.language !== undefined) return true;
    return !entities.some((other) => inside(entity, other) && (isCode(other) || (isQuote(other) && isQuote(entity))));
  });
  return kept.sort((a, b) => a.offset - b.offset || b.length - a.length);
}

function trim(text: string, entities: readonly Entity[]): Parsed {
  const lead = text.length - text.trimStart().length;
  const kept = text.trim();
  const moved = entities.flatMap((entity) => {
    const start = Math.max(entity.offset - lead, 0);
    const end = Math.min(entity.offset + entity.length - lead, kept.length);
    return end > start ? [{ ...entity, offset: start, length: end - start }] : [];
  });
  return { text: kept, entities: moved };
}
