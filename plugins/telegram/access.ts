/** Who may write, in which groups, and with what. */
import {
  type ChannelPlugin,
  formatPairingApproveHint,
  resolveChannelAccountConfigBasePath,
  resolveTelegramGroupRequireMention,
  resolveTelegramGroupToolPolicy,
} from "openclaw/plugin-sdk";
import { groupRules, readAccount, type TelegramAccount } from "./account.ts";
import { fieldsOf } from "./fields.ts";

/** `tg:123` → `123`. */
export const bareEntry = (entry: string): string => entry.trim().replace(/^(?:(?:telegram|tg):)+/i, "");

/** Names can be changed by their owners and given to others: they admit nobody. */
export function namesIn(entries: readonly (string | number)[] | undefined): string[] {
  return (entries ?? []).map((entry) => bareEntry(String(entry))).filter((entry) => entry !== "" && entry !== "*" && !/^-?\d+$/.test(entry));
}

export const groups: NonNullable<ChannelPlugin["groups"]> = {
  resolveRequireMention(params) {
    const [, chatId, topicId] = /^(?:telegram:|group:)*(-?\d+)(?::(?:topic:)?(\d+))?$/.exec(params.groupId?.trim() ?? "") ?? [];
    const rule = chatId === undefined ? undefined : groupRules(readAccount(params.cfg, params.accountId).groups, chatId, topicId).requireMention;
    return rule ?? resolveTelegramGroupRequireMention(params);
  },
  // By id only: a name would let people choose their rule.
  resolveToolPolicy: (params) => resolveTelegramGroupToolPolicy({ ...params, senderName: null, senderUsername: null, senderE164: null }),
};

export const security: NonNullable<ChannelPlugin<TelegramAccount>["security"]> = {
  resolveDmPolicy({ account, cfg, accountId }) {
    const base = resolveChannelAccountConfigBasePath({ cfg, channelKey: "telegram", accountId: accountId ?? account.accountId });
    return {
      policy: account.config.dmPolicy ?? "pairing",
      allowFrom: account.config.allowFrom ?? [],
      policyPath: `${base}dmPolicy`,
      allowFromPath: `${base}allowFrom`,
      approveHint: formatPairingApproveHint("telegram"),
      normalizeEntry: bareEntry,
    };
  },
  collectWarnings({ account }) {
    const { config } = account;
    const warnings: string[] = [];
    const names = namesIn([...(config.allowFrom ?? []), ...(config.groupAllowFrom ?? [])]);
    if (names.length > 0) {
      warnings.push(`Telegram allow lists take numeric user ids; these entries admit nobody: ${names.join(", ")}. Write /whoami to the bot to see an id.`);
    }
    const isNamed = Object.keys(fieldsOf(config["groups"]) ?? {}).length > 0;
    if (config.groupPolicy === "open") {
      const where = isNamed ? "in the groups of channels.telegram.groups" : "in every group the bot is added to";
      warnings.push(`channels.telegram.groupPolicy is "open": everybody may use the bot ${where}. Set it to "allowlist" and list people in groupAllowFrom.`);
    }
    return warnings;
  },
};
