export { recordInboundSession } from "../sessions.ts";
