export {
  createApproverRestrictedNativeApprovalCapability,
  createNativeApprovalControlRegistry,
  formatApprovalDecisionLabel,
  formatChannelApprovalResolvedLabel,
  resolveApprovalApprovers,
} from "../newer/approvals.ts";
