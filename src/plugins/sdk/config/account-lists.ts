/** Accounts of a channel, as its configuration and its environment say. */
import type { ConfigSection, HostConfig } from "../../../protocol/index.ts";
import {
  accountSection,
  accountSections,
  channelSection,
  DEFAULT_ACCOUNT_ID,
  mergedAccount,
  normalizeAccountId,
  normalizeOptionalAccountId,
  type AccountListHelpers,
} from "../account-ids.ts";
import { envValue } from "../host-binding.ts";

export interface AccountListOptions {
  /** Ids are compared and given in this form. */
  readonly normalizeAccountId?: ((id: string) => string) | undefined;
  /** Without any account: the default one (default), or none. */
  readonly fallbackAccountIdWhenEmpty?: string | false | undefined;
  /** An account that the channel's own keys stand for. */
  readonly resolveImplicitAccountId?: ((cfg: HostConfig) => string | undefined) | undefined;
  /** The same by keys of the channel and variables of the environment. */
  readonly implicitDefaultAccount?: { readonly channelKeys?: readonly string[] | undefined; readonly envVars?: readonly string[] | undefined } | undefined;
  /** Keys of the channel that an account does not inherit. */
  readonly omitKeys?: readonly string[] | undefined;
}

export interface NewerAccountListHelpers extends AccountListHelpers {
  /** The channel's keys with the account's over them. */
  resolveAccountConfig(cfg: HostConfig, accountId: string): ConfigSection;
}

const isSet = (value: unknown): boolean => (typeof value === "string" ? value.trim() !== "" : value !== undefined && value !== null);

export function createAccountListHelpers(channelKey: string, options: AccountListOptions = {}): NewerAccountListHelpers {
  const { implicitDefaultAccount: implicit, fallbackAccountIdWhenEmpty = DEFAULT_ACCOUNT_ID, omitKeys = [] } = options;
  const normal = options.normalizeAccountId ?? ((id: string) => id);

  function implicitId(cfg: HostConfig): string | undefined {
    const own = options.resolveImplicitAccountId?.(cfg);
    if (own !== undefined || !implicit) return own;
    const section = channelSection(cfg, channelKey);
    const found = implicit.channelKeys?.some((key) => isSet(section?.[key])) || implicit.envVars?.some((name) => envValue(name) !== undefined);
    return found ? DEFAULT_ACCOUNT_ID : undefined;
  }

  const listConfiguredAccountIds = (cfg: HostConfig): string[] => [
    ...new Set(
      Object.keys(accountSections(cfg, channelKey) ?? {})
        .filter(Boolean)
        .map(normal),
    ),
  ];
  const listAccountIds = (cfg: HostConfig): string[] => {
    const own = implicitId(cfg);
    const ids = [...new Set([...(own === undefined ? [] : [own]), ...listConfiguredAccountIds(cfg)])].sort((a, b) => a.localeCompare(b));
    return ids.length > 0 || fallbackAccountIdWhenEmpty === false ? ids : [fallbackAccountIdWhenEmpty];
  };
  return {
    listConfiguredAccountIds,
    listAccountIds,
    resolveDefaultAccountId(cfg) {
      const ids = listAccountIds(cfg);
      const written = channelSection(cfg, channelKey)?.["defaultAccount"];
      const wanted = normalizeOptionalAccountId(typeof written === "string" ? written : undefined);
      if (wanted !== undefined && ids.some((id) => normalizeAccountId(id) === wanted)) return wanted;
      return ids.includes(DEFAULT_ACCOUNT_ID) ? DEFAULT_ACCOUNT_ID : (ids[0] ?? DEFAULT_ACCOUNT_ID);
    },
    resolveAccountConfig(cfg, accountId) {
      const merged = mergedAccount(cfg, channelKey, normalizeAccountId(accountId));
      const own = accountSection(cfg, channelKey, normalizeAccountId(accountId)) ?? {};
      return Object.fromEntries(Object.entries(merged).filter(([key]) => !omitKeys.includes(key) || Object.hasOwn(own, key)));
    },
  };
}

/** An entry of `accounts`, ids compared in their normal form. */
export function resolveAccountEntry<T>(accounts: Readonly<Record<string, T>> | undefined, accountId: string): T | undefined {
  if (!accounts) return undefined;
  if (Object.hasOwn(accounts, accountId)) return accounts[accountId];
  const key = Object.keys(accounts).find((name) => normalizeAccountId(name) === normalizeAccountId(accountId));
  return key === undefined ? undefined : accounts[key];
}

interface AccountFacts {
  readonly accountId: string;
  readonly name?: string | undefined;
  readonly enabled?: boolean | undefined;
}

/** What is said about an account that need not run. */
export function describeAccountSnapshot<E extends Record<string, unknown>>(params: {
  readonly account: AccountFacts;
  readonly configured?: boolean | undefined;
  readonly extra?: E | undefined;
}): { accountId: string; name: string | undefined; enabled: boolean; configured: boolean | undefined } & E {
  const { account, configured, extra } = params;
  return { accountId: account.accountId, name: account.name, enabled: account.enabled !== false, configured, ...(extra as E) };
}

/** As {@link describeAccountSnapshot}, with how messages arrive. */
export function describeWebhookAccountSnapshot(params: {
  readonly account: AccountFacts & { readonly config?: { readonly webhookUrl?: unknown; readonly webhookPath?: unknown } | undefined };
  readonly configured?: boolean | undefined;
  readonly mode?: string | undefined;
  readonly extra?: Record<string, unknown> | undefined;
}): Record<string, unknown> {
  return { ...describeAccountSnapshot(params), mode: params.mode ?? (isSet(params.account.config?.webhookUrl) ? "webhook" : "polling"), ...params.extra };
}
