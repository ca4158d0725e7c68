/** The settings of one account that decide who may write: its own keys over its channel's, defaults last, and its allow lists. */
import type { ChannelDock, ChannelInboundSender, ChannelPlugin, DmPolicy, GroupPolicy, HostConfig } from "../../protocol/index.ts";
import { sectionOf, type Section } from "../settings.ts";

export const DEFAULT_ACCOUNT = "default";
const MAX_ACCOUNT = 64;

/** The canonical account id: lower case, `[a-z0-9_-]`, at most 64 characters. */
export function accountKey(written: string | null | undefined): string {
  const id = (written ?? "").trim().toLowerCase();
  if (/^[a-z0-9][a-z0-9_-]{0,63}$/.test(id)) return id;
  const cleaned = id.replaceAll(/[^a-z0-9_-]+/g, "-").replaceAll(/^-+|-+$/g, "");
  return cleaned.slice(0, MAX_ACCOUNT) || DEFAULT_ACCOUNT;
}

/** An own key, never an inherited one. */
export function own(section: Section | undefined, key: string): unknown {
  return section !== undefined && Object.hasOwn(section, key) ? section[key] : undefined;
}

/** One section that may contain an account's keys. */
export interface Layer {
  readonly path: string;
  readonly section: Section;
}

/** The sections with an account's keys, nearest first. */
export function layersOf(cfg: HostConfig, channel: string, accountId: string): readonly Layer[] {
  const base = sectionOf(own(sectionOf(cfg?.channels), channel));
  const accounts = sectionOf(own(base, "accounts"));
  const wanted = accountKey(accountId);
  const key = accounts && (Object.hasOwn(accounts, wanted) ? wanted : Object.keys(accounts).find((name) => accountKey(name) === wanted));
  const account = key === undefined ? undefined : sectionOf(accounts?.[key]);
  return [
    ...(account ? [{ path: `channels.${channel}.accounts.${key}`, section: account }] : []),
    ...(base ? [{ path: `channels.${channel}`, section: base }] : []),
  ];
}

export const isFalse = (value: unknown): value is false => value === false;
export const isFlag = (value: unknown): value is boolean => typeof value === "boolean";
const isDmPolicy = (value: unknown): value is DmPolicy => value === "pairing" || value === "allowlist" || value === "open" || value === "disabled";
export const isGroupPolicy = (value: unknown): value is GroupPolicy => value === "open" || value === "disabled" || value === "allowlist";

/** A value with the key it was found under. */
export interface Found<T> {
  readonly value: T;
  readonly path: string;
}

/** The first layer with a valid value under one of these keys; `dm.policy` is a key inside of `dm`. */
export function firstOf<T>(layers: readonly Layer[], keys: readonly string[], fits: (value: unknown) => value is T): Found<T> | undefined {
  for (const { path, section } of layers) {
    for (const key of keys) {
      const [first = "", second] = key.split(".");
      const value = second === undefined ? own(section, first) : own(sectionOf(own(section, first)), second);
      if (fits(value)) return { value, path: `${path}.${key}` };
    }
  }
  return undefined;
}

export function dmPolicyOf(layers: readonly Layer[], channel: string): Found<DmPolicy> {
  return firstOf(layers, ["dmPolicy", "dm.policy"], isDmPolicy) ?? { value: "pairing", path: `channels.${channel}.dmPolicy` };
}

export function groupPolicyOf(cfg: HostConfig, layers: readonly Layer[], channel: string): Found<GroupPolicy> {
  const named = firstOf(layers, ["groupPolicy"], isGroupPolicy);
  if (named) return named;
  const general = own(sectionOf(own(sectionOf(cfg?.channels), "defaults")), "groupPolicy");
  if (isGroupPolicy(general)) return { value: general, path: "channels.defaults.groupPolicy" };
  return { value: "allowlist", path: `channels.${channel}.groupPolicy` };
}

/** The section of a channel as one account has it, with `dmPolicy` and `groupPolicy` always set. */
export function effectiveChannelConfig(
  cfg: HostConfig,
  channel: string,
  accountId: string,
): Record<string, unknown> & { dmPolicy: DmPolicy; groupPolicy: GroupPolicy } {
  const layers = layersOf(cfg, channel, accountId);
  const { accounts: _accounts, ...merged } = layers.reduceRight<Section>((below, { section }) => ({ ...below, ...section }), {});
  return { ...merged, dmPolicy: dmPolicyOf(layers, channel).value, groupPolicy: groupPolicyOf(cfg, layers, channel).value };
}

/** Allow lists contain ids that users cannot change: a display name or user name on a list matches nobody. `*` stands for everybody. */
export const EVERYBODY = "*";

/** A list in comparable form. */
export interface AllowEntries {
  readonly everybody: boolean;
  readonly ids: ReadonlySet<string>;
}

export const NOBODY: AllowEntries = { everybody: false, ids: new Set() };

export type EntryList = readonly (string | number)[];

export const isEntry = (value: unknown): value is string | number => typeof value === "string" || typeof value === "number";

/** A number beyond 2^53 has lost digits: it would be the id of someone else. */
export const isExact = (value: string | number): boolean => typeof value === "string" || Number.isSafeInteger(value);

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
  let everybody = false;
  const written: string[] = [];
  for (const entry of list) {
    const text = isEntry(entry) && isExact(entry) ? String(entry).trim() : "";
    if (text === EVERYBODY) everybody = true;
    else if (text !== "") written.push(text);
  }
  const ids = new Set<string>();
  for (const entry of written.length === 0 ? [] : spelled(written, context)) {
    const id = entry.trim();
    // A plugin's normalization never yields everybody: only the owner writes that.
    if (id !== "" && id !== EVERYBODY) ids.add(id);
  }
  return { everybody, ids };
}

/** The immutable ids of a sender, as received and in lower case. No prefix is stripped: one that a stranger chose must not turn into another's id. */
export function idsOf(sender: ChannelInboundSender | undefined): readonly string[] {
  const all: unknown[] = [sender?.id, ...(Array.isArray(sender?.otherIds) ? sender.otherIds : [])];
  const ids = new Set<string>();
  for (const raw of all) {
    const id = isEntry(raw) ? String(raw).trim() : "";
    if (id !== "" && id !== EVERYBODY) ids.add(id).add(id.toLowerCase());
  }
  return [...ids];
}

export function names(list: ReadonlySet<string>, ids: readonly string[]): boolean {
  for (const id of ids) if (list.has(id)) return true;
  return false;
}

export const admits = (list: AllowEntries, ids: readonly string[]): boolean => list.everybody || names(list.ids, ids);

/** `allowFrom` of the account or its channel, also the older `dm.allowFrom`. */
export function directList({ layers }: { readonly layers: readonly Layer[] }): Found<EntryList> | undefined {
  return firstOf(layers, ["allowFrom", "dm.allowFrom"], isFilledList);
}
