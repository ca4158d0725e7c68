/** The channel, put together. */
import { type ChannelPlugin, looksLikeSlackTargetId, normalizeSlackMessagingTarget } from "openclaw/plugin-sdk";
import { createWebhooks, fieldsOf, messageOf, realWaiting, requestOutbound, webChannelHead, type WebChannelOptions } from "openclaw/plugin-sdk/channel-kit";
import { accounts, replyModeOf, type SlackAccount } from "./account.ts";
import { createActions } from "./actions.ts";
import { createDirectory, createResolver } from "./directory.ts";
import { startAccount } from "./receive/start.ts";
import { blocksIn } from "./send/blocks.ts";
import { fetchFile, sendMedia } from "./send/media.ts";
import { openPreview, PREVIEW } from "./send/preview.ts";
import { addReaction, removeOwnReactions, removeReaction } from "./send/reactions.ts";
import { channelOf, messageTs, parseTarget } from "./send/target.ts";
import { editPreview, NONCE_WINDOW_MS, sendText } from "./send/text.ts";
import { createParts, type SlackProbe } from "./setup.ts";
import { createWorkspaces, type Workspaces } from "./workspace.ts";

export interface SlackPluginOptions extends WebChannelOptions<"config" | "state"> {
  readonly log?: { info(message: string): void; warn(message: string): void } | undefined;
}

export interface SlackChannel extends ChannelPlugin<SlackAccount, SlackProbe, object>, Disposable {}

const TYPING_REFRESH_MS = 60_000;
const TYPING = "is writing…";

/** Renames a conversation in the configuration, or says what to change. */
function channelMover({ runtime, log }: SlackPluginOptions) {
  return async (account: SlackAccount, from: string, to: string): Promise<void> => {
    if (!Object.hasOwn(account.channels, from)) return;
    const advice = `Slack channel ${from} is now ${to}; rename it in channels.slack.channels`;
    if (!account.configWrites || !runtime?.config.mutateConfigFile) return log?.warn(advice);
    try {
      await runtime.config.mutateConfigFile({ mutate: (draft) => renameChannel(draft, from, to) });
      log?.info(`Slack channel ${from} is now ${to}`);
    } catch (error) {
      log?.warn(`${advice} (the file could not be changed: ${messageOf(error)})`);
    }
  };
}

/** Wherever the conversation has settings: in the channel's section and in those of its accounts. */
function renameChannel(draft: object, from: string, to: string): void {
  const section = fieldsOf(fieldsOf((draft as { channels?: unknown }).channels)?.["slack"]);
  const sections = [section, ...Object.values(fieldsOf(section?.["accounts"]) ?? {}).map(fieldsOf)];
  for (const one of sections) {
    const channels: Record<string, unknown> | undefined = fieldsOf(one?.["channels"]);
    if (!channels || !Object.hasOwn(channels, from)) continue;
    channels[to] ??= channels[from];
    delete channels[from];
  }
}

function outboundOf(workspaces: Workspaces): NonNullable<SlackChannel["outbound"]> {
  return {
    ...requestOutbound((to) => {
      const target = parseTarget(to);
      return target.kind === "slash" ? to : `${target.kind}:${target.id}`;
    }),
    chunkerMode: "rich",
    textChunkLimit: 4000,
    // An edit takes 4,000 characters, and Slack counts those that are escaped.
    measureText: (text) => text.replaceAll("&", "&amp;").replaceAll(/[<>]/g, "&lt;").length,
    captionLimit: 4000,
    // A message that may have arrived is looked for by its metadata.
    nonceWindowMs: NONCE_WINDOW_MS,
    retry: { attempts: 3, minDelayMs: 500, maxDelayMs: 30_000, jitter: 0.1 },
    sendText: async (ctx) => sendText(workspaces.of(ctx.cfg, ctx.accountId), ctx),
    sendMedia: async (ctx) => sendMedia(workspaces.of(ctx.cfg, ctx.accountId), ctx),
    async sendPayload(ctx) {
      const workspace = workspaces.of(ctx.cfg, ctx.accountId);
      const blocks = (mrkdwn: string): readonly unknown[] | undefined => blocksIn(ctx.payload.channelData, mrkdwn);
      const mediaUrl = ctx.mediaUrl ?? ctx.payload.mediaUrl ?? ctx.payload.mediaUrls?.[0];
      return mediaUrl === undefined ? sendText(workspace, ctx, blocks) : sendMedia(workspace, { ...ctx, mediaUrl }, blocks);
    },
    editPreview: async (ctx) => editPreview(workspaces.of(ctx.cfg, ctx.accountId), ctx, (mrkdwn) => blocksIn(ctx.payload.channelData, mrkdwn)),
    async checkSend({ cfg, accountId, signal }) {
      await workspaces.of(cfg, accountId).api.call("auth.test", {}, { signal, timeoutMs: 10_000 });
    },
  };
}

/** What happens around messages: files, typing, previews, reactions, commands. */
function aroundMessages(workspaces: Workspaces): Pick<SlackChannel, "media" | "typing" | "preview" | "reactions" | "nativeCommands"> {
  /** Accounts whose app has no assistant: they show nothing while they write. */
  const withoutStatus = new Set<string>();
  async function setStatus(
    to: string,
    threadId: string | number | undefined,
    status: string,
    workspace: ReturnType<Workspaces["of"]>,
    signal?: AbortSignal,
  ): Promise<void> {
    const thread = messageTs(threadId);
    if (thread === undefined || parseTarget(to).kind === "slash" || withoutStatus.has(workspace.account.accountId)) return;
    const channel = await channelOf(workspace, to, signal);
    await workspace.api.call("assistant.threads.setStatus", { channel_id: channel, thread_ts: thread, status }, { signal, timeoutMs: 5000 }).catch(() => {
      withoutStatus.add(workspace.account.accountId);
    });
  }
  return {
    media: { fetch: async ({ cfg, accountId, ref, maxBytes, signal }) => fetchFile(workspaces.of(cfg, accountId), ref, maxBytes, signal) },
    typing: {
      refreshMs: TYPING_REFRESH_MS,
      start: async ({ cfg, accountId, to, threadId, signal }) => setStatus(to, threadId, TYPING, workspaces.of(cfg, accountId), signal),
      stop: async ({ cfg, accountId, to, threadId }) => setStatus(to, threadId, "", workspaces.of(cfg, accountId)),
    },
    preview: {
      ...PREVIEW,
      open: ({ cfg, accountId, to, threadId, replyToId, previewId, signal }) =>
        openPreview(workspaces.of(cfg, accountId), { to, threadId, replyToId, previewId }, signal),
    },
    reactions: {
      async set({ cfg, accountId, to, messageId, emoji, signal }) {
        const workspace = workspaces.of(cfg, accountId);
        const ts = messageTs(messageId);
        // What has no id of a message, such as a command, takes no reaction.
        if (ts === undefined || parseTarget(to).kind === "slash") return;
        const channel = await channelOf(workspace, to, signal);
        if (emoji !== "") return addReaction(workspace, channel, ts, emoji, signal);
        const ours = workspace.ownReactions.get(`${channel}/${ts}`);
        if (ours === undefined) await removeOwnReactions(workspace, channel, ts, signal);
        else await removeReaction(workspace, channel, ts, ours, signal);
      },
    },
    nativeCommands: {
      // People register commands in the app themselves: what is offered here is what is answered.
      async register({ cfg, accountId, commands }) {
        workspaces.of(cfg, accountId).commands = new Set(commands.map(({ name }) => name.toLowerCase()));
      },
    },
  };
}

/** Names, targets and hints. */
function conventions(workspaces: Workspaces): Pick<SlackChannel, "mentions" | "threading" | "messaging" | "agentPrompt"> {
  return {
    mentions: {
      stripPatterns: ({ ctx, cfg }) => {
        const id = cfg && workspaces.of(cfg, ctx.AccountId).known?.userId;
        return id ? [`<@${id}(?:\\|[^>]*)?>[:,]?`] : [];
      },
    },
    threading: {
      resolveReplyToMode: ({ cfg, accountId, chatType }) => replyModeOf(accounts.read(cfg, accountId), chatType),
      allowExplicitReplyTagsWhenOff: true,
      buildToolContext: ({ cfg, accountId, context, hasRepliedRef }) => ({
        currentChannelId: context.To,
        currentThreadTs: context.MessageThreadId === undefined ? undefined : String(context.MessageThreadId),
        replyToMode: context.MessageThreadId === undefined ? replyModeOf(accounts.read(cfg, accountId), context.ChatType) : "all",
        hasRepliedRef,
      }),
    },
    messaging: {
      normalizeTarget: (raw) => (raw.trim().toLowerCase().startsWith("slash:") ? raw.trim() : normalizeSlackMessagingTarget(raw)),
      targetResolver: { looksLikeId: (raw) => /^slash:/i.test(raw.trim()) || looksLikeSlackTargetId(raw), hint: "channel:<id> or user:<id>" },
    },
    agentPrompt: {
      messageToolHints: () => [
        "On Slack a message's id is its ts, such as 1699999999.000100. People are mentioned as <@U…>, channels as <#C…>; @channel, @here and @everyone cannot be sent.",
        "Emoji in reactions are written by name, such as thumbsup.",
      ],
    },
  };
}

/** Slack as a channel. */
export function createSlackPlugin(options: SlackPluginOptions = {}): SlackChannel {
  const waiting = options.waiting ?? realWaiting;
  const { apiRoot, transport } = options;
  const openStore = (namespace: string) => options.runtime?.state.openKeyedStore?.({ namespace });
  const workspaces = createWorkspaces({ apiRoot, transport, waiting, openStore });
  const webhooks = createWebhooks();
  const { parts, onboarding } = createParts({ apiRoot, transport, now: waiting.now }, () => workspaces);
  const moved = channelMover(options);
  return {
    ...webChannelHead("slack", { blockStreaming: true }),
    streaming: { blockStreamingCoalesceDefaults: { minChars: 1500, idleMs: 1000 } },
    ...parts,
    onboarding,
    outbound: outboundOf(workspaces),
    gateway: {
      startAccount: async (ctx) => startAccount(ctx, { workspace: workspaces.for(ctx.account), webhooks, openStore, moved }),
    },
    actions: createActions(workspaces),
    directory: createDirectory(workspaces),
    resolver: createResolver(workspaces),
    ...aroundMessages(workspaces),
    ...conventions(workspaces),
    [Symbol.dispose]: () => workspaces[Symbol.dispose](),
  };
}
