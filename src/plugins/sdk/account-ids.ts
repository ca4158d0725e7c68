/** Names of accounts, and where their configuration stands. */
import type { ConfigSection, HostConfig } from "../../protocol/index.ts";

/** The account that is meant when none is named. */
export const DEFAULT_ACCOUNT_ID = "default";

const MAX_LENGTH = 64;

/** `[a-z0-9_-]`, 1 to 64 characters; anything else becomes `-`, nothing becomes the default account. */
export function normalizeAccountId(value?: string | null): string {
  return normalizeOptionalAccountId(value) ?? DEFAULT_ACCOUNT_ID;
}

/** As {@link normalizeAccountId}, but nothing stays nothing. */
export function normalizeOptionalAccountId(value?: string | null): string | undefined {
  const id = (value ?? "").trim().toLowerCase();
  const fits = /^[a-z0-9][a-z0-9_-]*$/.test(id) && id.length <= MAX_LENGTH;
  return (
    (fits
      ? id
      : id
          .replaceAll(/[^a-z0-9_-]+/g, "-")
          .replaceAll(/^-+|-+$/g, "")
          .slice(0, MAX_LENGTH)) || undefined
  );
}

/** The section of a channel, if it is an object. */
export function channelSection(cfg: HostConfig | undefined, channel: string): ConfigSection | undefined {
  return recordOf(cfg?.channels?.[channel]);
}

/** The value as an object with keys, if it is one. */
export function recordOf(value: unknown): ConfigSection | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as ConfigSection) : undefined;
}

/** The accounts that a channel's section lists. */
export function accountSections(cfg: HostConfig | undefined, channel: string): ConfigSection | undefined {
  return recordOf(channelSection(cfg, channel)?.["accounts"]);
}

/** The own keys of one account; ids are compared in their normal form. */
export function accountSection(cfg: HostConfig | undefined, channel: string, accountId: string): ConfigSection | undefined {
  const accounts = accountSections(cfg, channel);
  if (!accounts) return undefined;
  const key = Object.hasOwn(accounts, accountId) ? accountId : Object.keys(accounts).find((name) => normalizeAccountId(name) === accountId);
  return key === undefined ? undefined : recordOf(accounts[key]);
}

/** What holds for one account: the channel's keys with the account's over them. */
export function mergedAccount(cfg: HostConfig | undefined, channel: string, accountId: string): ConfigSection {
  const { accounts: _accounts, ...base } = channelSection(cfg, channel) ?? {};
  return { ...base, ...accountSection(cfg, channel, accountId) };
}

export interface AccountListHelpers {
  listConfiguredAccountIds(cfg: HostConfig): string[];
  /** At least the default account. */
  listAccountIds(cfg: HostConfig): string[];
  resolveDefaultAccountId(cfg: HostConfig): string;
}

/** The accounts of one channel as its configuration lists them. */
export function createAccountListHelpers(channelKey: string): AccountListHelpers {
  const listConfiguredAccountIds = (cfg: HostConfig) => Object.keys(accountSections(cfg, channelKey) ?? {}).filter(Boolean);
  const listAccountIds = (cfg: HostConfig) => {
    const ids = listConfiguredAccountIds(cfg).sort((a, b) => a.localeCompare(b));
    return ids.length > 0 ? ids : [DEFAULT_ACCOUNT_ID];
  };
  const resolveDefaultAccountId = (cfg: HostConfig) => {
    const ids = listAccountIds(cfg);
    return ids.includes(DEFAULT_ACCOUNT_ID) ? DEFAULT_ACCOUNT_ID : ids[0]!;
  };
  return { listConfiguredAccountIds, listAccountIds, resolveDefaultAccountId };
}

/** Where the keys of an account stand, as a dotted prefix to put a key behind. */
export function resolveChannelAccountConfigBasePath(params: { cfg: HostConfig; channelKey: string; accountId: string }): string {
  const own = Boolean(accountSections(params.cfg, params.channelKey)?.[params.accountId]);
  return own ? `channels.${params.channelKey}.accounts.${params.accountId}.` : `channels.${params.channelKey}.`;
}
