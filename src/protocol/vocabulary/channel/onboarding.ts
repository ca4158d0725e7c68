/** How a channel is set up with a person at the terminal. */
import type { RuntimeEnv, WizardPrompter } from "../environment.ts";
import type { DmPolicy, HostConfig } from "../host-config.ts";
import type { ChannelId } from "./meta.ts";

export interface SetupChannelsOptions {
  allowDisable?: boolean | undefined;
  allowSignalInstall?: boolean | undefined;
  onSelection?: ((selection: ChannelId[]) => void) | undefined;
  accountIds?: Partial<Record<ChannelId, string>> | undefined;
  onAccountId?: ((channel: ChannelId, accountId: string) => void) | undefined;
  promptAccountIds?: boolean | undefined;
  whatsappAccountId?: string | undefined;
  promptWhatsAppAccountId?: boolean | undefined;
  onWhatsAppAccountId?: ((accountId: string) => void) | undefined;
  forceAllowFromChannels?: ChannelId[] | undefined;
  skipStatusNote?: boolean | undefined;
  skipDmPolicyPrompt?: boolean | undefined;
  skipConfirm?: boolean | undefined;
  quickstartDefaults?: boolean | undefined;
  initialSelection?: ChannelId[] | undefined;
}

export interface ChannelOnboardingStatusContext {
  cfg: HostConfig;
  options?: SetupChannelsOptions | undefined;
  accountOverrides: Partial<Record<ChannelId, string>>;
}

export interface ChannelOnboardingStatus {
  channel: ChannelId;
  configured: boolean;
  statusLines: string[];
  selectionHint?: string | undefined;
  quickstartScore?: number | undefined;
}

export interface ChannelOnboardingConfigureContext extends ChannelOnboardingStatusContext {
  runtime: RuntimeEnv;
  prompter: WizardPrompter;
  shouldPromptAccountIds: boolean;
  forceAllowFrom: boolean;
  /** What to do at the platform, where some of it depends on settings: the host has not shown it. */
  steps?: readonly ChannelSetupStep[] | undefined;
}

/** One of the `setupSteps` of a channel's manifest. */
export interface ChannelSetupStep {
  text: string;
  /** Only with this setting. */
  when?: { path: string; is: string } | undefined;
}

export interface ChannelOnboardingResult {
  cfg: HostConfig;
  accountId?: string | undefined;
}

export interface ChannelOnboardingDmPolicy {
  label: string;
  channel: ChannelId;
  policyKey: string;
  allowFromKey: string;
  getCurrent(cfg: HostConfig): DmPolicy;
  setPolicy(cfg: HostConfig, policy: DmPolicy): HostConfig;
  promptAllowFrom?(params: { cfg: HostConfig; prompter: WizardPrompter; accountId?: string | undefined }): Promise<HostConfig>;
}

export interface ChannelOnboardingAdapter {
  channel: ChannelId;
  getStatus(ctx: ChannelOnboardingStatusContext): Promise<ChannelOnboardingStatus>;
  configure(ctx: ChannelOnboardingConfigureContext): Promise<ChannelOnboardingResult>;
  dmPolicy?: ChannelOnboardingDmPolicy | undefined;
  onAccountRecorded?(accountId: string, options?: SetupChannelsOptions): void;
  disable?(cfg: HostConfig): HostConfig;
}
