export {
  buildOpenGroupPolicyRestrictSendersWarning,
  buildOpenGroupPolicyWarning,
  createAllowlistProviderGroupPolicyWarningCollector,
  createConditionalWarningCollector,
  createOpenProviderGroupPolicyWarningCollector,
} from "../access/group-policies.ts";
export { resolveToolsBySender } from "../access/groups.ts";
export {
  buildMutableAllowEntryDetector,
  collectStandardAllowlistLists,
  createDangerousNameMatchingMutableAllowlistWarningCollector,
  scopeKey,
} from "../access/allow-checks.ts";
export { resolveScopeToolsPolicy } from "../messages/outbound-parts.ts";
