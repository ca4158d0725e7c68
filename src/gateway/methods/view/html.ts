import type { EntryRow, SessionRow } from "../../../store/index.ts";
import { entryParts, sessionTitle } from "./markdown.ts";

const SIGNS: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => SIGNS[sign] ?? sign);

const STYLE =
  "body{font:15px/1.55 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem;color:#1b1b1f;background:#fff}" +
  "article{margin:1.25rem 0;padding:.25rem 1rem;border-left:3px solid #d5d5db}article.user{border-color:#2f62d9}article.tool{border-color:#a07400}" +
  "h1{font-size:1.4rem}h2{margin:.25rem 0;font-size:.85rem;font-weight:600;color:#62626c}p.about{color:#62626c}" +
  "div.text{white-space:pre-wrap;overflow-wrap:anywhere}article.tool div.text{font:13px/1.45 ui-monospace,monospace}" +
  "@media(prefers-color-scheme:dark){body{color:#ececf0;background:#18181b}article{border-color:#44444c}h2,p.about{color:#a0a0aa}}";

/** The beginning of a page that loads nothing and runs nothing. */
export function htmlHead(session: SessionRow): string {
  const title = escaped(sessionTitle(session));
  return `<!doctype html>
<html>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${title}</h1>
<p class="about">Session <code>${escaped(session.key)}</code>, <code>${escaped(session.entry.sessionId)}</code></p>
`;
}

export const HTML_END = "</body>\n</html>\n";

/** An entry for people, as text; nothing for bookkeeping. */
export function entryHtml(row: EntryRow): string {
  const parts = entryParts(row);
  if (!parts) return "";
  const { kind, heading, body, failure } = parts;
  const text = `${body}${failure === undefined ? "" : `\n\nFailed: ${failure}`}`;
  return `<article class="${kind}">\n<h2>${escaped(heading)}</h2>\n<div class="text" dir="auto">${escaped(text)}</div>\n</article>\n`;
}
