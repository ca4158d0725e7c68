/** Channels that older hosts carried themselves. What is only about configuration is answered; what needs the platform is pending. */
import type { ChannelMessageActionAdapter } from "../../../protocol/index.ts";
import { normalizeAccountId } from "../../sdk/account-ids.ts";
import { listLineAccountIds, resolveDefaultLineAccountId, resolveLineAccount, resolveTelegramAccount } from "../../sdk/channels/accounts.ts";
import type { RuntimeChannel } from "../../sdk/types/index.ts";
import { PENDING, type PendingMember, type PendingPath } from "../pending.ts";

type Transports = Pick<RuntimeChannel, "discord" | "slack" | "telegram" | "signal" | "imessage" | "whatsapp" | "line">;

/** All pending members of a channel by their names. */
function membersOf(channel: keyof Transports, pending: PendingMember): Record<string, unknown> {
  const row: { readonly now?: readonly string[]; readonly later?: readonly string[] } = PENDING[channel];
  const prefix = `channel.${channel}.`;
  return Object.fromEntries([...(row.now ?? []), ...(row.later ?? [])].map((path) => [path.slice(prefix.length), pending(path as PendingPath)]));
}

/** No actions until the channel is there. */
const noActions = (): ChannelMessageActionAdapter => ({ listActions: () => [] });

/** Groups that are answered without a mention, which a bot must be allowed to read. */
function collectUnmentionedGroupIds(groups: Record<string, unknown> | undefined): ReturnType<Transports["telegram"]["collectUnmentionedGroupIds"]> {
  const open = Object.entries(groups ?? {}).filter(([, group]) => {
    const { enabled, requireMention } = (group ?? {}) as { enabled?: unknown; requireMention?: unknown };
    return enabled !== false && requireMention === false;
  });
  const ids = open.map(([id]) => id.trim()).filter((id) => id !== "" && id !== "*");
  const groupIds = ids.filter((id) => /^-?\d+$/.test(id));
  return { groupIds, unresolvedGroups: ids.length - groupIds.length, hasWildcardUnmentionedGroups: open.some(([id]) => id.trim() === "*") };
}

export function createTransports(pending: PendingMember): Transports {
  const of = <K extends keyof Transports>(channel: K, own: Partial<Transports[K]> = {}): Transports[K] =>
    ({ ...membersOf(channel, pending), ...own }) as Transports[K];
  return {
    discord: of("discord", { messageActions: noActions() }),
    slack: of("slack"),
    telegram: of("telegram", {
      messageActions: noActions(),
      collectUnmentionedGroupIds,
      resolveTelegramToken(cfg, options) {
        const { token, tokenSource } = resolveTelegramAccount({ cfg: cfg ?? {}, accountId: options?.["accountId"] as string | undefined });
        return { token, source: tokenSource };
      },
    }),
    signal: of("signal", { messageActions: noActions() }),
    imessage: of("imessage"),
    whatsapp: of("whatsapp"),
    line: of("line", { listLineAccountIds, resolveDefaultLineAccountId, resolveLineAccount, normalizeAccountId }),
  };
}
