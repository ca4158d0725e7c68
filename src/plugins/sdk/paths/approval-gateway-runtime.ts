export { resolveApprovalOverGateway } from "../access/approvals.ts";
