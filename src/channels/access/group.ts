/** Who may write in groups. */
import { knownChannel } from "../../config/index.ts";
import { admits, isFilledList, names, NOBODY, readEntries, type AllowEntries, type EntryList } from "./allow-entries.ts";
import { directList } from "./direct.ts";
import type { Facts } from "./facts.ts";
import type { GroupEntry } from "./group-entry.ts";
import { firstOf, groupPolicyOf, isGroupPolicy, type Found } from "./section.ts";
import { groupMapOf } from "../sections.ts";
import type { Step } from "./decision.ts";

export interface GroupDecision extends Step {
  /** Who may write in this group, for commands. */
  readonly list: AllowEntries;
}

interface Senders extends Found<EntryList> {
  /** Set for this group or topic: applies whatever the policy. */
  readonly special: boolean;
  /** Members with one of these roles may write, too. */
  readonly roles?: Found<EntryList> | undefined;
}

/** The nearest section with its own senders or roles. */
function specialSenders({ sections }: GroupEntry): Senders | undefined {
  for (const section of sections) {
    const people = firstOf([section], ["allowFrom", "users"], isFilledList);
    const roles = firstOf([section], ["roles"], isFilledList);
    const found = people ?? roles;
    if (found) return { value: people?.value ?? [], path: found.path, special: true, roles };
  }
  return undefined;
}

/** The list of senders for this chat: the topic's, the group's, the account's. */
function sendersOf(facts: Facts, group: GroupEntry): Senders | undefined {
  const special = specialSenders(group);
  if (special || groupMapOf(facts.channel).listedIsEnough) return special;
  const found = firstOf(facts.layers, ["groupAllowFrom"], isFilledList) ?? (knownChannel(facts.channel).directAllowFrom ? undefined : directList(facts));
  return found && { ...found, special: false };
}

/** The key that names a role of the sender. */
function roleOf({ question }: Facts, senders: Senders | undefined): string | undefined {
  const listed = new Set(senders?.roles?.value.map((role) => String(role).trim()));
  const held: unknown = question.event?.sender?.roles;
  return Array.isArray(held) && held.some((role) => listed.has(String(role).trim())) ? senders?.roles?.path : undefined;
}

function policyOf(facts: Facts, { sections }: GroupEntry): Found<"open" | "disabled" | "allowlist"> {
  return firstOf(sections, ["groupPolicy"], isGroupPolicy) ?? groupPolicyOf(facts.cfg, facts.layers, facts.channel);
}

const isFalse = (value: unknown): value is false => value === false;

/** Whether the group itself is refused. Undefined: no. */
function refuseGroup(facts: Facts, group: GroupEntry): Step | undefined {
  const policy = policyOf(facts, group);
  if (policy.value === "disabled") return { allow: false, reason: "group-disabled", why: `groups are off: ${policy.path} is "disabled"`, path: policy.path };
  const { missingFrom: path } = group;
  if (path !== undefined) return { allow: false, reason: "group-unknown", why: `${path} says which groups are answered, and this is none of them`, path };
  const wide = group.sections.filter((place) => place !== group.topic);
  const off = firstOf(wide, ["enabled", "allow"], isFalse);
  if (off) return { allow: false, reason: "group-disabled", why: `${off.path} is false`, path: off.path };
  const topicOff = group.topic && firstOf([group.topic], ["enabled"], isFalse);
  return topicOff && { allow: false, reason: "topic-disabled", why: `${topicOff.path} is false`, path: topicOff.path };
}

/** The refusal when no list of senders is configured. */
function refuseUnlisted({ channel }: Facts, group: GroupEntry, policy: Found<string>): Step {
  if (group.listedIsEnough) return { allow: true, reason: "group-allowlist", why: `${group.path} is listed, and names nobody who may write`, path: group.path };
  const where = groupMapOf(channel).listedIsEnough ? `it is not listed in ${group.mapPath}` : "no list says who may write in groups";
  const todo = groupMapOf(channel).listedIsEnough ? "add it there by its id" : `set channels.${channel}.groupAllowFrom`;
  return { allow: false, reason: "group-allowlist", why: `${policy.path} is "allowlist", and ${where}: ${todo}`, path: policy.path };
}

export function decideGroup(facts: Facts, group: GroupEntry): GroupDecision {
  const { ids, who, approved, channel } = facts;
  const senders = sendersOf(facts, group);
  const list = senders ? readEntries(senders.value, facts) : NOBODY;
  const paired = knownChannel(channel).pairedInGroups === true && senders?.special !== true;
  const role = roleOf(facts, senders);
  // A sender allowed by a role counts as listed.
  const whole = { ...list, ids: new Set([...list.ids, ...(paired ? approved : []), ...(role === undefined ? [] : ids)]) };
  const answer = (step: Step): GroupDecision => ({ ...step, list: whole });
  const shut = refuseGroup(facts, group);
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
  return answer(refuseUnlisted(facts, group, policy));
}
