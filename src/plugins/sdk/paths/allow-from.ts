export {
  formatAllowFromLowercase,
  formatAllowlistMatchMeta,
  isAllowedParsedChatSender,
  mergeAllowlist,
  resolveAllowlistMatchSimple,
  summarizeMapping,
} from "../allow-lists.ts";
export { isNormalizedSenderAllowed, mapAllowlistResolutionInputs } from "../newer/small.ts";
