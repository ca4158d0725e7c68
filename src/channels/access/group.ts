/** Who may write in groups. */
import { knownChannel } from "../../config/index.ts";
import { groupMapOf, sectionOf, type GroupMap, type Section } from "../settings.ts";
import type { Facts, Step } from "./decision.ts";
import {
  admits,
  directList,
  firstOf,
  groupPolicyOf,
  isFalse,
  isFilledList,
  isExact,
  isFlag,
  isGroupPolicy,
  names,
  NOBODY,
  own,
  readEntries,
  type AllowEntries,
  type EntryList,
  type Found,
  type Layer,
} from "./settings.ts";

/** The configuration of one group. */
export interface GroupEntry {
  /** The sections for this chat, nearest first: its topic, the chat itself (else `*`), its server. */
  readonly sections: readonly Layer[];
  /** Where inherited settings are looked up: `sections`, each followed by its `*`. */
  readonly inherited: readonly Layer[];
  /** The section of the topic, one of `sections`. */
  readonly topic: Layer | undefined;
  /** Path of the chat's own section. */
  readonly path: string;
  /** A list that this chat is missing from. */
  readonly missingFrom: string | undefined;
  /** Being listed is enough to write: the channel has no separate list of senders for groups. */
  readonly listedIsEnough: boolean;
  /** Path of the map that lists chats. */
  readonly mapPath: string;
}

const idText = (value: unknown): string => (typeof value === "string" || typeof value === "number" ? String(value).trim() : "");

/** The map of the nearest layer that has one: an account's replaces its channel's. */
function mapOf(layers: readonly Layer[], key: string): Layer | undefined {
  for (const { path, section } of layers) {
    const map = sectionOf(own(section, key));
    if (map) return { path: `${path}.${key}`, section: map };
  }
  return undefined;
}

/** The key of a chat: its id as written, else in another case where that is the same chat. */
function keyOf(map: Section, id: string, isCased: boolean): string | undefined {
  if (id === "" || id === "*") return undefined;
  if (Object.hasOwn(map, id)) return id;
  if (isCased) return undefined;
  const lower = id.toLowerCase();
  return Object.keys(map).find((key) => key.toLowerCase() === lower);
}

interface Looked {
  readonly own: Layer | undefined;
  readonly general: Layer | undefined;
  readonly path: string;
  readonly known: boolean;
  /** The map has keys, but none for this chat. */
  readonly missing: boolean;
}

function lookUp({ path, section: map }: Layer, ids: readonly string[], isCased = false): Looked {
  const key = ids.map((id) => keyOf(map, id, isCased)).find((found) => found !== undefined);
  const layer = (name: string): Layer | undefined => {
    const section = sectionOf(own(map, name));
    return section && { path: `${path}[${JSON.stringify(name)}]`, section };
  };
  const known = key !== undefined || Object.hasOwn(map, "*");
  const general = layer("*");
  return {
    own: key === undefined ? general : layer(key),
    general,
    path: `${path}[${JSON.stringify(key ?? "*")}]`,
    known,
    missing: Object.keys(map).length > 0 && !known,
  };
}

/** Keys that match a chat by name. A name that could be another chat's id does not count. */
function namedKeys({ named }: GroupMap, names: readonly (string | undefined)[]): readonly string[] {
  const plain = names.flatMap((name) => (typeof name === "string" && name.trim() !== "" ? [name.trim().replace(/^#/, "")] : []));
  if (named === undefined) return [];
  return plain.flatMap((name) => [`#${name}`, ...(named === "plain" && !/^\d+$/.test(name) ? [name] : [])]);
}

/** The ids of a chat and of its thread's parent. A thread's name is ignored: any user can choose it. */
function chatKeys({ chat }: Facts, map: GroupMap): readonly string[] {
  const parent = idText(chat.parentId);
  return [idText(chat.id), parent, ...namedKeys(map, [parent === "" ? chat.channelName : chat.parentName])];
}

const present = (layers: readonly (Layer | undefined)[]): readonly Layer[] => layers.filter((layer) => layer !== undefined);

/** A group chat of people, without a server or channel: `dm.groupEnabled` allows it, `dm.groupChannels` only some. */
function outsideOf(facts: Facts, mapPath: string): GroupEntry {
  const enabled = firstOf(facts.layers, ["dm.groupEnabled"], isFlag);
  const only = firstOf(facts.layers, ["dm.groupChannels"], (value): value is unknown[] => Array.isArray(value) && value.length > 0);
  const base = `channels.${facts.channel}.dm`;
  const isListed = only === undefined || only.value.some((id) => idText(id) === idText(facts.chat.id));
  const path = enabled?.value === true ? (only?.path ?? enabled.path) : (enabled?.path ?? `${base}.groupEnabled`);
  return {
    sections: [],
    inherited: [],
    topic: undefined,
    path: base,
    missingFrom: enabled?.value === true && isListed ? undefined : path,
    listedIsEnough: enabled?.value === true && isListed,
    mapPath,
  };
}

/** A server's name as a key. One of digits could be another server's id. */
const slugKey = ({ guildSlug }: Facts["chat"]): string => (guildSlug !== undefined && !/^\d+$/.test(guildSlug) ? idText(guildSlug) : "");

export function groupEntryOf(facts: Facts): GroupEntry {
  const { layers, chat, channel } = facts;
  const map = groupMapOf(channel);
  const mapPath = `channels.${channel}.${map.spaces ?? map.chats}`;
  const outer = mapOf(layers, map.spaces ?? map.chats) ?? { path: mapPath, section: {} };
  if ((map.spaces !== undefined && idText(chat.guildId) === "") || (map.people === true && chat.type === "group")) return outsideOf(facts, mapPath);
  const space = map.spaces === undefined ? undefined : lookUp(outer, [idText(chat.guildId), slugKey(chat)]);
  const inner = space ? { path: `${space.path}.${map.chats}`, section: sectionOf(own(space.own?.section, map.chats)) ?? {} } : outer;
  const found = lookUp(inner, chatKeys(facts, map), knownChannel(channel).casedChats === true);
  const thread = idText(chat.threadId);
  const topicSection = thread === "" ? undefined : sectionOf(own(sectionOf(own(found.own?.section, "topics")), thread));
  const topic = topicSection && { path: `${found.path}.topics[${JSON.stringify(thread)}]`, section: topicSection };
  return {
    sections: present([topic, found.own, space?.own]),
    inherited: present([topic, found.own, found.general, space?.own, space?.general]),
    topic,
    path: found.own || !space ? found.path : space.path,
    missingFrom: space?.missing ? outer.path : found.missing ? inner.path : undefined,
    listedIsEnough: map.listedIsEnough === true && (space ?? found).known,
    mapPath: outer.path,
  };
}

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
  const listed = new Set(senders?.roles?.value.filter(isExact).map((role) => String(role).trim()));
  const held: unknown = question.event?.sender?.roles;
  return Array.isArray(held) && held.some((role) => listed.has(String(role).trim())) ? senders?.roles?.path : undefined;
}

function policyOf(facts: Facts, { sections }: GroupEntry): Found<"open" | "disabled" | "allowlist"> {
  return firstOf(sections, ["groupPolicy"], isGroupPolicy) ?? groupPolicyOf(facts.cfg, facts.layers, facts.channel);
}

/** Whether the group itself is refused. Undefined: no. */
function refuseGroup(facts: Facts, group: GroupEntry): Step | undefined {
  const policy = policyOf(facts, group);
  if (policy.value === "disabled")
    return { allow: false, reason: "group-disabled", why: `groups are disabled: ${policy.path} is "disabled"`, path: policy.path };
  const { missingFrom: path } = group;
  if (path !== undefined) return { allow: false, reason: "group-unknown", why: `this group is not listed in ${path}`, path };
  const wide = group.sections.filter((section) => section !== group.topic);
  const off = firstOf(wide, ["enabled", "allow"], isFalse);
  if (off) return { allow: false, reason: "group-disabled", why: `${off.path} is false`, path: off.path };
  const topicOff = group.topic && firstOf([group.topic], ["enabled"], isFalse);
  return topicOff && { allow: false, reason: "topic-disabled", why: `${topicOff.path} is false`, path: topicOff.path };
}

/** The refusal when no list of senders is configured. */
function refuseUnlisted({ channel }: Facts, group: GroupEntry, policy: Found<string>): Step {
  if (group.listedIsEnough) return { allow: true, reason: "group-allowlist", why: `${group.path} is listed without a list of senders`, path: group.path };
  const where = groupMapOf(channel).listedIsEnough ? `it is not listed in ${group.mapPath}` : "no list of senders for groups is set";
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
  if (role !== undefined) return answer({ allow: true, reason: "sender-allowlist", why: `${role} includes a role of ${who}`, path: role });
  if (senders?.special && !admits(list, ids)) {
    return answer({ allow: false, reason: "sender-allowlist", why: `${senders.path} does not include ${who}`, path: senders.path });
  }
  if (policy.value === "open") return answer({ allow: true, reason: "group-open", why: `${policy.path} is "open"`, path: policy.path });
  if (senders && admits(list, ids)) {
    const why = list.everybody ? `${senders.path} contains "*": everyone in an allowed group may write` : `${senders.path} includes ${who}`;
    return answer({ allow: true, reason: "sender-allowlist", why, path: senders.path });
  }
  if (paired && names(approved, ids)) {
    return answer({ allow: true, reason: "sender-allowlist", why: `${who} was approved by pairing for this account`, path: policy.path });
  }
  if (senders) return answer({ allow: false, reason: "sender-allowlist", why: `${senders.path} does not include ${who}`, path: senders.path });
  return answer(refuseUnlisted(facts, group, policy));
}
