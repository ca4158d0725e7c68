export { chunkTextForOutbound, stripMarkdown } from "../text.ts";
