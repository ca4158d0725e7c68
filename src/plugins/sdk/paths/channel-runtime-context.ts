export { registerChannelRuntimeContext } from "../newer/outbound-parts.ts";
