/** Accounts in the configuration: which there are, how they are added, switched and removed. */
import {
  applyAccountNameToChannelSection,
  type ChannelPlugin,
  DEFAULT_ACCOUNT_ID,
  deleteAccountFromConfigSection,
  listTelegramAccountIds,
  migrateBaseNameToDefaultAccount,
  normalizeAccountId,
  resolveDefaultTelegramAccountId,
  setAccountEnabledInConfigSection,
} from "openclaw/plugin-sdk";
import { bareEntry } from "./access.ts";
import { readAccount, type TelegramAccount } from "./account.ts";
import { fieldsOf, type Fields } from "./fields.ts";

type Adapters = Required<Pick<ChannelPlugin<TelegramAccount>, "config" | "setup">>;
type Config = Parameters<typeof readAccount>[0];
type SetupInput = Parameters<NonNullable<Adapters["setup"]>["applyAccountConfig"]>[0]["input"];

const KEY = "telegram";

export const config: Adapters["config"] = {
  listAccountIds: listTelegramAccountIds,
  resolveAccount: readAccount,
  defaultAccountId: resolveDefaultTelegramAccountId,
  setAccountEnabled: (params) => setAccountEnabledInConfigSection({ ...params, sectionKey: KEY, allowTopLevel: true }),
  deleteAccount: (params) => deleteAccountFromConfigSection({ ...params, sectionKey: KEY, clearBaseFields: ["botToken", "tokenFile", "name"] }),
  isEnabled: ({ enabled }) => enabled,
  isConfigured: ({ token }) => token !== "",
  unconfiguredReason: () => "no bot token: set channels.telegram.botToken, tokenFile or TELEGRAM_BOT_TOKEN",
  describeAccount: ({ accountId, name, enabled, token, tokenSource }) => ({ accountId, name, enabled, configured: token !== "", tokenSource }),
  resolveAllowFrom: ({ cfg, accountId }) => (readAccount(cfg, accountId).config.allowFrom ?? []).map(String),
  formatAllowFrom: ({ allowFrom }) => allowFrom.map((entry) => bareEntry(String(entry)).toLowerCase()).filter(Boolean),
};

/** The keys of an account, in the section itself while there is only the default account. */
export function withAccountKeys(cfg: Config, accountId: string, keys: Fields): Config {
  const section = fieldsOf(cfg.channels?.[KEY]) ?? {};
  const accounts = fieldsOf(section["accounts"]);
  const inAccounts = accountId !== DEFAULT_ACCOUNT_ID || accounts?.[DEFAULT_ACCOUNT_ID] !== undefined;
  const next = inAccounts
    ? { ...section, enabled: true, accounts: { ...accounts, [accountId]: { ...fieldsOf(accounts?.[accountId]), enabled: true, ...keys } } }
    : { ...section, enabled: true, ...keys };
  return { ...cfg, channels: { ...cfg.channels, [KEY]: next } };
}

/** The configuration without the account's token, where the account stands and, for the default one, in the section. */
export function withoutToken(cfg: Config, accountId: string): Config {
  const section = fieldsOf(cfg.channels?.[KEY]) ?? {};
  const without = (keys: Fields): Fields => Object.fromEntries(Object.entries(keys).filter(([key]) => key !== "botToken" && key !== "tokenFile"));
  const accounts = Object.entries(fieldsOf(section["accounts"]) ?? {}).map(([id, account]) => [
    id,
    normalizeAccountId(id) === accountId ? without(fieldsOf(account) ?? {}) : account,
  ]);
  const base = accountId === DEFAULT_ACCOUNT_ID ? without(section) : section;
  return { ...cfg, channels: { ...cfg.channels, [KEY]: { ...base, ...(accounts.length > 0 ? { accounts: Object.fromEntries(accounts) as Fields } : {}) } } };
}

function tokenKeys({ useEnv, tokenFile, token, botToken }: SetupInput): Fields {
  if (useEnv === true) return {};
  if (tokenFile?.trim()) return { tokenFile: tokenFile.trim() };
  return { botToken: (token ?? botToken ?? "").trim() };
}

export const setup: NonNullable<Adapters["setup"]> = {
  resolveAccountId: ({ accountId }) => normalizeAccountId(accountId),
  applyAccountName: ({ cfg, accountId, name }) => applyAccountNameToChannelSection({ cfg, channelKey: KEY, accountId, name }),
  validateInput({ accountId, input }) {
    if (input.useEnv === true)
      return accountId === DEFAULT_ACCOUNT_ID ? null : "TELEGRAM_BOT_TOKEN is for the default account only; give this one a token or a token file";
    if (input.tokenFile?.trim()) return null;
    const token = (input.token ?? input.botToken ?? "").trim();
    if (token === "") return "Telegram needs a bot token from @BotFather: give --token or --token-file, or --use-env";
    return /^\d+:[\w-]{20,}$/.test(token) ? null : "that is no bot token: it looks like 123456789:AA…, as @BotFather shows it";
  },
  applyAccountConfig({ cfg, accountId: written, input }) {
    const accountId = normalizeAccountId(written);
    const named = applyAccountNameToChannelSection({ cfg, channelKey: KEY, accountId, name: input.name });
    const ready = accountId === DEFAULT_ACCOUNT_ID ? named : migrateBaseNameToDefaultAccount({ cfg: named, channelKey: KEY });
    return withAccountKeys(ready, accountId, tokenKeys(input));
  },
};

function moved(groups: unknown, from: string, to: string): Fields | undefined {
  const entries = fieldsOf(groups);
  if (!entries || !Object.hasOwn(entries, from)) return undefined;
  const { [from]: entry, ...rest } = entries;
  // An existing entry for the new id wins.
  return Object.hasOwn(rest, to) ? rest : { ...rest, [to]: entry };
}

/** A group that became a supergroup has another id. The configuration with the group under its new id, in the channel and in all accounts; the same one where it is not named. */
export function withMovedGroup<T extends Record<string, unknown>>(cfg: T, from: string, to: string): T {
  const channels = fieldsOf(cfg["channels"]);
  const section = fieldsOf(channels?.["telegram"]);
  if (!channels || !section) return cfg;
  const groups = moved(section["groups"], from, to);
  const accounts = Object.entries(fieldsOf(section["accounts"]) ?? {}).map(([id, account]) => {
    const own = moved(fieldsOf(account)?.["groups"], from, to);
    return { id, account: own ? { ...fieldsOf(account), groups: own } : account, isMoved: own !== undefined };
  });
  const inAccounts = accounts.some(({ isMoved }) => isMoved);
  if (!groups && !inAccounts) return cfg;
  const next = {
    ...section,
    ...(groups ? { groups } : {}),
    ...(inAccounts ? { accounts: Object.fromEntries(accounts.map(({ id, account }) => [id, account])) } : {}),
  };
  return { ...cfg, channels: { ...channels, telegram: next } };
}
