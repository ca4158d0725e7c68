/** Formatted text: Markdown → text with styles and links → chunks → a platform's format. */
export { loadRichText, type RichTextTools } from "./load.ts";
export type { MarkdownOptions } from "./parse/parse.ts";
export type { PieceOptions, RenderedPiece } from "./pieces.ts";
export { toMarkdown } from "./render/markdown.ts";
export { GOOGLE_CHAT_MARKERS, SLACK_MARKERS, toMarkers, WHATSAPP_MARKERS, type MarkerTable } from "./render/markers.ts";
export { expandLinks, toPlain, toStyleRanges } from "./render/plain.ts";
export { toTelegramHtml } from "./render/telegram.ts";
export { splitRich, type SplitOptions } from "./split/split.ts";
