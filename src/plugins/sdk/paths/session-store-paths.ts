export { resolveStorePath } from "../newer/outbound-parts.ts";
