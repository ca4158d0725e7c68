/** Who may write to us among others. */
import { admits, isFilledList, names, NOBODY, readEntries, type AllowEntries, type EntryList } from "./allow-entries.ts";
import { directList } from "./direct.ts";
import type { Facts } from "./facts.ts";
import type { GroupEntry } from "./group-entry.ts";
import { firstOf, groupPolicyOf, isGroupPolicy, own, type Found } from "./section.ts";
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
}

/** The list that says who may write here: the topic's, the group's, the account's. */
function sendersOf(facts: Facts, group: GroupEntry): Senders | undefined {
  const places = [
    { path: group.topicPath, section: group.topic ?? {} },
    { path: group.path, section: group.entry ?? {} },
  ];
  const special = firstOf(places, ["allowFrom", "users"], isFilledList);
  if (special) return { ...special, special: true };
  const found = firstOf(facts.layers, ["groupAllowFrom"], isFilledList) ?? (OWN_GROUP_LIST.has(facts.channel) ? undefined : directList(facts));
  return found && { ...found, special: false };
}

function policyOf(facts: Facts, group: GroupEntry): Found<"open" | "disabled" | "allowlist"> {
  const places = [
    { path: group.topicPath, section: group.topic ?? {} },
    { path: group.path, section: group.entry ?? {} },
  ];
  return firstOf(places, ["groupPolicy"], isGroupPolicy) ?? groupPolicyOf(facts.cfg, facts.layers, facts.channel);
}

/** The group itself: is it answered at all? Undefined: yes. */
function closed(facts: Facts, group: GroupEntry): Step | undefined {
  const policy = policyOf(facts, group);
  if (policy.value === "disabled") return { allow: false, reason: "group-disabled", why: `groups are off: ${policy.path} is "disabled"`, path: policy.path };
  if (group.listed && !group.known) {
    const path = group.path.slice(0, group.path.lastIndexOf("["));
    return { allow: false, reason: "group-unknown", why: `${path} lists the groups that are answered, and this is none of them`, path };
  }
  for (const key of ["enabled", "allow"]) {
    if (own(group.entry, key) === false) return { allow: false, reason: "group-disabled", why: `${group.path}.${key} is false`, path: `${group.path}.${key}` };
  }
  if (own(group.topic, "enabled") === false) {
    return { allow: false, reason: "topic-disabled", why: `${group.topicPath}.enabled is false`, path: `${group.topicPath}.enabled` };
  }
  return undefined;
}

export function judgeGroup(facts: Facts, group: GroupEntry): GroupDecision {
  const { ids, who, approved, channel } = facts;
  const senders = sendersOf(facts, group);
  const list = senders ? readEntries(senders.value, facts) : NOBODY;
  const paired = PAIRED_IN_GROUPS.has(channel) && senders?.special !== true;
  const whole = paired ? { ...list, ids: new Set([...list.ids, ...approved]) } : list;
  const answer = (step: Step): GroupDecision => ({ ...step, list: whole });
  const shut = closed(facts, group);
  if (shut) return answer(shut);
  const policy = policyOf(facts, group);
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
  const why = `${policy.path} is "allowlist", and no list says who may write in groups: set channels.${channel}.groupAllowFrom`;
  return answer({ allow: false, reason: "group-allowlist", why, path: policy.path });
}
