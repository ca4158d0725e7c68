/** Sections of the channels that everybody knows, as zod schemas made from one table. Keys that are not in it are kept. */
import { z } from "zod";
import {
  BlockStreamingCoalesceSchema,
  DmConfigSchema,
  DmPolicySchema,
  GroupPolicySchema,
  MarkdownConfigSchema,
  requireOpenAllowFrom,
} from "../config/schemas.ts";

type Channel = "telegram" | "discord" | "slack" | "signal" | "imessage" | "whatsapp" | "googlechat" | "msteams" | "line";

/** Every schema costs time to make, so all of it is made when a section is first looked at. */
function pieces() {
  const text = z.string().optional();
  const flag = z.boolean().optional();
  const number = z.number().optional();
  const section = z.record(z.string(), z.unknown()).optional();
  const texts = z.array(z.string()).optional();
  const people = z.array(z.union([z.string(), z.number()])).optional();
  const replyToMode = z.enum(["off", "first", "all"]).optional();
  const reactionNotifications = z.enum(["off", "own", "all", "allowlist"]).optional();
  const groups = z.record(z.string(), z.looseObject({ requireMention: flag, enabled: flag, allowFrom: people, systemPrompt: text }).optional()).optional();
  return { text, flag, number, section, texts, people, replyToMode, reactionNotifications, groups };
}

function sharedKeys(): z.ZodRawShape {
  const { text, flag, section, texts, people } = pieces();
  return {
    enabled: flag,
    name: text,
    configWrites: flag,
    capabilities: z.union([texts, section]),
    markdown: MarkdownConfigSchema,
    dmPolicy: DmPolicySchema.optional(),
    allowFrom: people,
    groupPolicy: GroupPolicySchema.optional(),
    groupAllowFrom: people,
    historyLimit: z.number().int().min(0).optional(),
    dmHistoryLimit: z.number().int().min(0).optional(),
    dms: z.record(z.string(), DmConfigSchema.optional()).optional(),
    textChunkLimit: z.number().int().positive().optional(),
    chunkMode: z.enum(["length", "newline"]).optional(),
    blockStreaming: flag,
    blockStreamingCoalesce: BlockStreamingCoalesceSchema.optional(),
    mediaMaxMb: z.number().positive().optional(),
    heartbeat: section,
    responsePrefix: text,
    actions: section,
  };
}

/** What a channel has besides what all have. */
const OWN: Readonly<Record<Channel, (k: ReturnType<typeof pieces>) => z.ZodRawShape>> = {
  telegram: (k) => ({
    botToken: k.text,
    tokenFile: k.text,
    replyToMode: k.replyToMode,
    groups: k.groups,
    customCommands: z.array(z.looseObject({ command: z.string(), description: z.string() })).optional(),
    streamMode: z.enum(["off", "partial", "block"]).optional(),
    timeoutSeconds: k.number,
    proxy: k.text,
    apiRoot: k.text,
    webhookUrl: k.text,
    webhookSecret: k.text,
    webhookPath: k.text,
    webhookHost: k.text,
    reactionNotifications: k.reactionNotifications,
    reactionLevel: z.enum(["off", "ack", "minimal", "extensive"]).optional(),
    linkPreview: k.flag,
    ackReaction: k.text,
    commands: k.section,
    network: k.section,
    retry: k.section,
  }),
  discord: (k) => ({
    token: k.text,
    proxy: k.text,
    allowBots: k.flag,
    maxLinesPerMessage: k.number,
    replyToMode: k.replyToMode,
    dm: k.section,
    guilds: k.section,
    ackReaction: k.text,
    intents: k.section,
    commands: k.section,
  }),
  slack: (k) => ({
    mode: z.enum(["socket", "http"]).optional(),
    botToken: k.text,
    appToken: k.text,
    userToken: k.text,
    userTokenReadOnly: k.flag,
    signingSecret: k.text,
    webhookPath: k.text,
    allowBots: k.flag,
    requireMention: k.flag,
    streaming: k.flag,
    reactionNotifications: k.reactionNotifications,
    reactionAllowlist: k.people,
    replyToMode: k.replyToMode,
    replyToModeByChatType: k.section,
    thread: k.section,
    slashCommand: k.section,
    dm: k.section,
    channels: k.section,
    ackReaction: k.text,
    commands: k.section,
  }),
  signal: (k) => ({
    account: k.text,
    httpUrl: k.text,
    httpHost: k.text,
    httpPort: z.number().int().positive().optional(),
    cliPath: k.text,
    autoStart: k.flag,
    startupTimeoutMs: k.number,
    ignoreAttachments: k.flag,
    ignoreStories: k.flag,
    sendReadReceipts: k.flag,
    reactionNotifications: k.reactionNotifications,
    reactionAllowlist: k.people,
  }),
  imessage: (k) => ({
    cliPath: k.text,
    dbPath: k.text,
    remoteHost: k.text,
    service: z.enum(["imessage", "sms", "auto"]).optional(),
    region: k.text,
    includeAttachments: k.flag,
    attachmentRoots: k.texts,
    remoteAttachmentRoots: k.texts,
    groups: k.groups,
  }),
  whatsapp: (k) => ({
    sendReadReceipts: k.flag,
    messagePrefix: k.text,
    selfChatMode: k.flag,
    groups: k.groups,
    ackReaction: k.section,
    debounceMs: z.number().int().min(0).optional(),
    authDir: k.text,
  }),
  googlechat: (k) => ({
    allowBots: k.flag,
    requireMention: k.flag,
    groups: k.groups,
    serviceAccount: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
    serviceAccountFile: k.text,
    audienceType: z.enum(["app-url", "project-number"]).optional(),
    audience: k.text,
    webhookPath: k.text,
    webhookUrl: k.text,
    botUser: k.text,
    streamMode: z.enum(["replace", "status_final", "append"]).optional(),
    replyToMode: k.replyToMode,
    dm: k.section,
    typingIndicator: z.enum(["none", "message", "reaction"]).optional(),
    defaultAccount: k.text,
  }),
  msteams: (k) => ({
    appId: k.text,
    appPassword: k.text,
    tenantId: k.text,
    webhook: z.looseObject({ port: z.number().int().positive().optional(), path: k.text }).optional(),
    mediaAllowHosts: k.texts,
    mediaAuthAllowHosts: k.texts,
    requireMention: k.flag,
    replyStyle: z.enum(["thread", "top-level"]).optional(),
    teams: k.section,
    sharePointSiteId: k.text,
  }),
  line: (k) => ({ channelAccessToken: k.text, channelSecret: k.text, tokenFile: k.text, secretFile: k.text, webhookPath: k.text, groups: k.groups }),
};

/** One account's keys, and the section with the accounts in it. An open direct-message policy has to name `*`. */
function channelSchema(channel: Channel): z.ZodType<Record<string, unknown>> {
  const account = z.looseObject({ ...sharedKeys(), ...OWN[channel](pieces()) });
  const whole = account.extend({ accounts: z.record(z.string(), account.optional()).optional() });
  return whole.superRefine((value, ctx) => {
    const section = value as { dmPolicy?: string; allowFrom?: (string | number)[]; dm?: { policy?: string; allowFrom?: (string | number)[] } };
    requireOpenAllowFrom({
      policy: section.dmPolicy,
      allowFrom: section.allowFrom ?? section.dm?.allowFrom,
      ctx,
      path: ["allowFrom"],
      message: `channels.${channel}.dmPolicy "open" needs channels.${channel}.allowFrom to name "*"`,
    });
  });
}

const lazily = (channel: Channel): z.ZodType<Record<string, unknown>> => z.lazy(() => channelSchema(channel));

export const TelegramConfigSchema = lazily("telegram");
export const DiscordConfigSchema = lazily("discord");
export const SlackConfigSchema = lazily("slack");
export const SignalConfigSchema = lazily("signal");
export const IMessageConfigSchema = lazily("imessage");
export const WhatsAppConfigSchema = lazily("whatsapp");
export const GoogleChatConfigSchema = lazily("googlechat");
export const MSTeamsConfigSchema = lazily("msteams");
export const LineConfigSchema = lazily("line");
