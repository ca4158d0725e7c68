/** Sending on request: what clients, the command line and the `message` tool ask for. */
import { withAccountKeys } from "../../base/account-keys.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import type {
  ChannelMessageActionName,
  ChannelOutboundTargetMode,
  ChannelPlugin,
  ChannelThreadingToolContext,
  HostConfig,
  PollInput,
} from "../../protocol/index.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { ReplyAddress } from "../address.ts";
import type { Delivery, SendReport } from "./delivery.ts";
import { resolveAddress, resolveChannel, type SendingChannels } from "./targets.ts";

interface Asked {
  readonly channel?: string;
  readonly accountId?: string;
  readonly to: string;
  readonly threadId?: string | number;
  readonly silent?: boolean;
  readonly mode?: ChannelOutboundTargetMode;
  /** Into whose transcript it goes as well. */
  readonly sessionKey?: string;
  readonly agentId?: string;
  readonly runId?: string;
  readonly idempotencyKey?: string;
  /** Says what would happen, and does nothing. */
  readonly dryRun?: boolean;
}

export interface SendRequest extends Asked {
  readonly text?: string;
  readonly mediaUrls?: readonly string[];
  readonly replyToId?: string;
  readonly gifPlayback?: boolean;
  readonly asVoice?: boolean;
  readonly channelData?: Record<string, unknown>;
}

export interface PollRequest extends Asked {
  readonly poll: PollInput & { readonly isAnonymous?: boolean };
}

/** The chat that a turn answers. */
export interface ActionChat {
  readonly channel: string;
  readonly accountId: string;
  readonly to: string;
  readonly threadId?: string | number;
  readonly messageId?: string;
}

export interface ActionRequest {
  readonly action: string;
  readonly channel?: string;
  readonly accountId?: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** From the message that is answered, never from the model. */
  readonly requesterSenderId?: string;
  /** Folders that local files may be read from. */
  readonly mediaLocalRoots?: readonly string[];
  /** The conversation that the action is asked for in; its channel's plugin makes a context of it. */
  readonly current?: ActionChat;
  readonly dryRun?: boolean;
}

/** What became of it, with where it went. */
export interface SentMessage extends SendReport {
  readonly channel: string;
  readonly accountId: string;
  readonly to: string;
  readonly dryRun?: boolean;
}

export interface Messages {
  /** Resolves when it has an end, or after a while with how it stands. Throws `INVALID_INPUT` for what cannot be sent. */
  send(request: SendRequest): Promise<SentMessage>;
  poll(request: PollRequest): Promise<SentMessage>;
  /** Everything else a channel can do. */
  action(request: ActionRequest): Promise<unknown>;
  /** Which actions a channel knows; of all channels when none is named. */
  actions(channel?: string): readonly ChannelMessageActionName[];
  /** Whether a channel, or any, takes cards. */
  cards(channel?: string): boolean;
}

/** A message that was sent on request, for the transcript of the session that its chat belongs to. */
export interface MirroredMessage {
  readonly address: ReplyAddress;
  readonly text: string;
  readonly mediaUrls: readonly string[];
  readonly sessionKey?: string;
  readonly agentId?: string;
  readonly idempotencyKey?: string;
}

export interface MessagesDeps {
  readonly delivery: Pick<Delivery, "send">;
  readonly channels: SendingChannels;
  readonly config: () => HostConfig;
  readonly log: Logger;
  readonly mirror?: (message: MirroredMessage) => Promise<void>;
  /** How long a request waits for its messages. */
  readonly waitMs?: number;
}

const invalid = (text: string): AppError => new AppError("INVALID_INPUT", text);

const trimmed = (urls: readonly string[] | undefined): string[] => (urls ?? []).map((url) => url.trim()).filter((url) => url !== "");

/** Where the agent is, in the channel's own terms where its plugin has some. */
function toolContextOf({ id, threading }: ChannelPlugin, { accountId, to, threadId, messageId }: ActionChat, cfg: HostConfig): ChannelThreadingToolContext {
  const plain = { currentChannelId: to, currentChannelProvider: id, ...(threadId === undefined ? {} : { currentThreadTs: String(threadId) }) };
  const context = {
    Channel: id,
    To: to,
    ...(threadId === undefined ? {} : { MessageThreadId: threadId }),
    ...(messageId === undefined ? {} : { ReplyToId: messageId }),
  };
  return { ...plain, ...threading?.buildToolContext?.({ cfg, accountId, context, hasRepliedRef: { value: false } }) };
}

/** What a newer plugin says about the message tool in one answer. */
interface DescribedTool {
  readonly actions?: readonly ChannelMessageActionName[];
  readonly capabilities?: readonly string[];
}

const described = (plugin: ChannelPlugin, cfg: HostConfig): DescribedTool | undefined =>
  (plugin.actions?.describeMessageTool?.({ cfg }) as DescribedTool | null | undefined) ?? undefined;

/** Actions that a channel offers. */
function offeredActions(plugin: ChannelPlugin, cfg: HostConfig): readonly ChannelMessageActionName[] {
  return plugin.actions?.listActions?.({ cfg }) ?? described(plugin, cfg)?.actions ?? [];
}

const hasCards = (plugin: ChannelPlugin, cfg: HostConfig): boolean =>
  plugin.actions?.supportsCards?.({ cfg }) ?? described(plugin, cfg)?.capabilities?.includes("cards") ?? false;

/** Everything that is not a message. */
async function act(
  { action, channel, accountId, params, requesterSenderId, mediaLocalRoots, current, dryRun }: ActionRequest,
  { channels, config }: Pick<MessagesDeps, "channels" | "config">,
): Promise<unknown> {
  const cfg = config();
  const plugin = resolveChannel(channel, channels, cfg);
  const adapter = plugin.actions;
  const name = action as ChannelMessageActionName;
  const offered = offeredActions(plugin, cfg);
  const supported = adapter?.supportsAction?.({ action: name }) ?? offered.includes(name);
  if (!adapter?.handleAction || !supported) {
    throw invalid(`${plugin.id} cannot ${action}; it can: ${["send", ...offered.filter((one) => one !== "send")].join(", ")}`);
  }
  // A channel may have names of its own for where something goes.
  const named = typeof params["to"] === "string" ? { to: params["to"], accountId } : (adapter.extractToolSend?.({ args: { ...params, action } }) ?? undefined);
  const from = named?.accountId ?? accountId;
  const target = named && resolveAddress({ channel: plugin.id, to: named.to, ...(from === undefined ? {} : { accountId: from }) }, channels, cfg);
  const account = target?.accountId ?? accountId;
  if (dryRun) return { ok: true, dryRun: true, channel: plugin.id, action, ...(target ? { to: target.to } : {}) };
  const work = adapter.handleAction({
    channel: plugin.id,
    action: name,
    cfg,
    params: { ...params, ...(target ? { to: target.to } : {}) },
    accountId: account,
    ...(requesterSenderId === undefined ? {} : { requesterSenderId }),
    ...(mediaLocalRoots === undefined ? {} : { mediaLocalRoots }),
    ...(current?.channel === plugin.id ? { toolContext: toolContextOf(plugin, current, cfg) } : {}),
  });
  const done = await work.catch((error: unknown) => {
    if (error instanceof Error && account !== undefined) error.message = withAccountKeys(error.message, { channel: plugin.id, accountId: account });
    throw error;
  });
  return done.details ?? { ok: true, content: done.content };
}

export function createMessages(deps: MessagesDeps): Messages {
  const { delivery, channels, config, waitMs } = deps;

  function addressOf(request: Asked, replyToId?: string) {
    const { plugin, channel, accountId, to } = resolveAddress(request, channels, config());
    if (!plugin.outbound) throw invalid(`${channel} cannot send messages`);
    const address: ReplyAddress = {
      channel,
      accountId,
      to,
      chatType: "direct",
      ...(request.threadId === undefined || request.threadId === "" ? {} : { threadId: request.threadId }),
      ...(replyToId === undefined || replyToId === "" ? {} : { replyToId }),
    };
    return { plugin, address };
  }

  const factsOf = (request: Asked) => ({
    kind: "send" as const,
    ...(request.sessionKey === undefined ? {} : { sessionKey: request.sessionKey }),
    ...(request.agentId === undefined ? {} : { agentId: request.agentId }),
    ...(request.runId === undefined ? {} : { runId: request.runId }),
    ...(request.idempotencyKey === undefined ? {} : { idempotencyKey: request.idempotencyKey }),
    ...(request.silent ? { silent: true } : {}),
  });

  const sentMessage = ({ channel, accountId, to }: ReplyAddress, report: SendReport): SentMessage => ({ ...report, channel, accountId, to });
  const planned = (address: ReplyAddress): SentMessage => ({ ...sentMessage(address, { state: "pending", messageIds: [], rowIds: [] }), dryRun: true });

  async function mirror(message: MirroredMessage): Promise<void> {
    // It is out: a transcript that cannot be written does not make it unsent.
    await deps.mirror?.(message).catch((error: unknown) => deps.log.error(`a sent message could not be added to its transcript: ${messageOf(error)}`));
  }

  return {
    async send(request) {
      const mediaUrls = trimmed(request.mediaUrls);
      const text = request.text ?? "";
      if (text.trim() === "" && mediaUrls.length === 0 && !request.channelData) throw invalid("a message needs a text or a file");
      const { address } = addressOf(request, request.replyToId);
      if (request.dryRun) return planned(address);
      const payload = {
        text,
        ...(mediaUrls.length > 0 ? { mediaUrls } : {}),
        ...(request.asVoice ? { audioAsVoice: true } : {}),
        ...(request.channelData ? { channelData: request.channelData } : {}),
      };
      const report = await delivery.send(address, [payload], { ...factsOf(request), ...(request.gifPlayback ? { gifPlayback: true } : {}) }, waitMs);
      const { sessionKey, agentId, idempotencyKey } = request;
      const mine = { ...(sessionKey === undefined ? {} : { sessionKey }), ...(agentId === undefined ? {} : { agentId }) };
      if (report.state === "sent") await mirror({ address, text, mediaUrls, ...mine, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) });
      return sentMessage(address, report);
    },
    async poll(request) {
      const { plugin, address } = addressOf(request);
      const { poll } = request;
      const most = plugin.outbound?.pollMaxOptions;
      if (!plugin.outbound?.sendPoll) throw invalid(`${address.channel} does not support polls`);
      if (poll.options.length < 2) throw invalid(`a poll needs at least 2 options, not ${poll.options.length}`);
      if (most !== undefined && poll.options.length > most)
        throw invalid(`a poll on ${address.channel} has at most ${most} options, not ${poll.options.length}`);
      if ((poll.maxSelections ?? 1) > poll.options.length)
        throw invalid(`maxSelections is ${poll.maxSelections}, but there are ${poll.options.length} options`);
      if (request.dryRun) return planned(address);
      return sentMessage(address, await delivery.send(address, [], { ...factsOf(request), poll }, waitMs));
    },
    action: (request) => act(request, deps),
    actions(channel) {
      const cfg = config();
      const asked = channel === undefined ? channels.list() : [channels.get(channel)].filter((plugin) => plugin !== undefined);
      return [...new Set(asked.flatMap((plugin) => [...(plugin.outbound?.sendPoll ? (["poll"] as const) : []), ...offeredActions(plugin, cfg)]))];
    },
    cards(channel) {
      const asked = channel === undefined ? channels.list() : [channels.get(channel)].filter((plugin) => plugin !== undefined);
      return asked.some((plugin) => hasCards(plugin, config()));
    },
  };
}
