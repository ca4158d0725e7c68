import { isObject, valueAt } from "../../../config/index.ts";
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
  title: "Who may write",
  run({ config }) {
    return scopes(config.snapshot().config).flatMap(({ path, section }): Finding[] => {
      const dm = section["dmPolicy"] ?? valueAt(section, ["dm", "policy"]);
      const key = section["dmPolicy"] === undefined ? "dm.policy" : "dmPolicy";
      return [
        ...(dm === "open"
          ? [
              {
                level: "warn" as const,
                text: `${path}.${key} is "open": anybody may write to the agent, and have it work`,
                todo: `openclaw config set ${path}.${key} pairing`,
              },
            ]
          : []),
        ...(section["groupPolicy"] === "open"
          ? [
              {
                level: "warn" as const,
                text: `${path}.groupPolicy is "open": every group that the account is in may write`,
                todo: `openclaw config set ${path}.groupPolicy allowlist`,
              },
            ]
          : []),
      ];
    });
  },
};
