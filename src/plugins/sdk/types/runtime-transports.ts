/** Channels that the host carries itself; the plugin of that name is a shell around these. */
import type { AgentToolResult, AnyAgentTool, ChannelDirectoryEntry, ChannelMessageActionAdapter, HostConfig, PollInput } from "../../../protocol/index.ts";

interface Sent {
  messageId: string;
  [key: string]: unknown;
}

type SendMessage = (to: string, text: string, options?: Record<string, unknown>) => Promise<Sent>;
type SendPoll = (to: string, poll: PollInput, options?: Record<string, unknown>) => Promise<Sent>;
type Monitor = (options: Record<string, unknown>) => Promise<unknown>;
type Probe = (...args: unknown[]) => Promise<{ ok: boolean; [key: string]: unknown }>;
type Listing = (params: Record<string, unknown>) => Promise<ChannelDirectoryEntry[]>;
type AllowlistLookup = (params: {
  token: string;
  entries: string[];
}) => Promise<{ input: string; resolved: boolean; id?: string; name?: string; note?: string }[]>;

export interface RuntimeTransports {
  discord: {
    messageActions: ChannelMessageActionAdapter;
    auditChannelPermissions(params: { token: string; channelIds: string[]; timeoutMs: number; accountId?: string | null }): Promise<unknown>;
    listDirectoryGroupsLive: Listing;
    listDirectoryPeersLive: Listing;
    probeDiscord: Probe;
    resolveChannelAllowlist: AllowlistLookup;
    resolveUserAllowlist: AllowlistLookup;
    sendMessageDiscord: SendMessage;
    sendPollDiscord: SendPoll;
    monitorDiscordProvider: Monitor;
  };
  slack: {
    listDirectoryGroupsLive: Listing;
    listDirectoryPeersLive: Listing;
    probeSlack: Probe;
    resolveChannelAllowlist: AllowlistLookup;
    resolveUserAllowlist: AllowlistLookup;
    sendMessageSlack: SendMessage;
    monitorSlackProvider: Monitor;
    handleSlackAction(params: Record<string, unknown>, cfg: HostConfig, context?: unknown): Promise<AgentToolResult>;
  };
  telegram: {
    auditGroupMembership(params: { token: string; botId: number; groupIds: string[]; timeoutMs: number; proxyUrl?: string }): Promise<unknown>;
    collectUnmentionedGroupIds(groups: Record<string, unknown> | undefined): {
      groupIds: string[];
      unresolvedGroups: number;
      hasWildcardUnmentionedGroups: boolean;
    };
    probeTelegram: Probe;
    resolveTelegramToken(cfg?: HostConfig, options?: Record<string, unknown>): { token: string; source: string };
    sendMessageTelegram: SendMessage;
    sendPollTelegram: SendPoll;
    monitorTelegramProvider: Monitor;
    messageActions: ChannelMessageActionAdapter;
  };
  signal: {
    probeSignal: Probe;
    sendMessageSignal: SendMessage;
    monitorSignalProvider: Monitor;
    messageActions: ChannelMessageActionAdapter;
  };
  imessage: {
    monitorIMessageProvider: Monitor;
    probeIMessage: Probe;
    sendMessageIMessage: SendMessage;
  };
  whatsapp: {
    getActiveWebListener(accountId?: string | null): unknown;
    getWebAuthAgeMs(authDir?: string): number | null;
    logoutWeb(params: Record<string, unknown>): Promise<boolean>;
    logWebSelfId(authDir?: string, ...rest: unknown[]): void;
    readWebSelfId(authDir?: string): { e164: string | null; jid: string | null };
    webAuthExists(authDir?: string): Promise<boolean>;
    sendMessageWhatsApp: SendMessage;
    sendPollWhatsApp: SendPoll;
    loginWeb(verbose: boolean, ...rest: unknown[]): Promise<void>;
    startWebLoginWithQr(options?: Record<string, unknown>): Promise<{ qrDataUrl?: string; message: string }>;
    waitForWebLogin(options?: Record<string, unknown>): Promise<{ connected: boolean; message: string }>;
    monitorWebChannel(verbose: boolean, ...rest: unknown[]): Promise<unknown>;
    handleWhatsAppAction(params: Record<string, unknown>, cfg: HostConfig): Promise<AgentToolResult>;
    createLoginTool(): AnyAgentTool;
  };
  line: {
    listLineAccountIds(cfg: HostConfig): string[];
    resolveDefaultLineAccountId(cfg: HostConfig): string;
    resolveLineAccount(params: { cfg: HostConfig; accountId?: string }): unknown;
    normalizeAccountId(accountId?: string): string;
    probeLineBot: Probe;
    sendMessageLine: SendMessage;
    pushMessageLine: SendMessage;
    pushMessagesLine(to: string, messages: unknown[], options?: Record<string, unknown>): Promise<Sent>;
    pushFlexMessage(to: string, altText: string, contents: unknown, options?: Record<string, unknown>): Promise<Sent>;
    pushTemplateMessage(to: string, template: unknown, options?: Record<string, unknown>): Promise<Sent>;
    pushLocationMessage(
      to: string,
      location: { title: string; address: string; latitude: number; longitude: number },
      options?: Record<string, unknown>,
    ): Promise<Sent>;
    pushTextMessageWithQuickReplies(to: string, text: string, labels: string[], options?: Record<string, unknown>): Promise<Sent>;
    createQuickReplyItems(labels: string[]): unknown;
    buildTemplateMessageFromPayload(payload: unknown): unknown;
    monitorLineProvider: Monitor;
  };
}
