export {
  createApproverRestrictedNativeApprovalCapability,
  createNativeApprovalControlRegistry,
  formatApprovalDecisionLabel,
  formatChannelApprovalResolvedLabel,
  resolveApprovalApprovers,
} from "../access/approvals.ts";
