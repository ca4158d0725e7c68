/** What the configuration says about one group. */
import type { Facts } from "./facts.ts";
import { sectionOf, type Section } from "../sections.ts";
import { own, type Layer } from "./section.ts";

export interface GroupEntry {
  /** Groups are listed: one that is not among them is not answered. */
  readonly listed: boolean;
  readonly known: boolean;
  readonly path: string;
  /** Of the group, else of `*`. */
  readonly entry: Section | undefined;
  /** Of `*`. */
  readonly general: Section | undefined;
  readonly topic: Section | undefined;
  readonly topicPath: string;
}

const idText = (value: unknown): string => (typeof value === "string" || typeof value === "number" ? String(value).trim() : "");

/** The map of the nearest layer that has one: an account's replaces its channel's. */
function mapOf(layers: readonly Layer[]): { readonly map: Section; readonly path: string } | undefined {
  for (const { path, section } of layers) {
    const map = sectionOf(own(section, "groups"));
    if (map) return { map, path: `${path}.groups` };
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

export function groupEntryOf({ layers, chat, channel }: Facts): GroupEntry {
  const found = mapOf(layers);
  const { map = {}, path = `channels.${channel}.groups` } = found ?? {};
  const key = keyOf(map, idText(chat.id)) ?? keyOf(map, idText(chat.parentId));
  const general = sectionOf(own(map, "*"));
  const known = key !== undefined || Object.hasOwn(map, "*");
  const entry = key === undefined ? general : sectionOf(map[key]);
  const entryPath = `${path}[${JSON.stringify(key ?? "*")}]`;
  const thread = idText(chat.threadId);
  const topic = thread === "" ? undefined : sectionOf(own(sectionOf(own(entry, "topics")), thread));
  return { listed: Object.keys(map).length > 0, known, path: entryPath, entry, general, topic, topicPath: `${entryPath}.topics[${JSON.stringify(thread)}]` };
}
