/** The configuration of one group. */
import type { Facts } from "./facts.ts";
import { groupMapOf, sectionOf, type GroupMap, type Section } from "../sections.ts";
import { firstOf, own, type Layer } from "./section.ts";

export interface GroupEntry {
  /** The sections for this chat, nearest first: its topic, the chat itself (else `*`), its server. */
  readonly sections: readonly Layer[];
  /** Where inherited settings are looked up: `places`, each followed by its `*`. */
  readonly inherited: readonly Layer[];
  /** The section of the topic, one of `places`. */
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

/** The key of a chat: its id as written, else in another case. */
function keyOf(map: Section, id: string): string | undefined {
  if (id === "" || id === "*") return undefined;
  if (Object.hasOwn(map, id)) return id;
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

function lookUp({ path, section: map }: Layer, ids: readonly string[]): Looked {
  const key = ids.map((id) => keyOf(map, id)).find((found) => found !== undefined);
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

/** A group chat without a server: `dm.groupEnabled` allows it, `dm.groupChannels` only some. */
function outsideOf(facts: Facts, mapPath: string): GroupEntry {
  const enabled = firstOf(facts.layers, ["dm.groupEnabled"], (value): value is boolean => typeof value === "boolean");
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

export function groupEntryOf(facts: Facts): GroupEntry {
  const { layers, chat, channel } = facts;
  const map = groupMapOf(channel);
  const mapPath = `channels.${channel}.${map.spaces ?? map.chats}`;
  const outer = mapOf(layers, map.spaces ?? map.chats) ?? { path: mapPath, section: {} };
  if (map.spaces !== undefined && idText(chat.guildId) === "") return outsideOf(facts, mapPath);
  const space = map.spaces === undefined ? undefined : lookUp(outer, [idText(chat.guildId)]);
  const inner = space ? { path: `${space.path}.${map.chats}`, section: sectionOf(own(space.own?.section, map.chats)) ?? {} } : outer;
  const found = lookUp(inner, chatKeys(facts, map));
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
