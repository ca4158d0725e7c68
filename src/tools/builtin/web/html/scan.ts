export type Attributes = ReadonlyMap<string, string>;

/** Receives the parts of a page, in order. */
export interface PageListener {
  /** As written: character references are not replaced. */
  text(raw: string): void;
  /** `name` in lower case. */
  open(name: string, attributes: Attributes): void;
  close(name: string): void;
}

/** Elements whose content is text up to their own end, whatever it looks like. */
const RAW = new Set(["script", "style", "textarea", "title", "iframe", "noembed", "noframes", "xmp"]);
const MAX_ATTRIBUTES = 64;
const NONE: ReadonlyMap<string, string> = new Map();

/** Tags in one go: a few milliseconds. */
const SLICE = 1000;

/**
 * Goes through a page once, forwards, as forgiving as browsers are. Time grows with its length and nothing else, and others get their turn in
 * between. Stops when the listener has had enough.
 */
export async function scanHtml(html: string, listener: PageListener & { readonly tooDeep?: boolean }): Promise<void> {
  let at = 0;
  for (let tags = 1; at < html.length && listener.tooDeep !== true; tags += 1) {
    const tag = html.indexOf("<", at);
    if (tag > at || tag === -1) listener.text(html.slice(at, tag === -1 ? html.length : tag));
    if (tag === -1) return;
    at = scanTag(html, tag, listener);
    if (tags % SLICE === 0) await new Promise((resolve) => void setImmediate(resolve));
  }
}

function isLetter(code: number): boolean {
  return (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

/** Where to go on. */
function scanTag(html: string, tag: number, listener: PageListener): number {
  if (html.startsWith("<!--", tag)) return after(html, "-->", html.startsWith(">", tag + 4) || html.startsWith("->", tag + 4) ? tag + 2 : tag + 4);
  const next = html.charCodeAt(tag + 1);
  if (next === 33 || next === 63) return after(html, ">", tag + 2);
  const closing = next === 47;
  const start = closing ? tag + 2 : tag + 1;
  if (!isLetter(html.charCodeAt(start))) {
    if (closing) return after(html, ">", start);
    listener.text("<");
    return tag + 1;
  }
  let end = start;
  for (let code = html.charCodeAt(end); end < html.length && !isSpace(code) && code !== 62 && code !== 47; code = html.charCodeAt(end)) end += 1;
  const name = html.slice(start, Math.min(end, start + 64)).toLowerCase();
  const found = scanAttributes(html, end);
  if (!found) return html.length;
  if (closing) {
    listener.close(name);
    return found.end;
  }
  listener.open(name, found.attributes);
  return RAW.has(name) ? scanRaw(html, name, found.end, listener) : found.end;
}

function after(html: string, what: string, from: number): number {
  const found = html.indexOf(what, from);
  return found === -1 ? html.length : found + what.length;
}

function scanRaw(html: string, name: string, from: number, listener: PageListener): number {
  const ending = new RegExp(`</${name}(?=[\\s/>]|$)`, "gi");
  ending.lastIndex = from;
  const found = ending.exec(html);
  const end = found?.index ?? html.length;
  if (end > from) listener.text(html.slice(from, end));
  listener.close(name);
  return found ? after(html, ">", end) : html.length;
}

/** Attributes up to the `>`; undefined when the page ends first. */
function scanAttributes(html: string, from: number): { readonly attributes: Attributes; readonly end: number } | undefined {
  let attributes: Map<string, string> | undefined;
  let at = from;
  while (at < html.length) {
    const code = html.charCodeAt(at);
    if (code === 62) return { attributes: attributes ?? NONE, end: at + 1 };
    if (isSpace(code) || code === 47) {
      at += 1;
      continue;
    }
    const nameEnd = endOfName(html, at);
    const value = scanValue(html, nameEnd);
    if (!value) return undefined;
    attributes ??= new Map();
    const name = html.slice(at, Math.min(nameEnd, at + 64)).toLowerCase();
    if (attributes.size < MAX_ATTRIBUTES && !attributes.has(name)) attributes.set(name, value.text);
    at = value.end;
  }
  return undefined;
}

function endOfName(html: string, from: number): number {
  let at = from + 1;
  for (let code = html.charCodeAt(at); at < html.length && !isSpace(code) && code !== 61 && code !== 62 && code !== 47; code = html.charCodeAt(at)) at += 1;
  return at;
}

function scanValue(html: string, from: number): { readonly text: string; readonly end: number } | undefined {
  let at = from;
  while (at < html.length && isSpace(html.charCodeAt(at))) at += 1;
  if (html.charCodeAt(at) !== 61) return { text: "", end: at };
  at += 1;
  while (at < html.length && isSpace(html.charCodeAt(at))) at += 1;
  const quote = html.charAt(at);
  if (quote === '"' || quote === "'") {
    const end = html.indexOf(quote, at + 1);
    return end === -1 ? undefined : { text: html.slice(at + 1, end), end: end + 1 };
  }
  let end = at;
  for (let code = html.charCodeAt(end); end < html.length && !isSpace(code) && code !== 62; code = html.charCodeAt(end)) end += 1;
  return { text: html.slice(at, end), end };
}

/** The names that pages use; the others stay as they are written. */
const NAMED: ReadonlyMap<string, string> = new Map<string, string>([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
  ["nbsp", "\u00A0"],
  ["ensp", " "],
  ["emsp", " "],
  ["thinsp", " "],
  ["shy", ""],
  ["zwnj", "\u200C"],
  ["zwj", "\u200D"],
  ...pairs("iexcl ¡ cent ¢ pound £ curren ¤ yen ¥ brvbar ¦ sect § uml ¨ copy © ordf ª laquo « not ¬ reg ® macr ¯ deg ° plusmn ± sup2 ² sup3 ³ acute ´ micro µ"),
  ...pairs("para ¶ middot · cedil ¸ sup1 ¹ ordm º raquo » frac14 ¼ frac12 ½ frac34 ¾ iquest ¿ times × divide ÷ szlig ß fnof ƒ circ ˆ tilde ˜"),
  ...pairs("Agrave À Aacute Á Acirc Â Atilde Ã Auml Ä Aring Å AElig Æ Ccedil Ç Egrave È Eacute É Ecirc Ê Euml Ë Igrave Ì Iacute Í Icirc Î Iuml Ï"),
  ...pairs("ETH Ð Ntilde Ñ Ograve Ò Oacute Ó Ocirc Ô Otilde Õ Ouml Ö Oslash Ø Ugrave Ù Uacute Ú Ucirc Û Uuml Ü Yacute Ý THORN Þ OElig Œ Scaron Š"),
  ...pairs("agrave à aacute á acirc â atilde ã auml ä aring å aelig æ ccedil ç egrave è eacute é ecirc ê euml ë igrave ì iacute í icirc î iuml ï"),
  ...pairs("eth ð ntilde ñ ograve ò oacute ó ocirc ô otilde õ ouml ö oslash ø ugrave ù uacute ú ucirc û uuml ü yacute ý thorn þ yuml ÿ oelig œ scaron š"),
  ...pairs("ndash – mdash — lsquo ‘ rsquo ’ sbquo ‚ ldquo “ rdquo ” bdquo „ dagger † Dagger ‡ bull • hellip … permil ‰ prime ′ Prime ″ lsaquo ‹ rsaquo ›"),
  ...pairs("euro € trade ™ larr ← uarr ↑ rarr → darr ↓ harr ↔ rArr ⇒ hArr ⇔ forall ∀ part ∂ exist ∃ empty ∅ isin ∈ prod ∏ sum ∑ minus − radic √ infin ∞"),
  ...pairs("cap ∩ cup ∪ int ∫ asymp ≈ ne ≠ equiv ≡ le ≤ ge ≥ sub ⊂ sup ⊃ alpha α beta β gamma γ delta δ epsilon ε lambda λ mu μ pi π sigma σ tau τ phi φ"),
  ...pairs("omega ω theta θ Delta Δ Sigma Σ Omega Ω check ✓ star ☆ starf ★ hearts ♥ lbrack [ rbrack ] lbrace { rbrace } lpar ( rpar ) colon : comma ,"),
]);

function pairs(text: string): readonly (readonly [string, string])[] {
  const words = text.split(" ");
  return words.flatMap((word, index) => (index % 2 === 0 ? [[word, words[index + 1] ?? ""] as const] : []));
}

/** What the numbers 128 to 159 mean on the web. */
const WINDOWS_1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008DŽ\u008F\u0090‘’“”•–—˜™š›œ\u009DžŸ";

function numbered(value: number): string {
  if (value >= 0x80 && value <= 0x9f) return WINDOWS_1252.charAt(value - 0x80);
  const valid = value > 0 && value <= 0x10_ff_ff && !(value >= 0xd8_00 && value <= 0xdf_ff);
  return valid ? String.fromCodePoint(value) : "\uFFFD";
}

/** Characters that nobody sees and that can hide text or turn it around. Joiners stay: emoji and scripts need them. */
const UNSEEN = /(?![\t\n\r\f\u200C\u200D])[\p{Cc}\p{Cf}]/gu;

/** The characters that a text of a page stands for, without those that cannot be seen. */
export function decodeText(raw: string): string {
  const text = raw.includes("&")
    ? raw.replaceAll(/&(?:#[xX]([0-9a-fA-F]{1,8})|#(\d{1,8})|([a-zA-Z][a-zA-Z0-9]{1,8}));?/g, (whole, hex?: string, decimal?: string, name?: string) => {
        if (hex !== undefined) return numbered(Number.parseInt(hex, 16));
        if (decimal !== undefined) return numbered(Number(decimal));
        return NAMED.get(name ?? "") ?? whole;
      })
    : raw;
  return text.replaceAll(UNSEEN, "");
}
