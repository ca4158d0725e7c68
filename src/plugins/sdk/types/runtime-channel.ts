/** What a channel needs of the host between a message that arrives and a reply that leaves. */
import type {
  ChannelPairingAdapter,
  ChatType,
  ChunkMode,
  DispatchResult,
  FinalizedMsgContext,
  HostConfig,
  HumanDelayConfig,
  MarkdownTableMode,
  MsgContext,
  ReplyDispatcher,
  ReplyDispatcherOptions,
  ReplyOptions,
  ReplyPayload,
} from "../../../protocol/index.ts";
import type { AckReactionGateParams, CommandAuthorizer, CommandModeWithoutAccessGroups } from "../access/gating.ts";
import type { ChannelGroupPolicy } from "../access/groups.ts";
import type { RuntimeTransports } from "./runtime-transports.ts";
import type { RuntimeChannelMedia } from "./runtime-media.ts";

export interface RuntimeChannelText {
  chunkText(text: string, limit: number): string[];
  chunkMarkdownText(text: string, limit: number): string[];
  chunkTextWithMode(text: string, limit: number, mode: ChunkMode): string[];
  chunkMarkdownTextWithMode(text: string, limit: number, mode: ChunkMode): string[];
  chunkByNewline(
    text: string,
    maxLineLength: number,
    options?: { splitLongLines?: boolean; trimLines?: boolean; isSafeBreak?: (index: number) => boolean },
  ): string[];
  resolveChunkMode(cfg: HostConfig | undefined, channel?: string, accountId?: string | null): ChunkMode;
  resolveTextChunkLimit(cfg: HostConfig | undefined, channel?: string, accountId?: string | null, options?: { fallbackLimit?: number }): number;
  hasControlCommand(text?: string, cfg?: HostConfig, options?: { botUsername?: string | undefined }): boolean;
  resolveMarkdownTableMode(params: {
    cfg?: Partial<HostConfig> | undefined;
    channel?: string | null | undefined;
    accountId?: string | null | undefined;
  }): MarkdownTableMode;
  convertMarkdownTables(markdown: string, mode: MarkdownTableMode): string;
}

export interface EnvelopeFormatOptions {
  timezone?: string | undefined;
  includeTimestamp?: boolean | undefined;
  includeElapsed?: boolean | undefined;
  userTimezone?: string | undefined;
}

export interface AgentEnvelopeParams {
  channel: string;
  from?: string | undefined;
  timestamp?: number | Date | undefined;
  host?: string | undefined;
  ip?: string | undefined;
  body: string;
  previousTimestamp?: number | Date | undefined;
  envelope?: EnvelopeFormatOptions | undefined;
}

export type ReplyResolver = (ctx: MsgContext, options?: ReplyOptions, cfg?: HostConfig) => Promise<ReplyPayload | ReplyPayload[] | undefined>;

interface DispatchParams {
  ctx: MsgContext;
  cfg: HostConfig;
  replyOptions?: ReplyOptions | undefined;
  replyResolver?: ReplyResolver | undefined;
}

export interface RuntimeChannelReply {
  dispatchReplyWithBufferedBlockDispatcher(params: DispatchParams & { dispatcherOptions: ReplyDispatcherOptions }): Promise<DispatchResult>;
  createReplyDispatcherWithTyping(options: ReplyDispatcherOptions): { dispatcher: ReplyDispatcher; replyOptions: ReplyOptions; markDispatchIdle(): void };
  dispatchReplyFromConfig(params: DispatchParams & { dispatcher: ReplyDispatcher }): Promise<DispatchResult>;
  finalizeInboundContext<T extends MsgContext>(
    ctx: T,
    options?: { forceBodyForAgent?: boolean; forceBodyForCommands?: boolean; forceChatType?: boolean; forceConversationLabel?: boolean },
  ): T & FinalizedMsgContext;
  formatAgentEnvelope(params: AgentEnvelopeParams): string;
  formatInboundEnvelope(
    params: Omit<AgentEnvelopeParams, "host" | "ip"> & {
      chatType?: string | undefined;
      senderLabel?: string | undefined;
      sender?:
        | { name?: string | undefined; username?: string | undefined; tag?: string | undefined; e164?: string | undefined; id?: string | undefined }
        | undefined;
    },
  ): string;
  resolveEnvelopeFormatOptions(cfg?: HostConfig): EnvelopeFormatOptions;
  resolveHumanDelayConfig(cfg: HostConfig, agentId: string): HumanDelayConfig | undefined;
  resolveEffectiveMessagesConfig(
    cfg: HostConfig,
    agentId: string,
    options?: { hasAllowFrom?: boolean; fallbackMessagePrefix?: string; channel?: string; accountId?: string },
  ): { messagePrefix: string; responsePrefix?: string | undefined };
}

export interface RoutePeer {
  kind: ChatType;
  id: string;
}

export interface ResolvedAgentRoute {
  agentId: string;
  channel: string;
  accountId: string;
  sessionKey: string;
  mainSessionKey: string;
  matchedBy: string;
}

export interface RuntimeChannelRouting {
  resolveAgentRoute(params: {
    cfg: HostConfig;
    channel: string;
    accountId?: string | null | undefined;
    peer?: RoutePeer | null | undefined;
    parentPeer?: RoutePeer | null | undefined;
    guildId?: string | null | undefined;
    teamId?: string | null | undefined;
    memberRoleIds?: string[] | undefined;
  }): ResolvedAgentRoute;
  buildAgentSessionKey?(params: Record<string, unknown>): string;
}

export interface RuntimeChannelPairing {
  buildPairingReply(params: { channel: string; idLine: string; code: string }): string;
  readAllowFromStore(channel: string, env?: Record<string, string | undefined>, accountId?: string): Promise<string[]>;
  /** An empty code: three are waiting already. */
  upsertPairingRequest(params: {
    channel: string;
    id: string | number;
    accountId?: string | undefined;
    meta?: Record<string, string | undefined | null> | undefined;
    env?: Record<string, string | undefined> | undefined;
    pairingAdapter?: ChannelPairingAdapter | undefined;
  }): Promise<{ code: string; created: boolean }>;
}

interface LastRoute {
  sessionKey: string;
  channel: string;
  to: string;
  accountId?: string | undefined;
  threadId?: string | number | undefined;
}

export interface RecordInboundSessionParams {
  storePath: string;
  sessionKey: string;
  ctx: MsgContext;
  groupResolution?: unknown;
  createIfMissing?: boolean | undefined;
  updateLastRoute?: LastRoute | undefined;
  onRecordError(error: unknown): void;
}

export interface RuntimeChannelSession {
  resolveStorePath(store?: string, options?: { agentId?: string | undefined }): string;
  readSessionUpdatedAt(params: { storePath: string; sessionKey: string }): number | undefined;
  recordInboundSession(params: RecordInboundSessionParams): Promise<void>;
  recordSessionMetaFromInbound(params: Omit<RecordInboundSessionParams, "updateLastRoute" | "onRecordError">): Promise<Record<string, unknown> | null>;
  updateLastRoute(
    params: { storePath: string; sessionKey: string } & Partial<Omit<LastRoute, "sessionKey">> & Record<string, unknown>,
  ): Promise<Record<string, unknown>>;
}

export interface InboundDebouncer<T> {
  enqueue(item: T): Promise<void>;
  flushKey(key: string): Promise<void>;
}

interface GroupParams {
  cfg: HostConfig;
  channel: string;
  groupId?: string | null | undefined;
  accountId?: string | null | undefined;
  groupIdCaseInsensitive?: boolean | undefined;
}

type CommandText = (text?: string, cfg?: HostConfig, options?: { botUsername?: string | undefined }) => boolean;

export interface RuntimeChannel extends RuntimeTransports {
  text: RuntimeChannelText;
  reply: RuntimeChannelReply;
  routing: RuntimeChannelRouting;
  pairing: RuntimeChannelPairing;
  media: RuntimeChannelMedia;
  activity: {
    record(params: { channel: string; accountId?: string | null | undefined; direction: "inbound" | "outbound"; at?: number | undefined }): void;
    get(params: { channel: string; accountId?: string | null | undefined }): { inboundAt: number | null; outboundAt: number | null };
  };
  session: RuntimeChannelSession;
  mentions: {
    buildMentionRegexes(cfg: HostConfig | undefined, agentId?: string): RegExp[];
    matchesMentionPatterns(text: string, regexes: RegExp[]): boolean;
    matchesMentionWithExplicit(params: {
      text: string;
      mentionRegexes: RegExp[];
      explicit?: { hasAnyMention: boolean; isExplicitlyMentioned: boolean; canResolveExplicit: boolean } | undefined;
      transcript?: string | undefined;
    }): boolean;
    resolveInboundMentionDecision?(params: { facts: Record<string, unknown>; policy: Record<string, unknown> }): Record<string, unknown>;
  };
  reactions: {
    shouldAckReaction(params: AckReactionGateParams): boolean;
    removeAckReactionAfterReply(params: {
      removeAfterReply: boolean;
      ackReactionPromise: Promise<boolean> | null;
      ackReactionValue: string | null;
      remove(): Promise<void>;
      onError?: ((error: unknown) => void) | undefined;
    }): void;
  };
  groups: {
    resolveGroupPolicy(params: GroupParams): ChannelGroupPolicy;
    resolveRequireMention(
      params: GroupParams & { requireMentionOverride?: boolean | undefined; overrideOrder?: "before-config" | "after-config" | undefined },
    ): boolean;
  };
  debounce: {
    createInboundDebouncer<T>(params: {
      debounceMs: number;
      buildKey(item: T): string | null | undefined;
      shouldDebounce?: ((item: T) => boolean) | undefined;
      onFlush(items: T[]): Promise<void>;
      onError?: ((error: unknown, items: T[]) => void) | undefined;
    }): InboundDebouncer<T>;
    resolveInboundDebounceMs(params: { cfg: HostConfig; channel: string; overrideMs?: number | undefined }): number;
  };
  commands: {
    shouldHandleTextCommands(params: { cfg: HostConfig; surface: string; commandSource?: "text" | "native" | undefined }): boolean;
    shouldComputeCommandAuthorized: CommandText;
    isControlCommandMessage: CommandText;
    resolveCommandAuthorizedFromAuthorizers(params: {
      useAccessGroups: boolean;
      authorizers: CommandAuthorizer[];
      modeWhenAccessGroupsOff?: CommandModeWithoutAccessGroups | undefined;
    }): boolean;
  };
}
