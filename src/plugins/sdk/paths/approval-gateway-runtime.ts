export { resolveApprovalOverGateway } from "../newer/approvals.ts";
