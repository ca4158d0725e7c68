export { registerChannelRuntimeContext } from "../messages/outbound-parts.ts";
