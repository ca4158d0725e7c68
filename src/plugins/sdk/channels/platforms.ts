/** Small things of single platforms. */
import type { BaseProbeResult, HostConfig } from "../../../protocol/index.ts";
import { recordOf } from "../account-ids.ts";
import { normalizeE164 } from "../text.ts";
import { resolveDiscordAccount } from "./accounts.ts";
import { channelUnavailable } from "./onboarding.ts";

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

/** Who gets heartbeats. Without a named recipient this asks the sessions of WhatsApp, which are not there. */
export function resolveWhatsAppHeartbeatRecipients(
  _cfg: HostConfig,
  options: { to?: string | undefined; all?: boolean | undefined } = {},
): { recipients: string[]; source: string } {
  if (options.to) return { recipients: [normalizeE164(options.to)], source: "flag" };
  throw channelUnavailable("whatsapp", "finding the recipients of a heartbeat");
}
