/** Allow lists. They contain ids that users cannot change: a display name or user name on a list matches nobody. */
import type { ChannelDock, ChannelInboundSender, ChannelPlugin, HostConfig } from "../../protocol/index.ts";

export const EVERYBODY = "*";

/** A list in comparable form. */
export interface AllowEntries {
  readonly everybody: boolean;
  readonly ids: ReadonlySet<string>;
}

export const NOBODY: AllowEntries = { everybody: false, ids: new Set() };

export type EntryList = readonly (string | number)[];

const isEntry = (value: unknown): value is string | number => typeof value === "string" || typeof value === "number";

/** A non-empty list; an empty one has no effect. */
export function isFilledList(value: unknown): value is EntryList {
  return Array.isArray(value) && value.some(isEntry);
}

/** Which channel's normalization of ids applies. */
export interface EntryContext {
  readonly cfg: HostConfig;
  readonly plugin: ChannelPlugin | undefined;
  readonly dock?: ChannelDock | undefined;
  readonly channel: string;
  readonly accountId: string;
}

/** The entry without its `<channel>:` prefix. */
function bare(entry: string, channel: string): string {
  const prefix = `${channel}:`;
  return entry.slice(0, prefix.length).toLowerCase() === prefix ? entry.slice(prefix.length).trim() : entry;
}

/** Normalizes ids like the channel. If its code throws, or returns no text, nobody is allowed. */
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

/** Parses a list of the configuration. */
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
    // A plugin's normalization never yields everybody: only the owner writes that.
    .filter((entry) => entry !== "" && entry !== EVERYBODY);
  return { everybody: written.includes(EVERYBODY), ids: new Set(ids) };
}

/** The immutable ids of a sender, as received and in lower case. No prefix is stripped: one that a stranger chose must not turn into another's id. */
export function idsOf(sender: ChannelInboundSender | undefined): readonly string[] {
  const raw: unknown[] = [sender?.id, ...(Array.isArray(sender?.otherIds) ? sender.otherIds : [])];
  const ids = raw
    .filter(isEntry)
    .map((id) => String(id).trim())
    .filter((id) => id !== "" && id !== EVERYBODY);
  return [...new Set(ids.flatMap((id) => [id, id.toLowerCase()]))];
}

export const names = (list: ReadonlySet<string>, ids: readonly string[]): boolean => ids.some((id) => list.has(id));

export const admits = (list: AllowEntries, ids: readonly string[]): boolean => list.everybody || names(list.ids, ids);
