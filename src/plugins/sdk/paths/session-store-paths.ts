export { resolveStorePath } from "../messages/outbound-parts.ts";
