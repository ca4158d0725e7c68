export { chunkTextForOutbound, stripMarkdown } from "../text.ts";
export { convertMarkdownTables } from "../../../channels/index.ts";
export { sanitizeAssistantVisibleText, stripReasoningTagsFromText, stripToolCallXmlTags } from "../newer/visible-text.ts";
export { FormatCapabilityProfile, markdownToIR, markdownToIRWithMeta, renderMarkdownWithMarkers } from "../newer/outbound-parts.ts";
