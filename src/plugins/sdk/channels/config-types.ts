/** Sections of well-known channels as plugins name their types. */
import type { ChannelSection, DmPolicy, GroupPolicy, GroupToolPolicyBySenderConfig, GroupToolPolicyConfig } from "../../../protocol/index.ts";

type People = (string | number)[];

export interface GoogleChatDmConfig {
  enabled?: boolean | undefined;
  policy?: DmPolicy | undefined;
  allowFrom?: People | undefined;
}

export interface GoogleChatGroupConfig {
  enabled?: boolean | undefined;
  allow?: boolean | undefined;
  requireMention?: boolean | undefined;
  users?: People | undefined;
  systemPrompt?: string | undefined;
}

export interface GoogleChatActionConfig {
  reactions?: boolean | undefined;
}

export interface GoogleChatAccountConfig extends ChannelSection {
  allowBots?: boolean | undefined;
  groups?: Record<string, GoogleChatGroupConfig> | undefined;
  serviceAccount?: string | Record<string, unknown> | undefined;
  serviceAccountFile?: string | undefined;
  audienceType?: "app-url" | "project-number" | undefined;
  audience?: string | undefined;
  webhookPath?: string | undefined;
  webhookUrl?: string | undefined;
  botUser?: string | undefined;
  dm?: GoogleChatDmConfig | undefined;
  actions?: GoogleChatActionConfig | undefined;
  typingIndicator?: "none" | "message" | "reaction" | undefined;
}

export interface GoogleChatConfig extends GoogleChatAccountConfig {
  accounts?: Record<string, GoogleChatAccountConfig> | undefined;
  defaultAccount?: string | undefined;
}

export type MSTeamsReplyStyle = "thread" | "top-level";

export interface MSTeamsChannelConfig {
  requireMention?: boolean | undefined;
  replyStyle?: MSTeamsReplyStyle | undefined;
  tools?: GroupToolPolicyConfig | undefined;
  toolsBySender?: GroupToolPolicyBySenderConfig | undefined;
}

export interface MSTeamsTeamConfig extends MSTeamsChannelConfig {
  channels?: Record<string, MSTeamsChannelConfig> | undefined;
}

export interface MSTeamsConfig extends ChannelSection {
  appId?: string | undefined;
  appPassword?: string | undefined;
  tenantId?: string | undefined;
  webhook?: { port?: number | undefined; path?: string | undefined } | undefined;
  mediaAllowHosts?: string[] | undefined;
  mediaAuthAllowHosts?: string[] | undefined;
  replyStyle?: MSTeamsReplyStyle | undefined;
  teams?: Record<string, MSTeamsTeamConfig> | undefined;
  sharePointSiteId?: string | undefined;
}

export interface LineGroupConfig {
  enabled?: boolean | undefined;
  allowFrom?: People | undefined;
  requireMention?: boolean | undefined;
  systemPrompt?: string | undefined;
  skills?: string[] | undefined;
}

export interface LineAccountConfig {
  enabled?: boolean | undefined;
  channelAccessToken?: string | undefined;
  channelSecret?: string | undefined;
  tokenFile?: string | undefined;
  secretFile?: string | undefined;
  name?: string | undefined;
  allowFrom?: People | undefined;
  groupAllowFrom?: People | undefined;
  dmPolicy?: DmPolicy | undefined;
  groupPolicy?: GroupPolicy | undefined;
  responsePrefix?: string | undefined;
  mediaMaxMb?: number | undefined;
  webhookPath?: string | undefined;
  groups?: Record<string, LineGroupConfig> | undefined;
}

export interface LineConfig extends LineAccountConfig {
  accounts?: Record<string, LineAccountConfig> | undefined;
}
