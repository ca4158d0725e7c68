export {
  CHANNEL_APPROVAL_NATIVE_RUNTIME_CONTEXT_CAPABILITY,
  createChannelApprovalNativeRuntimeAdapter,
  createLazyChannelApprovalNativeRuntimeAdapter,
  resolveApprovalOverGateway,
} from "../access/approvals.ts";
