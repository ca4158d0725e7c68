import { isObject, type OpenClawConfig } from "../../config/index.ts";
import { parseSessionKey } from "../../protocol/index.ts";
import type { ToolPolicy } from "./layers.ts";

/** Who wrote in a group. A display name is not among it: everybody can choose one. */
export interface GroupSender {
  readonly id?: string | undefined;
  readonly e164?: string | undefined;
  /** Only where the channel keeps it unique. */
  readonly username?: string | undefined;
}

export interface GroupFacts {
  readonly config: OpenClawConfig;
  readonly sessionKey: string;
  /** Of a subagent: the key of the session that began it all. Its group's policy holds for its children. */
  readonly spawnedBy?: string | undefined;
  readonly channel?: string | undefined;
  readonly accountId?: string | undefined;
  readonly groupId?: string | undefined;
  readonly sender?: GroupSender | undefined;
}

type PlacedPolicy = ToolPolicy & { readonly at: string };

/** The group that a session key is of: `agent:<id>:<channel>:group|channel:<group>[:thread|topic:<t>]`. */
export function groupOfKey(sessionKey: string): { readonly channel: string; readonly groupId: string } | undefined {
  const parsed = parseSessionKey(sessionKey);
  if (parsed?.kind !== "agent") return undefined;
  const [, channel, groupId] = /^([^:]+):(?:group|channel):(.+?)(?::(?:thread|topic):.*)?$/.exec(parsed.rest) ?? [];
  return channel === undefined || groupId === undefined ? undefined : { channel, groupId };
}

/**
 * What a group says about tools: its own entry, then the entry `*`, in each the sender's policy before the general one. The first that is found
 * is the whole policy. An account with groups of its own does not look at the channel's.
 */
export function groupPolicy(facts: GroupFacts): PlacedPolicy | undefined {
  const found = groupOfKey(facts.sessionKey) ?? (facts.spawnedBy === undefined ? undefined : groupOfKey(facts.spawnedBy));
  const channel = found?.channel ?? facts.channel?.toLowerCase();
  const groupId = facts.groupId ?? found?.groupId;
  if (channel === undefined || groupId === undefined) return undefined;
  const place = groupsOf(facts.config, channel, facts.accountId);
  if (!place) return undefined;
  for (const wanted of [groupId, "*"]) {
    const entry = entryOf(place.groups, wanted);
    if (!entry) continue;
    const at = `${place.at}[${JSON.stringify(entry.key)}]`;
    const policy = senderPolicy(entry.value["toolsBySender"], facts.sender, at) ?? policyAt(entry.value["tools"], `${at}.tools`);
    if (policy) return policy;
  }
  return undefined;
}

interface Found {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Keys are compared without regard to case: ids in session keys are lower case. */
function entryOf(map: Readonly<Record<string, unknown>>, wanted: string): Found | undefined {
  const plain = wanted.trim().toLowerCase();
  const found = Object.entries(map).find(([key]) => key.trim().toLowerCase() === plain);
  return found && isObject(found[1]) ? { key: found[0], value: found[1] } : undefined;
}

function groupsOf(config: OpenClawConfig, channel: string, accountId: string | undefined) {
  const found = entryOf(isObject(config.channels) ? config.channels : {}, channel);
  if (!found) return undefined;
  const at = `channels.${found.key}`;
  const { accounts, groups } = found.value;
  const account = accountId === undefined || !isObject(accounts) ? undefined : entryOf(accounts, accountId);
  if (account && isObject(account.value["groups"])) return { groups: account.value["groups"], at: `${at}.accounts.${account.key}.groups` };
  return isObject(groups) ? { groups, at: `${at}.groups` } : undefined;
}

const senderKey = (written: string): string => written.trim().replace(/^@/, "").toLowerCase();

function senderPolicy(map: unknown, sender: GroupSender | undefined, at: string): PlacedPolicy | undefined {
  if (!isObject(map)) return undefined;
  const known = [sender?.id, sender?.e164, sender?.username].flatMap((name) => (name === undefined || name.trim() === "" ? [] : [senderKey(name)]));
  for (const wanted of [...known.filter((name) => name !== "*"), "*"]) {
    const found = Object.entries(map).find(([key]) => senderKey(key) === wanted);
    const policy = found && policyAt(found[1], `${at}.toolsBySender[${JSON.stringify(found[0])}]`);
    if (policy) return policy;
  }
  return undefined;
}

function policyAt(value: unknown, at: string): PlacedPolicy | undefined {
  if (!isObject(value)) return undefined;
  const { allow, alsoAllow, deny } = value as ToolPolicy;
  return { at, ...(allow ? { allow } : {}), ...(alsoAllow ? { alsoAllow } : {}), ...(deny ? { deny } : {}) };
}
