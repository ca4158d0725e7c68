/** Onboarding of channels that are not part of this host yet: their state and policy can be read and set, setting them up cannot. */
import { AppError } from "../../../base/errors.ts";
import type { ChannelOnboardingAdapter, DmPolicy, HostConfig } from "../../../protocol/index.ts";
import { channelSection, recordOf } from "../account-ids.ts";
import { addWildcardAllowFrom } from "../allow-lists.ts";
import { withChannelSection } from "../config-sections.ts";
import {
  listSlackAccountIds,
  resolveDiscordAccount,
  resolveIMessageAccount,
  resolveSignalAccount,
  resolveSlackAccount,
  resolveTelegramAccount,
} from "./accounts.ts";
import { getChatChannelMeta } from "./meta.ts";

/** Says that a channel is not there, instead of pretending. */
export function channelUnavailable(channel: string, what: string): AppError {
  return new AppError("UNAVAILABLE", `${what} needs the ${channel} channel, which this version does not have yet; install a plugin that brings it`, {
    details: { channel },
  });
}

function onboarding(channel: string, isConfigured: (cfg: HostConfig) => boolean): ChannelOnboardingAdapter {
  const { label } = getChatChannelMeta(channel);
  return {
    channel,
    async getStatus({ cfg }) {
      const configured = isConfigured(cfg);
      const state = configured ? "configured" : "not configured";
      return { channel, configured, statusLines: [`${label}: ${state}`], selectionHint: state };
    },
    async configure() {
      throw channelUnavailable(channel, `setting up ${label}`);
    },
    dmPolicy: {
      label,
      channel,
      policyKey: `channels.${channel}.dmPolicy`,
      allowFromKey: `channels.${channel}.allowFrom`,
      getCurrent: (cfg) => (channelSection(cfg, channel)?.["dmPolicy"] as DmPolicy | undefined) ?? "pairing",
      setPolicy(cfg, policy) {
        const section = channelSection(cfg, channel) ?? {};
        const allowFrom = Array.isArray(section["allowFrom"]) ? section["allowFrom"] : [];
        return withChannelSection(cfg, channel, { ...section, dmPolicy: policy, ...(policy === "open" ? { allowFrom: addWildcardAllowFrom(allowFrom) } : {}) });
      },
    },
    disable: (cfg) => withChannelSection(cfg, channel, { ...channelSection(cfg, channel), enabled: false }),
  };
}

export const discordOnboardingAdapter = onboarding("discord", (cfg) => resolveDiscordAccount({ cfg }).tokenSource !== "none");
export const telegramOnboardingAdapter = onboarding("telegram", (cfg) => resolveTelegramAccount({ cfg }).tokenSource !== "none");
export const signalOnboardingAdapter = onboarding("signal", (cfg) => resolveSignalAccount({ cfg }).configured);
export const imessageOnboardingAdapter = onboarding("imessage", (cfg) => resolveIMessageAccount({ cfg }).configured);
export const whatsappOnboardingAdapter = onboarding("whatsapp", (cfg) => Object.keys(recordOf(cfg.channels?.["whatsapp"]) ?? {}).length > 0);
export const slackOnboardingAdapter = onboarding("slack", (cfg) =>
  listSlackAccountIds(cfg).some((accountId) => {
    const account = resolveSlackAccount({ cfg, accountId });
    return account.botTokenSource !== "none" && account.appTokenSource !== "none";
  }),
);
