export {
  buildOpenGroupPolicyRestrictSendersWarning,
  buildOpenGroupPolicyWarning,
  createAllowlistProviderGroupPolicyWarningCollector,
  createConditionalWarningCollector,
  createOpenProviderGroupPolicyWarningCollector,
} from "../newer/group-policies.ts";
export { resolveToolsBySender } from "../groups.ts";
export {
  buildMutableAllowEntryDetector,
  collectStandardAllowlistLists,
  createDangerousNameMatchingMutableAllowlistWarningCollector,
  scopeKey,
} from "../newer/allow-checks.ts";
export { resolveScopeToolsPolicy } from "../newer/outbound-parts.ts";
