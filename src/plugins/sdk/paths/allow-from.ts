export {
  formatAllowFromLowercase,
  formatAllowlistMatchMeta,
  isAllowedParsedChatSender,
  mergeAllowlist,
  resolveAllowlistMatchSimple,
  summarizeMapping,
} from "../access/allow-lists.ts";
export { isNormalizedSenderAllowed, mapAllowlistResolutionInputs } from "../values/small.ts";
