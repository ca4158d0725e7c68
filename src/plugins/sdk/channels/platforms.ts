/**
 * Parts of channels that older hosts carried themselves, for the plugins that wrapped them: their state and policy can be read and set, setting them up cannot.
 * And small things of single platforms.
 */
import { AppError } from "../../../base/errors.ts";
import type { BaseProbeResult, ChannelOnboardingAdapter, DmPolicy, HostConfig } from "../../../protocol/index.ts";
import { channelSection, recordOf } from "../account-ids.ts";
import { addWildcardAllowFrom } from "../access/allow-lists.ts";
import { withChannelSection } from "../config/config-sections.ts";
import { normalizeE164 } from "../text.ts";
import {
  listSlackAccountIds,
  resolveDiscordAccount,
  resolveIMessageAccount,
  resolveSignalAccount,
  resolveSlackAccount,
  resolveTelegramAccount,
} from "./accounts.ts";
import { getChatChannelMeta } from "./meta.ts";

const unavailable = (channel: string, what: string, instead: string): AppError =>
  new AppError("UNAVAILABLE", `${what} is not available to plugins: ${instead}`, { details: { channel } });

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
      throw unavailable(channel, `setting up ${label}`, `the gateway does this itself. Run: openclaw channels add --channel ${channel}`);
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

export interface TelegramProbe extends BaseProbeResult {
  status?: number | null | undefined;
  elapsedMs: number;
  bot?:
    | {
        id?: number | null | undefined;
        username?: string | null | undefined;
        canJoinGroups?: boolean | null | undefined;
        canReadAllGroupMessages?: boolean | null | undefined;
        supportsInlineQueries?: boolean | null | undefined;
      }
    | undefined;
  webhook?: { url?: string | null | undefined; hasCustomCert?: boolean | null | undefined } | undefined;
}

/** The whole number that an id is, if it is one. */
export function parseTelegramThreadId(threadId?: string | number | null): number | undefined {
  const id = typeof threadId === "number" ? Math.trunc(threadId) : Number.parseInt(threadId?.trim() ?? "", 10);
  return Number.isFinite(id) ? id : undefined;
}

export const parseTelegramReplyToMessageId = (replyToId?: string | null): number | undefined => parseTelegramThreadId(replyToId);

/** Configured rooms whose permissions can be looked up, and how many are named in a way that cannot. */
export function collectDiscordAuditChannelIds(params: { cfg: HostConfig; accountId?: string | null | undefined }): {
  channelIds: string[];
  unresolvedChannels: number;
} {
  const guilds = Object.values(recordOf(resolveDiscordAccount(params).config["guilds"]) ?? {}).map((guild) => recordOf(recordOf(guild)?.["channels"]) ?? {});
  const rooms = guilds.flatMap((channels) => Object.entries(channels));
  const used = rooms.filter(([, room]) => recordOf(room)?.["enabled"] !== false && recordOf(room)?.["allow"] !== false);
  const names = [...new Set(used.map(([name]) => name.trim()).filter((name) => name && name !== "*"))];
  const channelIds = names.filter((name) => /^\d+$/.test(name)).sort();
  return { channelIds, unresolvedChannels: names.length - channelIds.length };
}

/** Who gets heartbeats. The gateway finds those that are not named, once a heartbeat is due. */
export function resolveWhatsAppHeartbeatRecipients(
  _cfg: HostConfig,
  options: { to?: string | undefined; all?: boolean | undefined } = {},
): { recipients: string[]; source: string } {
  if (options.to) return { recipients: [normalizeE164(options.to)], source: "flag" };
  throw unavailable("whatsapp", "finding the recipients of a WhatsApp heartbeat", "pass to, or leave it to the gateway (agents.defaults.heartbeat.target)");
}
