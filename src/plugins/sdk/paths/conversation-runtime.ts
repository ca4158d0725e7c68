export { recordInboundSession } from "../sessions.ts";
export { createStaticReplyToModeResolver } from "../newer/small.ts";
