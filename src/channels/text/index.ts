/** Text for channels: chunks that fit into a message, and tables for platforms without them. */
export { chunkByNewline, chunkText, type LineOptions } from "./plain.ts";
export { chunkByParagraph, chunkMarkdownTextWithMode, chunkTextWithMode } from "./modes.ts";
export { chunkMarkdownText } from "./markdown.ts";
export { convertMarkdownTables } from "./tables.ts";
export { resolveChunkMode, resolveMarkdownTableMode, resolveTextChunkLimit } from "./settings.ts";
export { wholeCharacter } from "./cut.ts";
export { findFences, type Fence } from "./fences.ts";
