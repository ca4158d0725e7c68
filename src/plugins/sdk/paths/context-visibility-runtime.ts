export { filterSupplementalContextItems, resolveChannelContextVisibilityMode } from "../access/allow-checks.ts";
