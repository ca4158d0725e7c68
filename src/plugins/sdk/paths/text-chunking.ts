export { chunkTextForOutbound, stripMarkdown } from "../text.ts";
export { convertMarkdownTables } from "../../../channels/index.ts";
export { sanitizeAssistantVisibleText, stripReasoningTagsFromText, stripToolCallXmlTags } from "../messages/outbound-parts.ts";
export { FormatCapabilityProfile, markdownToIR, markdownToIRWithMeta, renderMarkdownWithMarkers } from "../messages/outbound-parts.ts";
