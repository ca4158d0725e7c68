import { isObject, valueAt } from "../config/index.ts";

/** A channel, or one of its accounts, as the configuration has it. */
export interface ChannelScope {
  readonly channel: string;
  /** `channels.telegram.accounts.work`. */
  readonly path: readonly string[];
  /** The account's own keys over those of its channel. */
  readonly section: Readonly<Record<string, unknown>>;
  /** Only what stands here itself. */
  readonly own: Readonly<Record<string, unknown>>;
}

const NO_CHANNEL = new Set(["defaults", "modelByChannel"]);

/** Each channel that is on, and each of its accounts. */
export function channelScopes(cfg: unknown): readonly ChannelScope[] {
  const channels = valueAt(cfg, ["channels"]);
  if (!isObject(channels)) return [];
  return Object.entries(channels).flatMap(([channel, section]): ChannelScope[] => {
    if (NO_CHANNEL.has(channel) || !isObject(section) || section["enabled"] === false) return [];
    const { accounts, ...shared } = section;
    const own = isObject(accounts) ? Object.entries(accounts) : [];
    return [
      { channel, path: ["channels", channel], section: shared, own: shared },
      ...own.flatMap(([name, account]) =>
        isObject(account) && account["enabled"] !== false
          ? [{ channel, path: ["channels", channel, "accounts", name], section: { ...shared, ...account }, own: account }]
          : [],
      ),
    ];
  });
}

const textAt = (section: unknown, ...path: string[]): string | undefined => {
  const found = valueAt(section, path);
  return typeof found === "string" ? found : undefined;
};

export const dmPolicyOf = ({ section }: ChannelScope): string => textAt(section, "dmPolicy") ?? textAt(section, "dm", "policy") ?? "pairing";
export const groupPolicyOf = ({ section }: ChannelScope): string => textAt(section, "groupPolicy") ?? "allowlist";

export function entriesOf(section: unknown, ...path: string[]): string[] {
  const found = valueAt(section, path);
  return Array.isArray(found) ? found.filter((item) => typeof item === "string" || typeof item === "number").map((item) => String(item).trim()) : [];
}

/** Who may write alone, as the section names them. */
export const allowFromOf = ({ section }: ChannelScope): string[] => {
  const direct = entriesOf(section, "allowFrom");
  return direct.length > 0 ? direct : entriesOf(section, "dm", "allowFrom");
};

/** Anybody at all may have the agent work, alone or in a group. */
export const isOpen = (scope: ChannelScope): boolean =>
  (dmPolicyOf(scope) !== "disabled" && allowFromOf(scope).includes("*")) || groupPolicyOf(scope) === "open";
