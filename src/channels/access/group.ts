/** Who may write to us among others. */
import { admits, isFilledList, names, NOBODY, readEntries, type AllowEntries, type EntryList } from "./allow-entries.ts";
import { directList } from "./direct.ts";
import type { Facts } from "./facts.ts";
import type { GroupEntry } from "./group-entry.ts";
import { firstOf, groupPolicyOf, isGroupPolicy, type Found } from "./section.ts";
import { roomMapOf } from "../sections.ts";
import type { Step } from "./verdict.ts";

/** Channels where somebody let in by pairing may write in groups, too. */
const PAIRED_IN_GROUPS: ReadonlySet<string> = new Set(["telegram", "signal", "irc", "mattermost", "line"]);
/** Channels where `allowFrom` is for direct messages only. */
const OWN_GROUP_LIST: ReadonlySet<string> = new Set(["irc"]);

export interface GroupDecision extends Step {
  /** Who may write in this group, for commands. */
  readonly list: AllowEntries;
}

interface Senders extends Found<EntryList> {
  /** Written for this group or topic: holds whatever the policy. */
  readonly special: boolean;
  /** Whoever has one of these may write, too. */
  readonly roles?: Found<EntryList> | undefined;
}

/** The nearest place with people or roles of its own. */
function specialSenders({ places }: GroupEntry): Senders | undefined {
  for (const place of places) {
    const people = firstOf([place], ["allowFrom", "users"], isFilledList);
    const roles = firstOf([place], ["roles"], isFilledList);
    const found = people ?? roles;
    if (found) return { value: people?.value ?? [], path: found.path, special: true, roles };
  }
  return undefined;
}

/** The list that says who may write here: the topic's, the group's, the account's. */
function sendersOf(facts: Facts, group: GroupEntry): Senders | undefined {
  const special = specialSenders(group);
  if (special || roomMapOf(facts.channel).listedIsEnough) return special;
  const found = firstOf(facts.layers, ["groupAllowFrom"], isFilledList) ?? (OWN_GROUP_LIST.has(facts.channel) ? undefined : directList(facts));
  return found && { ...found, special: false };
}

/** The key that names a role of the sender. */
function roleOf({ question }: Facts, senders: Senders | undefined): string | undefined {
  const listed = new Set(senders?.roles?.value.map((role) => String(role).trim()));
  const held: unknown = question.event?.sender?.roles;
  return Array.isArray(held) && held.some((role) => listed.has(String(role).trim())) ? senders?.roles?.path : undefined;
}

function policyOf(facts: Facts, { places }: GroupEntry): Found<"open" | "disabled" | "allowlist"> {
  return firstOf(places, ["groupPolicy"], isGroupPolicy) ?? groupPolicyOf(facts.cfg, facts.layers, facts.channel);
}

const isFalse = (value: unknown): value is false => value === false;

/** The group itself: is it answered at all? Undefined: yes. */
function closed(facts: Facts, group: GroupEntry): Step | undefined {
  const policy = policyOf(facts, group);
  if (policy.value === "disabled") return { allow: false, reason: "group-disabled", why: `groups are off: ${policy.path} is "disabled"`, path: policy.path };
  const { missingFrom: path } = group;
  if (path !== undefined) return { allow: false, reason: "group-unknown", why: `${path} says which groups are answered, and this is none of them`, path };
  const wide = group.places.filter((place) => place !== group.topic);
  const off = firstOf(wide, ["enabled", "allow"], isFalse);
  if (off) return { allow: false, reason: "group-disabled", why: `${off.path} is false`, path: off.path };
  const topicOff = group.topic && firstOf([group.topic], ["enabled"], isFalse);
  return topicOff && { allow: false, reason: "topic-disabled", why: `${topicOff.path} is false`, path: topicOff.path };
}

/** Nobody was named who may write. */
function unnamed({ channel }: Facts, group: GroupEntry, policy: Found<string>): Step {
  if (group.listedIsEnough) return { allow: true, reason: "group-allowlist", why: `${group.path} is listed, and names nobody who may write`, path: group.path };
  const where = roomMapOf(channel).listedIsEnough ? `it is not listed in ${group.mapPath}` : "no list says who may write in groups";
  const todo = roomMapOf(channel).listedIsEnough ? "add it there by its id" : `set channels.${channel}.groupAllowFrom`;
  return { allow: false, reason: "group-allowlist", why: `${policy.path} is "allowlist", and ${where}: ${todo}`, path: policy.path };
}

export function judgeGroup(facts: Facts, group: GroupEntry): GroupDecision {
  const { ids, who, approved, channel } = facts;
  const senders = sendersOf(facts, group);
  const list = senders ? readEntries(senders.value, facts) : NOBODY;
  const paired = PAIRED_IN_GROUPS.has(channel) && senders?.special !== true;
  const role = roleOf(facts, senders);
  // Whoever was let in by a role counts as named.
  const whole = { ...list, ids: new Set([...list.ids, ...(paired ? approved : []), ...(role === undefined ? [] : ids)]) };
  const answer = (step: Step): GroupDecision => ({ ...step, list: whole });
  const shut = closed(facts, group);
  if (shut) return answer(shut);
  const policy = policyOf(facts, group);
  if (role !== undefined) return answer({ allow: true, reason: "sender-allowlist", why: `${role} names a role of ${who}`, path: role });
  if (senders?.special && !admits(list, ids)) {
    return answer({ allow: false, reason: "sender-allowlist", why: `${senders.path} does not name ${who}`, path: senders.path });
  }
  if (policy.value === "open") return answer({ allow: true, reason: "group-open", why: `${policy.path} is "open"`, path: policy.path });
  if (senders && admits(list, ids)) {
    const why = list.everybody ? `${senders.path} has "*": everybody in an answered group may write` : `${senders.path} names ${who}`;
    return answer({ allow: true, reason: "sender-allowlist", why, path: senders.path });
  }
  if (paired && names(approved, ids)) {
    return answer({ allow: true, reason: "sender-allowlist", why: `${who} was let in by pairing, for this account`, path: policy.path });
  }
  if (senders) return answer({ allow: false, reason: "sender-allowlist", why: `${senders.path} does not name ${who}`, path: senders.path });
  return answer(unnamed(facts, group, policy));
}
