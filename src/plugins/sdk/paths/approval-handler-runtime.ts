export {
  CHANNEL_APPROVAL_NATIVE_RUNTIME_CONTEXT_CAPABILITY,
  createChannelApprovalNativeRuntimeAdapter,
  createLazyChannelApprovalNativeRuntimeAdapter,
  resolveApprovalOverGateway,
} from "../newer/approvals.ts";
