export { createChannelApprovalAuth, resolveApprovalApprovers } from "../access/approvals.ts";
