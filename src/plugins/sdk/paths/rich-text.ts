export { GOOGLE_CHAT_MARKERS, SLACK_MARKERS, WHATSAPP_MARKERS } from "../../../channels/index.ts";
export { expandLinks, loadRichText, splitRich, toMarkdown, toMarkers, toPlain, toStyleRanges, toTelegramHtml } from "../../../channels/index.ts";
export type { MarkdownOptions, MarkerTable, PieceOptions, RenderedPiece, RichTextTools, SplitOptions } from "../../../channels/index.ts";
export type { RichStyle, RichText } from "../../../protocol/index.ts";
