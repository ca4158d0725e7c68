/** Platforms that format with markers around words: `*bold*` `_italic_` `~struck~`. */
import type { RichStyle, RichText } from "../../protocol/index.ts";
import { saysAddress, schemeOf, createLineWriter, quotationsIn, spansByLine, markUp, once, spansOf, type Markup, type Span } from "./spans.ts";

/** How a platform formats. */
export interface MarkerTable {
  /** Markers on both sides. A style without an entry is shown as plain text. */
  readonly styles: Readonly<Partial<Record<Exclude<RichStyle["style"], "blockquote">, string>>>;
  /** Before each line of a quotation; nested ones are not distinguished. */
  readonly quote?: string | undefined;
  /** What stands before and after the text of a link. Without it the URL follows in parentheses, unless the text already shows it. */
  readonly link?: ((href: string, label: string) => readonly [string, string]) | undefined;
  /** Escapes text that is shown literally. */
  readonly escape?: ((text: string, isCode: boolean) => string) | undefined;
}

const appended = (href: string, label: string, escape: (text: string) => string): readonly [string, string] =>
  href === "" || saysAddress(label, href) ? ["", ""] : ["", ` (${escape(href)})`];

const escapeSlack = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Mentions of one person, channel or group, and dates. `<!channel>`, `<!here>` and `<!everyone>` are excluded: text must not notify everybody. */
const SLACK_TOKEN = /<(?:[@#][A-Z0-9]{2,32}(?:\|[^<>|&\n]{0,80})?|!(?:subteam|date)\^[^<>&\n]{1,200})>/g;

function slackText(text: string, isCode: boolean): string {
  if (isCode) return escapeSlack(text);
  const parts: string[] = [];
  let from = 0;
  for (const match of text.matchAll(SLACK_TOKEN)) {
    parts.push(escapeSlack(text.slice(from, match.index)), match[0]);
    from = match.index + match[0].length;
  }
  return parts.join("") + escapeSlack(text.slice(from));
}

/** `<url|` and `>` around the text of a link, if its scheme may be linked. */
function angled(schemes: readonly string[], escape: (text: string) => string): NonNullable<MarkerTable["link"]> {
  return (href, label) => {
    if (!schemes.includes(schemeOf(href) ?? "")) return appended(href, label, escape);
    if (saysAddress(label, href)) return ["", ""];
    const address = href.replaceAll(/[<>|\s]/g, (sign) => encodeURIComponent(sign));
    return [`<${escape(address)}|`, ">"];
  };
}

const SIGNS = { bold: "*", heading: "*", italic: "_", strikethrough: "~", code: "`", code_block: "```" } as const;

export const WHATSAPP_MARKERS: MarkerTable = { styles: SIGNS, quote: "> " };

export const SLACK_MARKERS: MarkerTable = {
  styles: SIGNS,
  quote: ">",
  link: angled(["http", "https", "mailto", "tel", "slack"], escapeSlack),
  escape: slackText,
};

/** The only way to write these as text is an invisible character in between. */
const escapeGoogleChat = (text: string): string => text.replaceAll(/<(?=users\/|customEmojis\/|[a-z][a-z0-9+.-]*:)/gi, "<\u{200B}");

export const GOOGLE_CHAT_MARKERS: MarkerTable = { styles: SIGNS, link: angled(["http", "https", "mailto"], escapeGoogleChat), escape: escapeGoogleChat };

/** Code must not contain its end marker. */
const withinCode = (text: string): string => text.replaceAll("```", "``\u{200B}`");

/** Text with markers around formatted parts; none spans a line end. */
export function toMarkers(rich: RichText, table: MarkerTable): string {
  const { styles, escape = (text: string) => text } = table;
  const link = table.link ?? ((href: string, text: string) => appended(href, text, (address) => escape(address, false)));
  const label = (span: Span): string => rich.text.slice(span.start, span.end);
  const markup: Markup = {
    choose(spans) {
      const shown = once(spans.filter(({ style }) => style === "link" || (style !== "blockquote" && styles[style] !== undefined)));
      const block = shown.find(({ style }) => style === "code_block");
      if (block) return [block];
      const code = shown.filter((span) => span.style === "code" && !label(span).includes("`"));
      // A heading made of bold text is bold once.
      const others = shown.filter(({ style }) => style !== "code" && !(style === "bold" && shown.some((span) => span.style === "heading")));
      return others.some(({ style }) => style === "link") ? others : [...others, ...code];
    },
    open: (span) => {
      if (span.style === "link") return link(span.href ?? "", label(span))[0];
      return span.style === "blockquote" ? "" : `${styles[span.style]}${span.style === "code_block" ? "\n" : ""}`;
    },
    close: (span) => {
      if (span.style === "link") return link(span.href ?? "", label(span))[1];
      return span.style === "blockquote" ? "" : `${span.style === "code_block" ? "\n" : ""}${styles[span.style]}`;
    },
    text: (text, spans) => {
      const block = spans.some(({ style }) => style === "code_block");
      return escape(block ? withinCode(text) : text, block || spans.some(({ style }) => style === "code"));
    },
  };
  const writer = createLineWriter(table.quote ?? "");
  markUp(rich.text, spansByLine(rich.text, spansOf(rich)), markup, (part, spans) => writer.put(part, Math.min(quotationsIn(spans), 1)));
  return writer.result();
}
