/** `runtime.channel`. */
import { AppError } from "../../../base/errors.ts";
import { isRecord } from "../../../base/records.ts";
import * as channels from "../../../channels/index.ts";
import type { ChannelMessageActionAdapter } from "../../../protocol/index.ts";
import { normalizeAccountId } from "../../sdk/account-ids.ts";
import { listLineAccountIds, resolveDefaultLineAccountId, resolveLineAccount, resolveTelegramAccount } from "../../sdk/channels/accounts.ts";
import { removeAckReactionAfterReply, resolveCommandAuthorizedFromAuthorizers, shouldAckReaction } from "../../sdk/access/gating.ts";
import { resolveChannelGroupPolicy, resolveChannelGroupRequireMention } from "../../sdk/access/groups.ts";
import { createReplyPrefixContext } from "../../sdk/messages/replies.ts";
import type { RuntimeChannel, RuntimeChannelReply } from "../../sdk/types/index.ts";
import { lazily } from "../lazily.ts";
import { createChannelMedia } from "../media/index.ts";
import { ABSENT, pendingBelow, type PendingMember, type PendingPath } from "../pending.ts";
import type { RuntimeOwner, RuntimePorts } from "../ports.ts";
import { createChannelSession } from "./session.ts";

function createReply(pending: PendingMember): RuntimeChannelReply {
  return {
    dispatchReplyWithBufferedBlockDispatcher: pending("channel.reply.dispatchReplyWithBufferedBlockDispatcher"),
    createReplyDispatcherWithTyping: pending("channel.reply.createReplyDispatcherWithTyping"),
    dispatchReplyFromConfig: pending("channel.reply.dispatchReplyFromConfig"),
    finalizeInboundContext: channels.finalizeInboundContext,
    formatAgentEnvelope: channels.formatAgentEnvelope,
    formatInboundEnvelope: channels.formatInboundEnvelope,
    resolveEnvelopeFormatOptions: channels.resolveEnvelopeFormatOptions,
    resolveHumanDelayConfig: channels.resolveHumanDelayConfig,
    resolveEffectiveMessagesConfig(cfg, agentId, options = {}) {
      const { responsePrefix } = createReplyPrefixContext({ cfg, agentId, channel: options.channel, accountId: options.accountId });
      const messagePrefix = cfg.messages?.messagePrefix ?? (options.hasAllowFrom === true ? "" : (options.fallbackMessagePrefix ?? "[openclaw]"));
      return { messagePrefix, responsePrefix };
    },
  };
}

function createInbound(pending: PendingMember): Record<string, unknown> {
  return {
    buildContext: pending("channel.inbound.buildContext"),
    run: pending("channel.inbound.run"),
    dispatch: pending("channel.inbound.dispatch"),
    dispatchReply: pending("channel.inbound.dispatchReply"),
    runPreparedReply: pending("channel.inbound.runPreparedReply"),
    ingress: {
      createResolver: pending("channel.inbound.ingress.createResolver"),
      resolve: pending("channel.inbound.ingress.resolve"),
      resolveStable: pending("channel.inbound.ingress.resolveStable"),
    },
  };
}

/** What the parts that newer plugins look for are called. */
export interface NewerChannel {
  readonly inbound: Record<string, unknown>;
  /** Older name of `inbound`. */
  readonly turn: Record<string, unknown>;
  readonly outbound: Record<string, unknown>;
}

export function createChannel(ports: RuntimePorts, pending: PendingMember, owner: RuntimeOwner): RuntimeChannel & NewerChannel {
  const transports = createTransports(pending, owner);
  const inbound = createInbound(pending);
  const parts = lazily<Omit<RuntimeChannel & NewerChannel, keyof typeof transports>>({
    text: () => ({
      chunkText: channels.chunkText,
      chunkMarkdownText: channels.chunkMarkdownText,
      chunkTextWithMode: channels.chunkTextWithMode,
      chunkMarkdownTextWithMode: channels.chunkMarkdownTextWithMode,
      chunkByNewline: channels.chunkByNewline,
      resolveChunkMode: channels.resolveChunkMode,
      resolveTextChunkLimit: channels.resolveTextChunkLimit,
      hasControlCommand: channels.hasControlCommand,
      resolveMarkdownTableMode: channels.resolveMarkdownTableMode,
      convertMarkdownTables: channels.convertMarkdownTables,
    }),
    reply: () => createReply(pending),
    routing: () => ({ resolveAgentRoute: pending("channel.routing.resolveAgentRoute"), buildAgentSessionKey: pending("channel.routing.buildAgentSessionKey") }),
    pairing: () => ({
      buildPairingReply: channels.pairingReply,
      readAllowFromStore: pending("channel.pairing.readAllowFromStore"),
      upsertPairingRequest: pending("channel.pairing.upsertPairingRequest"),
    }),
    media: () => createChannelMedia(ports),
    activity: () => ports.activity,
    session: () => createChannelSession(ports),
    mentions: () => ({
      buildMentionRegexes: channels.buildMentionRegexes,
      matchesMentionPatterns: channels.matchesMentionPatterns,
      matchesMentionWithExplicit: channels.matchesMentionWithExplicit,
    }),
    reactions: () => ({ shouldAckReaction, removeAckReactionAfterReply }),
    groups: () => ({ resolveGroupPolicy: resolveChannelGroupPolicy, resolveRequireMention: resolveChannelGroupRequireMention }),
    debounce: () => ({
      createInboundDebouncer: (options) => channels.createInboundDebouncer(options, ports.clock),
      resolveInboundDebounceMs: channels.resolveInboundDebounceMs,
    }),
    commands: () => ({
      shouldHandleTextCommands: channels.shouldHandleTextCommands,
      shouldComputeCommandAuthorized: channels.shouldComputeCommandAuthorized,
      isControlCommandMessage: channels.isControlCommandMessage,
      resolveCommandAuthorizedFromAuthorizers,
    }),
    inbound: () => inbound,
    turn: () => inbound,
    outbound: () => ({ loadAdapter: pending("channel.outbound.loadAdapter") }),
  });
  return Object.defineProperties(parts as RuntimeChannel & NewerChannel, Object.getOwnPropertyDescriptors(transports));
}

/** Channels that older hosts carried themselves. What is only about configuration is answered here; what needs the platform goes to the channel's plugin. */
type Transports = Pick<RuntimeChannel, "discord" | "slack" | "telegram" | "signal" | "imessage" | "whatsapp" | "line">;

/**
 * All pending members of a channel by their names. A plugin that replaces the channel of its name was made for a host that carried the transport: called by it,
 * these would end up in the plugin again.
 */
function membersOf(channel: keyof Transports, pending: PendingMember, owner: RuntimeOwner): Record<string, unknown> {
  const prefix = `channel.${channel}.`;
  const why = `the plugin "${owner.id}" replaces the bundled ${channel} channel, whose connection it would need. Remove or disable the plugin to use the bundled channel`;
  const refuse = (path: string) => async (): Promise<never> => {
    throw new AppError("UNAVAILABLE", `runtime.${path} is not available: ${why}`, { details: { path, channel } });
  };
  const member = (path: PendingPath): unknown => (owner.id === channel && !ABSENT.includes(path) ? refuse(path) : pending(path));
  return Object.fromEntries(pendingBelow(prefix).map((path) => [path.slice(prefix.length), member(path)]));
}

/** The gateway offers the actions of its channels itself. */
const noActions = (): ChannelMessageActionAdapter => ({ listActions: () => [] });

/** Groups that are answered without a mention, which a bot must be allowed to read. */
function collectUnmentionedGroupIds(groups: Record<string, unknown> | undefined): ReturnType<Transports["telegram"]["collectUnmentionedGroupIds"]> {
  const open = Object.entries(groups ?? {}).filter(([, group]) => {
    return isRecord(group) && group["enabled"] !== false && group["requireMention"] === false;
  });
  const ids = open.map(([id]) => id.trim()).filter((id) => id !== "" && id !== "*");
  const groupIds = ids.filter((id) => /^-?\d+$/.test(id));
  return { groupIds, unresolvedGroups: ids.length - groupIds.length, hasWildcardUnmentionedGroups: open.some(([id]) => id.trim() === "*") };
}

function createTransports(pending: PendingMember, owner: RuntimeOwner): Transports {
  const of = <K extends keyof Transports>(channel: K, own: Partial<Transports[K]> = {}): Transports[K] =>
    ({ ...membersOf(channel, pending, owner), ...own }) as Transports[K];
  return {
    discord: of("discord", { messageActions: noActions() }),
    slack: of("slack"),
    telegram: of("telegram", {
      messageActions: noActions(),
      collectUnmentionedGroupIds,
      resolveTelegramToken(cfg, options) {
        const { token, tokenSource } = resolveTelegramAccount({ cfg: cfg ?? {}, accountId: options?.["accountId"] as string | undefined });
        return { token, source: tokenSource };
      },
    }),
    signal: of("signal", { messageActions: noActions() }),
    imessage: of("imessage"),
    whatsapp: of("whatsapp"),
    line: of("line", { listLineAccountIds, resolveDefaultLineAccountId, resolveLineAccount, normalizeAccountId }),
  };
}
