/** Who may give commands, and who is an owner. */
import { sectionOf } from "../sections.ts";
import { admits, isFilledList, names, NOBODY, readEntries, type AllowEntries } from "./allow-entries.ts";
import { directList } from "./direct.ts";
import type { Facts } from "./facts.ts";
import { own } from "./section.ts";

export interface CommandDecision {
  readonly authorized: boolean;
  readonly owner: boolean;
  readonly owners: readonly string[];
}

/** Entries of `commands.*` that are for this channel: one that begins with another channel's name is not. */
function forChannel(list: unknown, { cfg, channel }: Facts): unknown {
  if (!Array.isArray(list)) return undefined;
  const others = new Set(Object.keys(sectionOf(cfg?.channels) ?? {}).filter((id) => id !== channel && id !== "defaults"));
  return list.filter((entry) => typeof entry !== "string" || !others.has(entry.trim().split(":", 1)[0]!.toLowerCase()) || !entry.includes(":"));
}

/** The only source there is, where it is set: the channel's list, else that for all. */
function soleList(facts: Facts): AllowEntries | undefined {
  const lists = sectionOf(own(sectionOf(facts.cfg?.commands), "allowFrom"));
  if (!lists || Object.keys(lists).length === 0) return undefined;
  const named = own(lists, facts.channel);
  return readEntries(Array.isArray(named) ? named : forChannel(own(lists, "*"), facts), facts);
}

interface Owners {
  readonly list: AllowEntries;
  /** Commands are for owners only. */
  readonly enforced: boolean;
  /** … but nobody is kept out. */
  readonly open: boolean;
}

function ownersOf(facts: Facts): Owners {
  const { cfg, plugin, dock, question } = facts;
  const named = forChannel(own(sectionOf(cfg?.commands), "ownerAllowFrom"), facts);
  const isNamed = isFilledList(own(sectionOf(cfg?.commands), "ownerAllowFrom"));
  const enforced = isNamed || (plugin?.commands ?? dock?.commands)?.enforceOwnerForCommands === true;
  if (isNamed) {
    const list = readEntries(named, facts);
    return { list, enforced, open: list.everybody };
  }
  const given = question.event?.context?.OwnerAllowFrom;
  if (isFilledList(given)) return { list: readEntries(given, facts), enforced, open: false };
  const configured = readEntries(directList(facts)?.value, facts);
  return { list: configured, enforced, open: configured.everybody || configured.ids.size === 0 };
}

/** `list`: who may write in the chat. */
export function judgeCommands(facts: Facts, list: AllowEntries): CommandDecision {
  const { ids, cfg, isDirect, approved } = facts;
  const owners = ownersOf(facts);
  const owner = names(owners.list.ids, ids);
  const told = { owner, owners: [...owners.list.ids] };
  const sole = soleList(facts);
  if (sole) return { authorized: admits(sole, ids), ...told };
  const ownerRule = !owners.enforced || owners.open || owner;
  const usesGroups = own(sectionOf(cfg?.commands), "useAccessGroups") !== false;
  // In a group those named for direct messages count, too; that everybody may write alone says nothing about groups.
  const direct = isDirect ? NOBODY : readEntries(directList(facts)?.value, facts);
  const admitted = admits(list, ids) || names(direct.ids, ids) || (isDirect && names(approved, ids));
  return { authorized: ownerRule && (admitted || !usesGroups), ...told };
}
