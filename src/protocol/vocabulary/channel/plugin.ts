/** A channel as a plugin registers it, and the light part of one that is there without its code. */
import type { HostConfig } from "../host-config.ts";
import type { ChannelConfigAdapter, ChannelPairingAdapter, ChannelSecurityAdapter, ChannelSetupAdapter, ChannelStatusAdapter } from "./account.ts";
import type { ChannelMessageActionAdapter } from "./actions.ts";
import type { ChannelAuthAdapter, ChannelGatewayAdapter, ChannelHeartbeatAdapter } from "./connection.ts";
import type {
  ChannelAgentPromptAdapter,
  ChannelAgentTool,
  ChannelAgentToolFactory,
  ChannelCommandAdapter,
  ChannelElevatedAdapter,
  ChannelGroupAdapter,
  ChannelMentionAdapter,
  ChannelMessagingAdapter,
  ChannelStreamingAdapter,
  ChannelThreadingAdapter,
} from "./conversation.ts";
import type { ChannelDirectoryAdapter, ChannelResolverAdapter } from "./directory.ts";
import type { ChannelMediaAdapter, ChannelNativeCommandAdapter, ChannelPreviewAdapter, ChannelReactionAdapter, ChannelTypingAdapter } from "./inbound.ts";
import type { ChannelCapabilities, ChannelConfigSchema, ChannelId, ChannelMeta } from "./meta.ts";
import type { ChannelOnboardingAdapter } from "./onboarding.ts";
import type { ChannelOutboundAdapter } from "./outbound.ts";

/** Adapters are methods, so that a channel with a typed account fits where the account is not known. */
export interface ChannelPlugin<ResolvedAccount = unknown, Probe = unknown, Audit = unknown> {
  id: ChannelId;
  meta: ChannelMeta;
  capabilities: ChannelCapabilities;
  config: ChannelConfigAdapter<ResolvedAccount>;
  outbound?: ChannelOutboundAdapter | undefined;
  configSchema?: ChannelConfigSchema | undefined;
  defaults?: { queue?: { debounceMs?: number | undefined } | undefined } | undefined;
  /** Paths of the configuration that restart the channel, or need nothing, when they change. */
  reload?: { configPrefixes: string[]; noopPrefixes?: string[] | undefined } | undefined;
  onboarding?: ChannelOnboardingAdapter | undefined;
  setupWizard?: unknown;
  setup?: ChannelSetupAdapter | undefined;
  pairing?: ChannelPairingAdapter | undefined;
  security?: ChannelSecurityAdapter<ResolvedAccount> | undefined;
  groups?: ChannelGroupAdapter | undefined;
  mentions?: ChannelMentionAdapter | undefined;
  status?: ChannelStatusAdapter<ResolvedAccount, Probe, Audit> | undefined;
  /** Methods of the gateway that this channel answers, such as `web.login.start`. */
  gatewayMethods?: string[] | undefined;
  gateway?: ChannelGatewayAdapter<ResolvedAccount> | undefined;
  auth?: ChannelAuthAdapter | undefined;
  elevated?: ChannelElevatedAdapter | undefined;
  commands?: ChannelCommandAdapter | undefined;
  streaming?: ChannelStreamingAdapter | undefined;
  threading?: ChannelThreadingAdapter | undefined;
  messaging?: ChannelMessagingAdapter | undefined;
  agentPrompt?: ChannelAgentPromptAdapter | undefined;
  directory?: ChannelDirectoryAdapter | undefined;
  resolver?: ChannelResolverAdapter | undefined;
  actions?: ChannelMessageActionAdapter | undefined;
  heartbeat?: ChannelHeartbeatAdapter | undefined;
  agentTools?: ChannelAgentToolFactory | ChannelAgentTool[] | undefined;
  media?: ChannelMediaAdapter | undefined;
  typing?: ChannelTypingAdapter | undefined;
  preview?: ChannelPreviewAdapter | undefined;
  reactions?: ChannelReactionAdapter | undefined;
  nativeCommands?: ChannelNativeCommandAdapter | undefined;
  approvalCapability?: unknown;
  lifecycle?: unknown;
  secrets?: unknown;
  allowlist?: unknown;
  doctor?: unknown;
  bindings?: unknown;
  conversationBindings?: unknown;
  message?: unknown;
}

export interface ChannelDock {
  id: ChannelId;
  capabilities: ChannelCapabilities;
  commands?: ChannelCommandAdapter | undefined;
  outbound?: { textChunkLimit?: number | undefined } | undefined;
  streaming?: { blockStreamingCoalesceDefaults?: { minChars?: number | undefined; idleMs?: number | undefined } | undefined } | undefined;
  elevated?: ChannelElevatedAdapter | undefined;
  config?:
    | {
        resolveAllowFrom?(params: { cfg: HostConfig; accountId?: string | null | undefined }): (string | number)[] | undefined;
        formatAllowFrom?(params: { cfg: HostConfig; accountId?: string | null | undefined; allowFrom: (string | number)[] }): string[];
      }
    | undefined;
  groups?: ChannelGroupAdapter | undefined;
  mentions?: ChannelMentionAdapter | undefined;
  threading?: ChannelThreadingAdapter | undefined;
  agentPrompt?: ChannelAgentPromptAdapter | undefined;
}
