export { recordInboundSession } from "../messages/sessions.ts";
export { createStaticReplyToModeResolver } from "../values/small.ts";
