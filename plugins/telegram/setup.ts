/** Changes of the configuration that are Telegram's own. */
import { type ChannelPlugin, DEFAULT_ACCOUNT_ID, normalizeAccountId } from "openclaw/plugin-sdk";
import { type AccountReader, fieldsOf, type Fields } from "openclaw/plugin-sdk/channel-kit";
import type { TelegramAccount } from "./account.ts";

type Config = Parameters<AccountReader<TelegramAccount>["read"]>[0];

const KEY = "telegram";

export const tokenProblem = (token: string): string | undefined =>
  /^\d+:[\w-]{20,}$/.test(token) ? undefined : "not a bot token: it looks like 123456789:AA…, as shown by @BotFather";

/** A token file need not be there yet, and the environment may be the gateway's alone. */
export const validateInput: NonNullable<NonNullable<ChannelPlugin["setup"]>["validateInput"]> = ({ accountId, input }) => {
  if (input.useEnv === true)
    return accountId === DEFAULT_ACCOUNT_ID ? null : "TELEGRAM_BOT_TOKEN is for the default account only; set a token or token file for this one";
  if (input.tokenFile?.trim()) return null;
  const token = (input.token ?? input.botToken ?? "").trim();
  return token === "" ? "Telegram needs a bot token from @BotFather: use --token, --token-file or --use-env" : (tokenProblem(token) ?? null);
};

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
