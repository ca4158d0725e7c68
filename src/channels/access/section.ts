/** The settings of one account: its own keys over its channel's, defaults last. */
import type { DmPolicy, GroupPolicy, HostConfig } from "../../protocol/index.ts";
import { sectionOf, type Section } from "../sections.ts";

export const DEFAULT_ACCOUNT = "default";
const MAX_ACCOUNT = 64;

/** The canonical account id: lower case, `[a-z0-9_-]`, at most 64 characters. */
export function accountKey(written: string | null | undefined): string {
  const id = (written ?? "").trim().toLowerCase();
  if (/^[a-z0-9][a-z0-9_-]{0,63}$/.test(id)) return id;
  const kept = id.replaceAll(/[^a-z0-9_-]+/g, "-").replaceAll(/^-+|-+$/g, "");
  return kept.slice(0, MAX_ACCOUNT) || DEFAULT_ACCOUNT;
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
  const { accounts: _accounts, ...merged } = Object.assign({}, ...layers.map(({ section }) => section).toReversed()) as Record<string, unknown>;
  return { ...merged, dmPolicy: dmPolicyOf(layers, channel).value, groupPolicy: groupPolicyOf(cfg, layers, channel).value };
}
