/** Owners of this gateway: they may relax the agent's restrictions, change the configuration and decide approvals. */
import type { ChannelDock, ChannelPlugin, HostConfig } from "../../protocol/index.ts";
import { sectionOf } from "../settings.ts";
import {
  accountKey,
  DEFAULT_ACCOUNT,
  directList,
  EVERYBODY,
  idsOf,
  isEntry,
  isFilledList,
  layersOf,
  names,
  own,
  readEntries,
  type AllowEntries,
  type EntryContext,
} from "./settings.ts";

/** Entries of `commands.*` for this channel, without those that start with another channel's name. */
export function forChannel(list: unknown, { cfg, channel }: Pick<EntryContext, "cfg" | "channel">): unknown {
  if (!Array.isArray(list)) return undefined;
  const others = new Set(Object.keys(sectionOf(cfg?.channels) ?? {}).filter((id) => id !== channel && id !== "defaults"));
  return list.filter((entry) => typeof entry !== "string" || !entry.includes(":") || !others.has(entry.slice(0, entry.indexOf(":")).trimStart().toLowerCase()));
}

interface Owners {
  readonly list: AllowEntries;
  /** Commands are for owners only. */
  readonly enforced: boolean;
  /** … but everyone counts as one. */
  readonly open: boolean;
}

/** `direct`: who may send direct messages. `declared`: owners that the event names. */
export function ownersOf(account: EntryContext, direct: AllowEntries, declared: unknown): Owners {
  const { cfg, plugin, dock } = account;
  const named = own(sectionOf(cfg?.commands), "ownerAllowFrom");
  if (isFilledList(named)) {
    const list = readEntries(forChannel(named, account), account);
    return { list, enforced: true, open: list.everybody };
  }
  const enforced = (plugin?.commands ?? dock?.commands)?.enforceOwnerForCommands === true;
  if (isFilledList(declared)) return { list: readEntries(declared, account), enforced, open: false };
  return { list: direct, enforced, open: direct.everybody || direct.ids.size === 0 };
}

/** A sender by all immutable ids that the platform knows. */
export interface KnownSender {
  readonly channel: string;
  readonly accountId: string;
  readonly senders: readonly string[];
}

/** Whether a sender is an owner in the current configuration. */
export function isOwner(
  cfg: HostConfig,
  { channel, accountId, senders }: KnownSender,
  platform: { readonly plugin: ChannelPlugin | undefined; readonly dock?: ChannelDock | undefined },
): boolean {
  const [id = "", ...otherIds] = senders;
  const account = { cfg, channel, accountId, ...platform };
  const direct = readEntries(directList({ layers: layersOf(cfg, channel, accountId) })?.value, account);
  return names(ownersOf(account, direct, undefined).list.ids, idsOf({ id, otherIds }));
}

/** Owners that the configuration names, and the key that does. */
export interface NamedOwners {
  readonly path: string;
  /** Without `*`, which makes nobody an owner. */
  readonly entries: readonly string[];
}

const entriesOf = (list: unknown): readonly string[] =>
  isFilledList(list) ? list.map((entry) => String(entry).trim()).filter((entry) => entry !== "" && entry !== EVERYBODY) : [];

/** Accounts of a channel in the configuration; the default one when there are none. */
function accountsOf(cfg: HostConfig, channel: string): readonly string[] {
  const accounts = Object.keys(sectionOf(own(sectionOf(own(sectionOf(cfg?.channels), channel)), "accounts")) ?? {});
  return accounts.length === 0 ? [DEFAULT_ACCOUNT] : accounts.map(accountKey);
}

/**
 * Every list that names owners: `commands.ownerAllowFrom` alone if set, else the `allowFrom` of channels. With `channel`, only those of that channel.
 * Empty: this gateway has no owner, and only clients with `operator.admin` may do what owners do.
 */
export function namedOwners(cfg: HostConfig, channel?: string): readonly NamedOwners[] {
  const list = own(sectionOf(cfg?.commands), "ownerAllowFrom");
  if (isFilledList(list)) {
    const entries = entriesOf(channel === undefined ? list : forChannel(list, { cfg, channel }));
    return entries.length === 0 ? [] : [{ path: "commands.ownerAllowFrom", entries }];
  }
  const channels = Object.keys(sectionOf(cfg?.channels) ?? {}).filter((id) => id !== "defaults" && (channel === undefined || id === channel));
  const lists = channels.flatMap((id) => accountsOf(cfg, id).map((account) => directList({ layers: layersOf(cfg, id, account) })));
  const byPath = new Map(lists.flatMap((found) => (found ? [[found.path, entriesOf(found.value)] as const] : [])));
  return [...byPath].flatMap(([path, entries]) => (entries.length === 0 ? [] : [{ path, entries }]));
}

/** How an owner is written in `commands.ownerAllowFrom`. */
export const ownerEntry = (channel: string, senderId: string): string => `${channel}:${senderId}`;

/** The configuration with one owner added or removed. */
export function withOwner(written: unknown, channel: string, senderId: string, wanted = true): unknown {
  const root = sectionOf(written) ?? {};
  const commands = sectionOf(own(root, "commands")) ?? {};
  const list = own(commands, "ownerAllowFrom");
  const entry = ownerEntry(channel, senderId);
  const others = (Array.isArray(list) ? list.filter(isEntry) : []).filter((one) => String(one).trim().toLowerCase() !== entry.toLowerCase());
  const isThere = Array.isArray(list) && others.length < list.length;
  if (isThere === wanted) return written;
  if (wanted || others.length > 0) return { ...root, commands: { ...commands, ownerAllowFrom: wanted ? [...others, entry] : others } };
  const { ownerAllowFrom: _none, ...rest } = commands;
  return { ...root, commands: rest };
}

/** Whether a sender is an owner now. */
export type IsOwner = (sender: KnownSender) => boolean;

/** Asks the configuration as it is, with ids spelled as each channel spells them. */
export function ownersBy(config: () => HostConfig, channels: { get(id: string): ChannelPlugin | undefined }): IsOwner {
  return (sender) => isOwner(config(), sender, { plugin: channels.get(sender.channel) });
}
