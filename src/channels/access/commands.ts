/** Who may give commands, and who is an owner. */
import { sectionOf } from "../sections.ts";
import { admits, names, NOBODY, readEntries, type AllowEntries } from "./allow-entries.ts";
import { directList } from "./direct.ts";
import type { Facts } from "./facts.ts";
import { forChannel, ownersOf } from "./owners.ts";
import { own } from "./section.ts";

export interface CommandDecision {
  readonly authorized: boolean;
  readonly owner: boolean;
  readonly owners: readonly string[];
}

/** The only source there is, where it is set: the channel's list, else that for all. */
function soleList(facts: Facts): AllowEntries | undefined {
  const lists = sectionOf(own(sectionOf(facts.cfg?.commands), "allowFrom"));
  if (!lists || Object.keys(lists).length === 0) return undefined;
  const named = own(lists, facts.channel);
  return readEntries(Array.isArray(named) ? named : forChannel(own(lists, "*"), facts), facts);
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
