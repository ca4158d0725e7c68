/** The channel, put together. */
import {
  type ChannelPlugin,
  looksLikeTelegramTargetId,
  normalizeTelegramMessagingTarget,
  PAIRING_APPROVED_MESSAGE,
  type ReplyPayload,
  type TelegramProbe,
} from "openclaw/plugin-sdk";
import {
  createChannelParts,
  createOnboarding,
  fieldsOf,
  keyedCursorStore,
  messageOf,
  realWaiting,
  requestOutbound,
  type Waiting,
  webChannelHead,
  type WebChannelOptions,
  wholeOf,
} from "openclaw/plugin-sdk/channel-kit";
import { createSettings, type TelegramAccount } from "./account.ts";
import { type Accounts, createAccounts } from "./accounts.ts";
import { createActions, isOn } from "./actions.ts";
import { registerCommands } from "./commands.ts";
import { createDirectory, createResolver } from "./directory.ts";
import { createRecords, type Records } from "./records.ts";
import { OFFSET_LIFETIME_MS, runAccount } from "./receive/start.ts";
import { keyboardOf } from "./send/buttons.ts";
import { fetchFile, sendMedia } from "./send/media.ts";
import { MAX_POLL_OPTIONS, sendPoll } from "./send/poll.ts";
import { inBlocks, openPreview, PREVIEW } from "./send/preview.ts";
import { isDirect, messageId, parseTarget, type Sender } from "./send/sender.ts";
import { checkSend, editPreview, sendText } from "./send/text.ts";
import { validateInput, withMovedGroup, withoutToken } from "./setup.ts";
import { describeChannel, withAudit } from "./status.ts";

export interface TelegramPluginOptions extends WebChannelOptions<"config" | "state"> {
  /** How long a question for updates stays open. */
  readonly pollSeconds?: number | undefined;
  readonly log?: { info(message: string): void; warn(message: string): void } | undefined;
}

export interface TelegramChannel extends ChannelPlugin<TelegramAccount, TelegramProbe, object>, Disposable {}

const TYPING_REFRESH_MS = 4500;

/** Writes the group's new id into the configuration, or says what to change. */
function groupMover({ runtime, log }: TelegramPluginOptions) {
  return async (account: TelegramAccount, from: string, to: string): Promise<void> => {
    const advice = `Telegram group ${from} is now ${to}; rename it in channels.telegram.groups`;
    if (!account.configWrites || !runtime?.config.mutateConfigFile) return log?.warn(advice);
    try {
      await runtime.config.mutateConfigFile({ mutate: (draft) => withMovedGroup(draft, from, to) });
      log?.info(`Telegram group ${from} is now ${to}`);
    } catch (error) {
      log?.warn(`${advice} (the file could not be changed: ${messageOf(error)})`);
    }
  };
}

/** Takes the account's token out of the configuration. One from the environment stays there. */
async function forget({ tokenSource }: TelegramAccount, accountId: string, { runtime }: TelegramPluginOptions) {
  const isThere = tokenSource === "config" || tokenSource === "tokenFile";
  if (isThere) await runtime?.config.mutateConfigFile?.({ mutate: (draft) => withoutToken(draft, accountId) });
  const cleared = isThere && runtime?.config.mutateConfigFile !== undefined;
  return { cleared, loggedOut: cleared, envToken: tokenSource === "env" };
}

function keyboardFor(sender: Sender, { to, payload }: { readonly to: string; readonly payload: ReplyPayload }) {
  return keyboardOf(fieldsOf(payload.channelData?.["telegram"])?.["buttons"], sender.account.buttons, isDirect(parseTarget(to)));
}

function outboundOf(accounts: Accounts, records: Records): NonNullable<TelegramChannel["outbound"]> {
  return {
    ...requestOutbound((to) => {
      const { chatId, threadId } = parseTarget(to);
      return `telegram:${chatId}${threadId === undefined ? "" : `:topic:${threadId}`}`;
    }),
    chunkerMode: "rich",
    textChunkLimit: 4000,
    pollMaxOptions: MAX_POLL_OPTIONS,
    retry: { attempts: 3, minDelayMs: 400, maxDelayMs: 30_000, jitter: 0.1 },
    albums: { most: 10 },
    sendText: async (ctx) => sendText(accounts.sender(ctx.cfg, ctx.accountId), ctx),
    sendMedia: async (ctx) => sendMedia(accounts.sender(ctx.cfg, ctx.accountId), ctx),
    async sendPayload(ctx) {
      const sender = accounts.sender(ctx.cfg, ctx.accountId);
      const keyboard = keyboardFor(sender, ctx);
      const mediaUrl = ctx.mediaUrl ?? ctx.payload.mediaUrl ?? ctx.payload.mediaUrls?.[0];
      return mediaUrl === undefined ? sendText(sender, ctx, keyboard) : sendMedia(sender, { ...ctx, mediaUrl }, keyboard);
    },
    async sendPoll(ctx) {
      const sender = accounts.sender(ctx.cfg, ctx.accountId);
      const sent = await sendPoll(sender, ctx);
      if (sent.pollId !== undefined) records.pollSent(sender.account.accountId, sent.pollId, ctx);
      return sent;
    },
    async editPreview(ctx) {
      const sender = accounts.sender(ctx.cfg, ctx.accountId);
      return editPreview(sender, ctx, keyboardFor(sender, ctx));
    },
    checkSend: async ({ cfg, accountId, to, signal }) => checkSend(accounts.sender(cfg, accountId), to, signal),
  };
}

function gatewayOf(accounts: Accounts, records: Records, options: TelegramPluginOptions): NonNullable<TelegramChannel["gateway"]> {
  const waiting = options.waiting ?? realWaiting;
  return {
    async startAccount(ctx) {
      const { account, accountId } = ctx;
      const client = accounts.client(account);
      await runAccount(ctx, {
        client,
        offsets: keyedCursorStore(
          () => options.runtime?.state.openKeyedStore?.({ namespace: "update-offsets" }),
          `${accountId}:${client.botId ?? ""}`,
          wholeOf,
          {
            ttlMs: OFFSET_LIFETIME_MS,
          },
        ),
        waiting,
        known: (self) => accounts.known(accountId, self),
        records,
        isOurs: (chatId, id) => accounts.isOurs(accountId, chatId, id),
        offers: (command) => accounts.offers(accountId, command),
        migrated: (from, to) => accounts.migrated(account, from, to),
        pollSeconds: options.pollSeconds,
      });
    },
    logoutAccount: async ({ account, accountId }) => forget(account, accountId, options),
  };
}

/** What happens around messages: files, typing, previews, reactions, the menu. */
function aroundMessages(accounts: Accounts, waiting: Waiting): Pick<TelegramChannel, "media" | "typing" | "preview" | "reactions" | "nativeCommands"> {
  return {
    media: {
      fetch: async ({ cfg, accountId, ref, maxBytes, signal }) => fetchFile(accounts.sender(cfg, accountId).client, ref, maxBytes, signal),
    },
    typing: {
      refreshMs: TYPING_REFRESH_MS,
      async start({ cfg, accountId, to, threadId, signal }) {
        const sender = accounts.sender(cfg, accountId);
        const target = parseTarget(to, threadId);
        // General is named here, unlike where something is sent.
        const thread = target.threadId === undefined ? {} : { message_thread_id: target.threadId };
        await sender.client.call("sendChatAction", { chat_id: sender.currentId(target.chatId), action: "typing", ...thread }, { signal, timeoutMs: 10_000 });
      },
    },
    preview: {
      ...PREVIEW,
      open({ cfg, accountId, to, threadId, replyToId, previewId, signal }) {
        const sender = accounts.sender(cfg, accountId);
        if (sender.account.streamMode === "off") return undefined;
        const preview = openPreview({ sender, now: waiting.now }, { to, threadId, replyToId, previewId }, signal);
        return sender.account.streamMode === "block" ? inBlocks(preview, sender.account.draftChunk) : preview;
      },
    },
    reactions: {
      async set({ cfg, accountId, to, messageId: id, emoji, signal }) {
        const sender = accounts.sender(cfg, accountId);
        const message = messageId(id);
        // What has no number, such as a pressed button, takes no reaction.
        if (message === undefined || (emoji !== "" && sender.account.reactionLevel === "off")) return;
        const reaction = emoji === "" ? [] : [{ type: "emoji" as const, emoji: emoji as never }];
        await sender.client.call("setMessageReaction", { chat_id: sender.currentId(parseTarget(to).chatId), message_id: message, reaction }, { signal });
      },
    },
    nativeCommands: {
      async register({ cfg, accountId, commands, signal }) {
        const { account, client } = accounts.sender(cfg, accountId);
        accounts.menu(account.accountId, await registerCommands(client, commands, account.customCommands, signal));
      },
    },
  };
}

/** Names, targets and hints. */
function conventions(accounts: Accounts): Pick<TelegramChannel, "mentions" | "threading" | "messaging" | "agentPrompt"> {
  return {
    mentions: {
      stripPatterns: ({ ctx }) => accounts.mentionPatterns(ctx.AccountId ?? "default"),
    },
    threading: {
      resolveReplyToMode: ({ cfg, accountId }) => accounts.account(cfg, accountId).replyToMode,
      allowExplicitReplyTagsWhenOff: true,
      buildToolContext: ({ context, hasRepliedRef }) => ({
        currentChannelId: context.To,
        currentThreadTs: context.MessageThreadId === undefined ? undefined : String(context.MessageThreadId),
        hasRepliedRef,
      }),
    },
    messaging: {
      normalizeTarget: normalizeTelegramMessagingTarget,
      targetResolver: { looksLikeId: (raw) => looksLikeTelegramTargetId(raw), hint: "<chatId>, @name or <chatId>:topic:<topicId>" },
    },
    agentPrompt: {
      messageToolHints({ cfg, accountId }) {
        const { buttons } = accounts.account(cfg, accountId);
        if (buttons === "dm") return ["On Telegram buttons can be sent to direct chats only."];
        return buttons === "group" ? ["On Telegram buttons can be sent to groups only."] : [];
      },
      reactionGuidance({ cfg, accountId }) {
        const account = accounts.account(cfg, accountId);
        const { reactionLevel: level } = account;
        return (level === "minimal" || level === "extensive") && isOn(account, "react") ? { level } : undefined;
      },
    },
  };
}

/** Telegram as a channel. */
export function createTelegramPlugin(options: TelegramPluginOptions = {}): TelegramChannel {
  const settings = createSettings();
  const accounts = createAccounts({
    settings,
    apiRoot: options.apiRoot,
    transport: options.transport,
    now: options.waiting?.now,
    moveGroup: groupMover(options),
  });
  const records = createRecords(options);
  const described = describeChannel(settings, accounts.client);
  const made = createChannelParts({
    ...described,
    async notifyApproval({ cfg, id }) {
      await sendText(accounts.sender(cfg), { to: id, text: PAIRING_APPROVED_MESSAGE });
    },
  });
  return {
    ...webChannelHead("telegram", { polls: true, blockStreaming: true }),
    ...made,
    setup: { ...made.setup, validateInput },
    onboarding: createOnboarding(described),
    status: withAudit(made.status, accounts.client),
    outbound: outboundOf(accounts, records),
    gateway: gatewayOf(accounts, records, options),
    actions: createActions(accounts, records),
    directory: createDirectory(accounts, records),
    resolver: createResolver(accounts, records),
    ...aroundMessages(accounts, options.waiting ?? realWaiting),
    ...conventions(accounts),
    [Symbol.dispose]: () => accounts[Symbol.dispose](),
  };
}
