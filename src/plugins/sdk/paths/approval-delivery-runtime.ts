export { createApproverRestrictedNativeApprovalCapability } from "../newer/approvals.ts";
