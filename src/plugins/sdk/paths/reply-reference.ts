export { isSingleUseReplyToMode } from "../newer/small.ts";
