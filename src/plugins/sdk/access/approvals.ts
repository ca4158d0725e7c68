/** Approvals in chats. Who may approve is known; asking comes with the modules that run tools. */
import type { HostConfig } from "../../../protocol/index.ts";
import { unbuilt } from "../unbuilt.ts";

interface Place {
  readonly cfg: HostConfig;
  readonly accountId?: string | null | undefined;
}

/** Ids that may approve: those named for it, else everybody who may write. */
export function resolveApprovalApprovers(params: {
  readonly explicit?: readonly (string | number)[] | null | undefined;
  readonly allowFrom?: readonly (string | number)[] | null | undefined;
  normalizeApprover(value: string | number): string | undefined;
}): string[] {
  const from = params.explicit?.length ? params.explicit : (params.allowFrom ?? []);
  return [...new Set(from.flatMap((entry) => params.normalizeApprover(entry) ?? []))];
}

/** Whether a sender may approve. */
export function createChannelApprovalAuth(params: {
  readonly channelLabel: string;
  resolveInputs(place: Place): { explicit?: readonly (string | number)[] | null | undefined; allowFrom?: readonly (string | number)[] | null | undefined };
  normalizeApprover(value: string | number): string | undefined;
}): {
  getApprovers(place: Place): string[];
  approvalAuth: { authorizeActorAction(given: Place & { senderId?: string | null | undefined }): { authorized: boolean; reason?: string | undefined } };
} {
  const getApprovers = (place: Place): string[] => resolveApprovalApprovers({ ...params.resolveInputs(place), normalizeApprover: params.normalizeApprover });
  return {
    getApprovers,
    approvalAuth: {
      authorizeActorAction(given) {
        const approvers = getApprovers(given);
        const sender = given.senderId ? params.normalizeApprover(given.senderId) : undefined;
        const authorized = sender !== undefined && approvers.includes(sender);
        return authorized ? { authorized } : { authorized, reason: `${params.channelLabel}: this sender may not approve` };
      },
    },
  };
}

const LABELS: Readonly<Record<string, string>> = { "allow-once": "Allowed once", "allow-always": "Allowed always", deny: "Denied" };
export const formatApprovalDecisionLabel = (decision: string): string => LABELS[decision] ?? decision;
export const formatChannelApprovalResolvedLabel = (params: { readonly decision: string; readonly resolvedBy?: string | undefined } | string): string =>
  typeof params === "string"
    ? formatApprovalDecisionLabel(params)
    : `${formatApprovalDecisionLabel(params.decision)}${params.resolvedBy ? ` by ${params.resolvedBy}` : ""}`;

export const CHANNEL_APPROVAL_NATIVE_RUNTIME_CONTEXT_CAPABILITY = "approval.native";

/** Parts that are only put together now, and used when approvals are asked for. */
export const createApproverRestrictedNativeApprovalCapability = <P extends object>(parts: P): P => ({ ...parts });
export const createLazyChannelApprovalNativeRuntimeAdapter = <P extends object>(parts: P): P => ({ ...parts });
export const createChannelApprovalNativeRuntimeAdapter = <P extends object>(parts: P): P => ({ ...parts });

type Parts = Readonly<Record<string, unknown>>;
const later = (name: string) => unbuilt(name, "tools (approvals)", false);

export const createNativeApprovalMessagingTargetResolvers = (_parts: Parts): Record<string, unknown> => ({
  resolveOriginTarget: later("resolveOriginTarget"),
  resolveApproverDmTargets: later("resolveApproverDmTargets"),
});
export const createNativeApprovalChannelRouteGates = (_parts: Parts): Record<string, unknown> => ({});
export const createChannelApproverDmTargetResolver = (_parts: Parts): unknown => later("resolveApproverDmTargets");
export const createChannelNativeOriginTargetResolver = (_parts: Parts): unknown => later("resolveOriginTarget");
export const createNativeApprovalControlRegistry = (_parts?: Parts): Map<string, unknown> => new Map();
export const buildChannelApprovalNativeTargetKey = (target: { readonly to: string; readonly threadId?: string | number | null | undefined }): string =>
  `${target.to}:${target.threadId ?? ""}`;
export const shouldSuppressLocalNativeExecApprovalPrompt = (): boolean => false;
export const resolveApprovalOverGateway = unbuilt("resolveApprovalOverGateway", "tools (approvals)");
