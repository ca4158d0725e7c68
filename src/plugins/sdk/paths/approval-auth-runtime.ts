export { createChannelApprovalAuth, resolveApprovalApprovers } from "../newer/approvals.ts";
