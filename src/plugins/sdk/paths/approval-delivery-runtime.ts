export { createApproverRestrictedNativeApprovalCapability } from "../access/approvals.ts";
