/** Reads XML from its start to its end, without building a tree: office files can be large. */

/** One tag or one run of text. */
export type XmlToken =
  | { readonly type: "open"; readonly name: string; readonly attributes: string; readonly isEmpty: boolean }
  | { readonly type: "close"; readonly name: string }
  | { readonly type: "text"; readonly text: string };

const ENTITIES: ReadonlyMap<string, string> = new Map(Object.entries({ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }));

export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replaceAll(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));/gi, (whole, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return ENTITIES.get(name.toLowerCase()) ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : "";
  });
}

/** Comments, instructions and declarations are passed over, and with them all entities that a file declares itself. */
export function* xmlTokens(xml: string): Generator<XmlToken> {
  let at = 0;
  while (at < xml.length) {
    const open = xml.indexOf("<", at);
    const text = xml.slice(at, open < 0 ? xml.length : open);
    if (text !== "") yield { type: "text", text: decodeEntities(text) };
    if (open < 0) return;
    if (xml.startsWith("<!--", open)) {
      const end = xml.indexOf("-->", open + 4);
      at = end < 0 ? xml.length : end + 3;
      continue;
    }
    if (xml.startsWith("<![CDATA[", open)) {
      const end = xml.indexOf("]]>", open + 9);
      yield { type: "text", text: xml.slice(open + 9, end < 0 ? xml.length : end) };
      at = end < 0 ? xml.length : end + 3;
      continue;
    }
    const close = xml.indexOf(">", open);
    if (close < 0) return;
    at = close + 1;
    const inside = xml.slice(open + 1, close);
    if (inside.startsWith("!") || inside.startsWith("?")) continue;
    if (inside.startsWith("/")) {
      yield { type: "close", name: inside.slice(1).trim() };
      continue;
    }
    const isEmpty = inside.endsWith("/");
    const name = /^[^\s/]+/.exec(inside)?.[0] ?? "";
    yield { type: "open", name, attributes: inside.slice(name.length, isEmpty ? -1 : undefined), isEmpty };
  }
}

/** The value of an attribute in the text of a tag. */
export function attributeOf(attributes: string, name: string): string | undefined {
  const at = attributes.indexOf(`${name}=`);
  // `r:id=` is not `id=`.
  if (at < 0 || (at > 0 && !/\s/.test(attributes[at - 1] ?? ""))) return undefined;
  const quote = attributes[at + name.length + 1];
  if (quote !== '"' && quote !== "'") return undefined;
  const from = at + name.length + 2;
  const end = attributes.indexOf(quote, from);
  return end < 0 ? undefined : decodeEntities(attributes.slice(from, end));
}
