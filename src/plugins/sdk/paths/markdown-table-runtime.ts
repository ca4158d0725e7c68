export { convertMarkdownTables, resolveMarkdownTableMode } from "../../../channels/index.ts";
