export { filterSupplementalContextItems, resolveChannelContextVisibilityMode } from "../newer/allow-checks.ts";
