export { isSingleUseReplyToMode } from "../values/small.ts";
