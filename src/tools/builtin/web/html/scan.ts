export type Attributes = ReadonlyMap<string, string>;

/** Told what stands in a page, in order. */
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
const NONE: Attributes = new Map();

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
