/** Changes to a channel's section. Each returns a new configuration and leaves the old one alone. */
import type { ConfigSection, HostConfig } from "../../../protocol/index.ts";
import { channelSection, DEFAULT_ACCOUNT_ID, normalizeAccountId, recordOf } from "../account-ids.ts";

/** The configuration with another section for one channel. */
export function withChannelSection(cfg: HostConfig, channel: string, section: ConfigSection): HostConfig {
  return { ...cfg, channels: { ...cfg.channels, [channel]: section } };
}

function accountsOf(section: ConfigSection): ConfigSection {
  return recordOf(section["accounts"]) ?? {};
}

function withAccount(section: ConfigSection, accountId: string, keys: ConfigSection): ConfigSection {
  const accounts = accountsOf(section);
  return { ...section, accounts: { ...accounts, [accountId]: { ...recordOf(accounts[accountId]), ...keys } } };
}

function without(section: ConfigSection, ...keys: readonly string[]): ConfigSection {
  return Object.fromEntries(Object.entries(section).filter(([key]) => !keys.includes(key)));
}

/** Switches an account on or off; with `allowTopLevel` the default account's switch is the channel's own while no accounts are listed. */
export function setAccountEnabledInConfigSection(params: {
  cfg: HostConfig;
  sectionKey: string;
  accountId: string;
  enabled: boolean;
  allowTopLevel?: boolean | undefined;
}): HostConfig {
  const { cfg, sectionKey, enabled } = params;
  const accountId = params.accountId || DEFAULT_ACCOUNT_ID;
  const section = channelSection(cfg, sectionKey) ?? {};
  const top = params.allowTopLevel === true && accountId === DEFAULT_ACCOUNT_ID && !section["accounts"];
  return withChannelSection(cfg, sectionKey, top ? { ...section, enabled } : withAccount(section, accountId, { enabled }));
}

/**
 * Takes an account out. The default account of a channel that lists others loses `clearBaseFields` as well; where it is the only one, the
 * section goes.
 */
export function deleteAccountFromConfigSection(params: {
  cfg: HostConfig;
  sectionKey: string;
  accountId: string;
  clearBaseFields?: string[] | undefined;
}): HostConfig {
  const { cfg, sectionKey } = params;
  const accountId = params.accountId || DEFAULT_ACCOUNT_ID;
  const section = channelSection(cfg, sectionKey);
  if (!section) return cfg;
  const isDefault = accountId === DEFAULT_ACCOUNT_ID;
  const accounts = accountsOf(section);
  if (isDefault && Object.keys(accounts).length === 0) {
    const channels = without(cfg.channels ?? {}, sectionKey) as NonNullable<HostConfig["channels"]>;
    return Object.keys(channels).length > 0 ? { ...cfg, channels } : without(cfg, "channels");
  }
  const left = without(accounts, accountId);
  const base = without(section, "accounts", ...(isDefault ? (params.clearBaseFields ?? []) : []));
  return withChannelSection(cfg, sectionKey, Object.keys(left).length > 0 ? { ...base, accounts: left } : base);
}

/** Names an account: at the section while it is the only one, in `accounts` otherwise. */
export function applyAccountNameToChannelSection(params: {
  cfg: HostConfig;
  channelKey: string;
  accountId: string;
  name?: string | undefined;
  alwaysUseAccounts?: boolean | undefined;
}): HostConfig {
  const { cfg, channelKey } = params;
  const name = params.name?.trim();
  if (!name) return cfg;
  const accountId = normalizeAccountId(params.accountId);
  const section = channelSection(cfg, channelKey) ?? {};
  const inAccounts = params.alwaysUseAccounts === true || accountId !== DEFAULT_ACCOUNT_ID || Object.keys(accountsOf(section)).length > 0;
  if (!inAccounts) return withChannelSection(cfg, channelKey, { ...section, name });
  const base = accountId === DEFAULT_ACCOUNT_ID ? without(section, "name") : section;
  return withChannelSection(cfg, channelKey, withAccount(base, accountId, { name }));
}

/** Moves the section's `name` to its default account, which a second account makes necessary. */
export function migrateBaseNameToDefaultAccount(params: { cfg: HostConfig; channelKey: string; alwaysUseAccounts?: boolean | undefined }): HostConfig {
  const { cfg, channelKey } = params;
  const section = channelSection(cfg, channelKey);
  const name = typeof section?.["name"] === "string" ? section["name"].trim() : "";
  if (params.alwaysUseAccounts === true || !section || !name) return cfg;
  const named = recordOf(accountsOf(section)[DEFAULT_ACCOUNT_ID])?.["name"];
  return withChannelSection(cfg, channelKey, withAccount(without(section, "name"), DEFAULT_ACCOUNT_ID, { name: named || name }));
}
