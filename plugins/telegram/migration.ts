/** A group that became a supergroup has another id: what is configured for it moves along. */
import { fieldsOf } from "./fields.ts";

type Config = Record<string, unknown>;

function moved(groups: unknown, from: string, to: string): Config | undefined {
  const entries = fieldsOf(groups);
  if (!entries || !Object.hasOwn(entries, from)) return undefined;
  const { [from]: entry, ...rest } = entries;
  // An existing entry for the new id wins.
  return Object.hasOwn(rest, to) ? rest : { ...rest, [to]: entry };
}

/** The configuration with the group under its new id, in the channel and in all accounts; the same one where it is not named. */
export function withMovedGroup<T extends Config>(cfg: T, from: string, to: string): T {
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
