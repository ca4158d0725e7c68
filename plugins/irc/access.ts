/** Who may write, as the host and people see it. */
import { type ChannelPlugin, formatPairingApproveHint } from "openclaw/plugin-sdk";
import { type AccountReader, groupLayers, groupRules, type IrcAccount } from "./account.ts";
import { type Fields, fieldsOf, textsOf } from "./fields.ts";
import { allowEntry, isChosenName } from "./inbound/sender.ts";

type GroupsAdapter = NonNullable<ChannelPlugin["groups"]>;
type GroupTools = ReturnType<NonNullable<GroupsAdapter["resolveToolPolicy"]>>;

/** By id only: a name would let people choose their rule. */
function toolsBySender(layer: Fields, senderId: string): GroupTools | undefined {
  const rules = fieldsOf(layer["toolsBySender"]) ?? {};
  const key = Object.keys(rules).find((name) => name !== "*" && allowEntry(name) === senderId) ?? "*";
  return fieldsOf(rules[key]);
}

export function createGroups({ readAccount }: AccountReader): GroupsAdapter {
  return {
    resolveRequireMention: ({ cfg, groupId, accountId }) => groupRules(readAccount(cfg, accountId).groups, groupId ?? "").requireMention,
    resolveToolPolicy({ cfg, groupId, accountId, senderId }) {
      const layers = groupLayers(readAccount(cfg, accountId).groups, groupId ?? "");
      return layers
        .map((layer) => toolsBySender(layer, senderId ?? "") ?? (fieldsOf(layer["tools"]) as GroupTools | undefined))
        .find((tools) => tools !== undefined);
    },
  };
}

/** Entries of all lists of an account that name what anybody can call themselves. */
export function chosenNames(account: IrcAccount): string[] {
  const perGroup = Object.values(account.groups).flatMap((group) => textsOf(fieldsOf(group)?.["allowFrom"]));
  return [...new Set([...account.allowFrom, ...account.groupAllowFrom, ...perGroup].filter(isChosenName))];
}

export const NAMES_ADVICE = "write account:<services account>, nick@host or nick!user@host; /whoami shows an id";

export const security: NonNullable<ChannelPlugin<IrcAccount>["security"]> = {
  resolveDmPolicy({ account, cfg }) {
    const section = fieldsOf(fieldsOf(cfg.channels?.["irc"])?.["accounts"])?.[account.accountId];
    const base = section === undefined ? "channels.irc." : `channels.irc.accounts.${account.accountId}.`;
    return {
      policy: account.dmPolicy,
      allowFrom: [...account.allowFrom],
      policyPath: `${base}dmPolicy`,
      allowFromPath: `${base}allowFrom`,
      approveHint: formatPairingApproveHint("irc"),
      normalizeEntry: allowEntry,
    };
  },
  collectWarnings({ account }) {
    const warnings: string[] = [];
    const names = chosenNames(account);
    if (names.length > 0 && !account.trustsNames) {
      warnings.push(`IRC allow lists: anybody can take a nick or a user name, so these entries admit nobody: ${names.join(", ")}. ${NAMES_ADVICE}.`);
    }
    if (account.trustsNames) {
      const whom = names.length > 0 ? `: anyone who calls themselves ${names.join(", ")} is let in` : "";
      warnings.push(`channels.irc.dangerouslyAllowNameMatching is on${whom}. Take it out and use accounts or hosts.`);
    }
    if (account.groupPolicy === "open") {
      const where = Object.keys(account.groups).length > 0 ? "in the channels of channels.irc.groups" : "in every channel the bot is in";
      warnings.push(`channels.irc.groupPolicy is "open": everybody may use the bot ${where}. Set it to "allowlist" and list people in groupAllowFrom.`);
    }
    if (!account.tls && account.host !== "" && !/^(?:localhost|127\.|\[?::1)/.test(account.host)) {
      warnings.push(`channels.irc.tls is off: passwords and messages to ${account.host} can be read on the way.`);
    }
    return warnings;
  },
};
