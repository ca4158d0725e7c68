export { chunkByParagraph, chunkMarkdownTextWithMode, chunkText, chunkTextWithMode, resolveChunkMode, resolveTextChunkLimit } from "../../../channels/index.ts";
export { isSilentReplyText, SILENT_REPLY_TOKEN } from "../text.ts";
