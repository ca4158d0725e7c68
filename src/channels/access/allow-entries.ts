/** Lists of who is let in. They name ids that their owners cannot change: a name or a user name on a list is nobody. */
import type { ChannelDock, ChannelInboundSender, ChannelPlugin, HostConfig } from "../../protocol/index.ts";

export const EVERYBODY = "*";

/** A list as it is compared. */
export interface AllowEntries {
  readonly everybody: boolean;
  readonly ids: ReadonlySet<string>;
}

export const NOBODY: AllowEntries = { everybody: false, ids: new Set() };

export type EntryList = readonly (string | number)[];

const isEntry = (value: unknown): value is string | number => typeof value === "string" || typeof value === "number";

/** A list with something in it; an empty one says nothing. */
export function isFilledList(value: unknown): value is EntryList {
  return Array.isArray(value) && value.some(isEntry);
}

/** Which channel's spelling of ids holds. */
export interface EntryContext {
  readonly cfg: HostConfig;
  readonly plugin: ChannelPlugin | undefined;
  readonly dock?: ChannelDock | undefined;
  readonly channel: string;
  readonly accountId: string;
}

/** What stands behind `<channel>:`. */
function bare(entry: string, channel: string): string {
  const prefix = `${channel}:`;
  return entry.slice(0, prefix.length).toLowerCase() === prefix ? entry.slice(prefix.length).trim() : entry;
}

/** As the channel spells ids. What its code throws, or gives that is no text, lets nobody in. */
function spelled(written: string[], { cfg, plugin, dock, channel, accountId }: EntryContext): string[] {
  const format = plugin?.config?.formatAllowFrom?.bind(plugin.config) ?? dock?.config?.formatAllowFrom?.bind(dock.config);
  const normalize = plugin?.pairing?.normalizeAllowEntry?.bind(plugin.pairing);
  try {
    const formatted: unknown = format ? format({ cfg, accountId, allowFrom: written }) : written.map((entry) => bare(entry, channel).toLowerCase());
    const texts = Array.isArray(formatted) ? formatted.filter(isEntry).map((entry) => bare(String(entry).trim(), channel)) : [];
    const normal: unknown[] = normalize ? texts.map((entry) => normalize(entry)) : texts;
    return normal.filter(isEntry).map(String);
  } catch {
    return [];
  }
}

/** Makes a list of the configuration comparable. */
export function readEntries(list: unknown, context: EntryContext): AllowEntries {
  if (!isFilledList(list)) return NOBODY;
  const written = list
    .filter(isEntry)
    .map((entry) => String(entry).trim())
    .filter((entry) => entry !== "");
  const ids = spelled(
    written.filter((entry) => entry !== EVERYBODY),
    context,
  )
    .map((entry) => entry.trim())
    // What a channel's code makes of an entry is never everybody: only the owner writes that.
    .filter((entry) => entry !== "" && entry !== EVERYBODY);
  return { everybody: written.includes(EVERYBODY), ids: new Set(ids) };
}

/** The unchangeable ids of a sender, as given and in lower case. Nothing is taken off them: a prefix that a stranger chose must not turn into another's id. */
export function idsOf(sender: ChannelInboundSender | undefined): readonly string[] {
  const given: unknown[] = [sender?.id, ...(Array.isArray(sender?.otherIds) ? sender.otherIds : [])];
  const ids = given
    .filter(isEntry)
    .map((id) => String(id).trim())
    .filter((id) => id !== "" && id !== EVERYBODY);
  return [...new Set(ids.flatMap((id) => [id, id.toLowerCase()]))];
}

export const names = (list: ReadonlySet<string>, ids: readonly string[]): boolean => ids.some((id) => list.has(id));

export const admits = (list: AllowEntries, ids: readonly string[]): boolean => list.everybody || names(list.ids, ids);
