/** What the configuration says about one group. */
import type { Facts } from "./facts.ts";
import { roomMapOf, sectionOf, type RoomMap, type Section } from "../sections.ts";
import { firstOf, own, type Layer } from "./section.ts";

export interface GroupEntry {
  /** The sections about this chat, the nearest first: its topic, itself (else `*`), the space that it is in. */
  readonly places: readonly Layer[];
  /** Where what a chat inherits is looked up: those of `places`, each followed by its `*`. */
  readonly inherited: readonly Layer[];
  /** The section of the topic, which is one of `places`. */
  readonly topic: Layer | undefined;
  /** Of the chat itself. */
  readonly path: string;
  /** A list of places that this is none of. */
  readonly missingFrom: string | undefined;
  /** Being on the list of places is enough to write: the channel has no other list for groups. */
  readonly listedIsEnough: boolean;
  /** The key under which places are listed. */
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

/** The key that stands for a chat: its id as written, else in another case. */
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
  /** The map has keys, and none of them is meant. */
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

/** Keys that the names of a room stand for. A name that could be the id of another room is none. */
function namedKeys({ named }: RoomMap, names: readonly (string | undefined)[]): readonly string[] {
  const plain = names.flatMap((name) => (typeof name === "string" && name.trim() !== "" ? [name.trim().replace(/^#/, "")] : []));
  if (named === undefined) return [];
  return plain.flatMap((name) => [`#${name}`, ...(named === "plain" && !/^\d+$/.test(name) ? [name] : [])]);
}

/** The ids of a chat and of the one that its thread belongs to. What a thread is called was chosen by whoever opened it. */
function roomKeys({ chat }: Facts, map: RoomMap): readonly string[] {
  const parent = idText(chat.parentId);
  return [idText(chat.id), parent, ...namedKeys(map, [parent === "" ? chat.channelName : chat.parentName])];
}

const present = (layers: readonly (Layer | undefined)[]): readonly Layer[] => layers.filter((layer) => layer !== undefined);

/** A group of people without a space: `dm.groupEnabled` lets them in, `dm.groupChannels` only some of them. */
function outsideOf(facts: Facts, mapPath: string): GroupEntry {
  const enabled = firstOf(facts.layers, ["dm.groupEnabled"], (value): value is boolean => typeof value === "boolean");
  const only = firstOf(facts.layers, ["dm.groupChannels"], (value): value is unknown[] => Array.isArray(value) && value.length > 0);
  const base = `channels.${facts.channel}.dm`;
  const isListed = only === undefined || only.value.some((id) => idText(id) === idText(facts.chat.id));
  const path = enabled?.value === true ? (only?.path ?? enabled.path) : (enabled?.path ?? `${base}.groupEnabled`);
  return {
    places: [],
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
  const map = roomMapOf(channel);
  const mapPath = `channels.${channel}.${map.spaces ?? map.rooms}`;
  const outer = mapOf(layers, map.spaces ?? map.rooms) ?? { path: mapPath, section: {} };
  if (map.spaces !== undefined && idText(chat.guildId) === "") return outsideOf(facts, mapPath);
  const space = map.spaces === undefined ? undefined : lookUp(outer, [idText(chat.guildId)]);
  const inner = space ? { path: `${space.path}.${map.rooms}`, section: sectionOf(own(space.own?.section, map.rooms)) ?? {} } : outer;
  const room = lookUp(inner, roomKeys(facts, map));
  const thread = idText(chat.threadId);
  const topicSection = thread === "" ? undefined : sectionOf(own(sectionOf(own(room.own?.section, "topics")), thread));
  const topic = topicSection && { path: `${room.path}.topics[${JSON.stringify(thread)}]`, section: topicSection };
  return {
    places: present([topic, room.own, space?.own]),
    inherited: present([topic, room.own, room.general, space?.own, space?.general]),
    topic,
    path: room.own || !space ? room.path : space.path,
    missingFrom: space?.missing ? outer.path : room.missing ? inner.path : undefined,
    listedIsEnough: map.listedIsEnough === true && (space ?? room).known,
    mapPath: outer.path,
  };
}
