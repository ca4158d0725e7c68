/** What holds in a group: whether it is answered at all, with or without a mention, and with which tools. */
import type { ConfigSection, GroupToolPolicyBySenderConfig, GroupToolPolicyConfig, HostConfig } from "../../../protocol/index.ts";
import { accountSection, channelSection, normalizeAccountId, recordOf } from "../account-ids.ts";

export interface ChannelGroupConfig {
  requireMention?: boolean | undefined;
  tools?: GroupToolPolicyConfig | undefined;
  toolsBySender?: GroupToolPolicyBySenderConfig | undefined;
  [key: string]: unknown;
}

export interface ChannelGroupPolicy {
  allowlistEnabled: boolean;
  allowed: boolean;
  groupConfig?: ChannelGroupConfig | undefined;
  defaultConfig?: ChannelGroupConfig | undefined;
}

export interface GroupSender {
  senderId?: string | null | undefined;
  senderName?: string | null | undefined;
  senderUsername?: string | null | undefined;
  senderE164?: string | null | undefined;
}

function senderKey(value: string): string {
  const text = value.trim().toLowerCase();
  return text.startsWith("@") ? text.slice(1) : text;
}

/** The policy of the first of id, phone number, user name and name that has one; `*` otherwise. */
export function resolveToolsBySender(params: { toolsBySender?: GroupToolPolicyBySenderConfig | undefined } & GroupSender): GroupToolPolicyConfig | undefined {
  const policies = new Map<string, GroupToolPolicyConfig>();
  for (const [key, policy] of Object.entries(params.toolsBySender ?? {})) {
    const normal = senderKey(key);
    if (policy && normal && !policies.has(normal)) policies.set(normal, policy);
  }
  for (const candidate of [params.senderId, params.senderE164, params.senderUsername, params.senderName]) {
    const key = senderKey(candidate ?? "");
    if (key && key !== "*" && policies.has(key)) return policies.get(key);
  }
  return policies.get("*");
}

interface GroupParams {
  cfg: HostConfig;
  channel: string;
  groupId?: string | null | undefined;
  accountId?: string | null | undefined;
  groupIdCaseInsensitive?: boolean | undefined;
}

function groupsOf(params: GroupParams): ConfigSection | undefined {
  const own = accountSection(params.cfg, params.channel, normalizeAccountId(params.accountId))?.["groups"];
  return recordOf(own) ?? recordOf(channelSection(params.cfg, params.channel)?.["groups"]);
}

function groupEntry(groups: ConfigSection | undefined, id: string | undefined, blindToCase: boolean): ChannelGroupConfig | undefined {
  if (!groups || !id) return undefined;
  const key = Object.hasOwn(groups, id) || !blindToCase ? id : Object.keys(groups).find((name) => name.toLowerCase() === id.toLowerCase());
  return key === undefined ? undefined : recordOf(groups[key]);
}

/** A channel whose `groups` lists any is answered in those only; `*` there stands for all others. */
export function resolveChannelGroupPolicy(params: GroupParams): ChannelGroupPolicy {
  const groups = groupsOf(params);
  const allowlistEnabled = Object.keys(groups ?? {}).length > 0;
  const groupConfig = groupEntry(groups, params.groupId?.trim(), params.groupIdCaseInsensitive === true);
  const defaultConfig: ChannelGroupConfig | undefined = recordOf(groups?.["*"]);
  return { allowlistEnabled, allowed: !allowlistEnabled || groupConfig !== undefined || Object.hasOwn(groups ?? {}, "*"), groupConfig, defaultConfig };
}

/** Whether a mention is needed: the group's setting, the default group's, the override; true where nobody says. */
export function resolveChannelGroupRequireMention(
  params: GroupParams & { requireMentionOverride?: boolean | undefined; overrideOrder?: "before-config" | "after-config" | undefined },
): boolean {
  const { groupConfig, defaultConfig } = resolveChannelGroupPolicy(params);
  const configured = groupConfig?.requireMention ?? defaultConfig?.requireMention;
  const override = params.requireMentionOverride;
  return (params.overrideOrder === "before-config" ? (override ?? configured) : (configured ?? override)) ?? true;
}

/** The tools of a group: by sender, then the group's, then the same of the default group. */
export function resolveChannelGroupToolsPolicy(params: GroupParams & GroupSender): GroupToolPolicyConfig | undefined {
  const { groupConfig, defaultConfig } = resolveChannelGroupPolicy(params);
  for (const entry of [groupConfig, defaultConfig]) {
    const found = resolveToolsBySender({ ...params, toolsBySender: entry?.toolsBySender }) ?? entry?.tools;
    if (found) return found;
  }
  return undefined;
}
