import { namedOwners } from "../../channels/index.ts";
import { isObject, valueAt } from "../../config/index.ts";
import type { Check, Finding } from "../finding.ts";

const NO_CHANNEL = new Set(["defaults"]);

interface Scope {
  readonly path: string;
  readonly section: Record<string, unknown>;
}

/** Each channel, and each of its accounts. */
function scopes(config: unknown): Scope[] {
  const channels = valueAt(config, ["channels"]);
  if (!isObject(channels)) return [];
  return Object.entries(channels).flatMap(([id, section]): Scope[] => {
    if (NO_CHANNEL.has(id) || !isObject(section)) return [];
    const accounts = isObject(section["accounts"]) ? Object.entries(section["accounts"]) : [];
    return [
      { path: `channels.${id}`, section },
      ...accounts.flatMap(([name, account]) => (isObject(account) ? [{ path: `channels.${id}.accounts.${name}`, section: account }] : [])),
    ].filter((scope) => scope.section["enabled"] !== false);
  });
}

/** Chats in which anybody may give the agent work. */
export const openChats: Check = {
  id: "access.open",
  topic: "access",
  title: "Access",
  run({ config }) {
    return scopes(config.snapshot().config).flatMap(({ path, section }): Finding[] => {
      const dm = section["dmPolicy"] ?? valueAt(section, ["dm", "policy"]);
      const key = section["dmPolicy"] === undefined ? "dm.policy" : "dmPolicy";
      return [
        ...(dm === "open"
          ? [
              {
                level: "warn" as const,
                text: `${path}.${key} is "open": anyone can message the agent and use its tools`,
                todo: `openclaw config set ${path}.${key} pairing`,
              },
            ]
          : []),
        ...(section["groupPolicy"] === "open"
          ? [
              {
                level: "warn" as const,
                text: `${path}.groupPolicy is "open": every group the account is in can message the agent`,
                todo: `openclaw config set ${path}.groupPolicy allowlist`,
              },
            ]
          : []),
      ];
    });
  },
};

/** Without an owner nobody may loosen anything from a chat; with a list that only lets people write, everybody on it may. */
export const owners: Check = {
  id: "access.owner",
  topic: "access",
  title: "Owner",
  run({ config }) {
    const { config: current } = config.snapshot();
    const [channel] = Object.keys(current.channels ?? {}).filter((id) => !NO_CHANNEL.has(id));
    if (channel === undefined) return [];
    const named = namedOwners(current);
    if (named.length === 0) {
      return [
        {
          level: "warn",
          text: "no owner is set, so /exec, /elevated, /approve, /config and similar commands are refused in every chat",
          todo: `openclaw pairing owner ${channel} ID, with your own id from /whoami in the chat or from: openclaw pairing allowed ${channel}`,
        },
      ];
    }
    return named
      .filter(({ path, entries }) => path !== "commands.ownerAllowFrom" && entries.length > 1)
      .map(({ path, entries }): Finding => ({
        part: path,
        level: "info",
        text: `commands.ownerAllowFrom is not set, so all ${entries.length} senders of ${path} are owners and can relax how commands run`,
        todo: "set the owners with: openclaw pairing owner <channel> <sender>",
      }));
  },
};
