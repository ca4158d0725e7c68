/** The channel, put together. */
import { type ChannelPlugin, looksLikeDiscordTargetId, normalizeDiscordMessagingTarget, PAIRING_APPROVED_MESSAGE } from "openclaw/plugin-sdk";
import {
  asChannelError,
  createChannelParts,
  createOnboarding,
  equalSecrets,
  fieldsOf,
  keyedCursorStore,
  listOf,
  realWaiting,
  requestOutbound,
  silentLog,
  textOf,
  type Waiting,
  voiceNotePrograms,
  webChannelHead,
  type WebChannelOptions,
} from "openclaw/plugin-sdk/channel-kit";
import { convertMarkdownTables } from "openclaw/plugin-sdk/text-chunking";
import { bareId, createReader, CREDENTIALS, type DiscordAccount, inexactIds, isName, layersOf } from "./account.ts";
import { type Accounts, createAccounts, notice } from "./accounts.ts";
import { createActions } from "./actions/index.ts";
import { completions, registerCommands } from "./commands.ts";
import { createDirectory, createResolver } from "./directory.ts";
import { positionOf, runAccount } from "./gateway/run.ts";
import { createPluralKit } from "./inbound/pluralkit.ts";
import { createAnswers } from "./interactions.ts";
import { chunk } from "./send/chunk.ts";
import { componentsOf } from "./send/components.ts";
import { fetchFile, sendMedia } from "./send/media.ts";
import { channelOf, dataOf, parseTarget } from "./send/sender.ts";
import { editPreview, MAX_POLL_OPTIONS, MAX_TEXT, NONCE_MS, openPreview, PREVIEW, sendPoll, sendText } from "./send/text.ts";
import { guildKeyOf, type Servers } from "./servers.ts";
import { audit, type DiscordProbe, ownIssues, probe } from "./status.ts";

export interface DiscordPluginOptions extends WebChannelOptions {
  readonly pluralkitRoot?: string | undefined;
  readonly env?: ((name: string) => string | undefined) | undefined;
}

export interface DiscordChannel extends ChannelPlugin<DiscordAccount, DiscordProbe, object>, Disposable {}

const TYPING_REFRESH_MS = 8000;
const MAX_DIRECTS = 200;
const POSITION_MS = 7 * 24 * 3_600_000;

function outboundOf(accounts: Accounts): NonNullable<DiscordChannel["outbound"]> {
  return {
    ...requestOutbound((to) => {
      const { kind, id } = parseTarget(to);
      return `${kind}:${id}`;
    }),
    chunker(text, limit, target) {
      const account = target && accounts.account(target.cfg, target.accountId);
      const whole = account ? convertMarkdownTables(text, account.tables) : text;
      return chunk(whole, Math.min(limit, MAX_TEXT), account?.maxLines ?? Number.POSITIVE_INFINITY);
    },
    textChunkLimit: MAX_TEXT,
    captionLimit: MAX_TEXT,
    pollMaxOptions: MAX_POLL_OPTIONS,
    nonceWindowMs: NONCE_MS,
    retry: { attempts: 3, minDelayMs: 500, maxDelayMs: 30_000, jitter: 0.1 },
    sendText: async (ctx) => sendText(accounts.sender(ctx.cfg, ctx.accountId), ctx),
    sendMedia: async (ctx) => sendMedia(accounts.sender(ctx.cfg, ctx.accountId), ctx),
    async sendPayload(ctx) {
      const sender = accounts.sender(ctx.cfg, ctx.accountId);
      const data = dataOf(ctx.payload);
      const components = componentsOf(data);
      const embeds = listOf(data?.["embeds"]);
      const more = embeds.length > 0 ? { embeds: embeds.slice(0, 10) } : undefined;
      const mediaUrl = ctx.mediaUrl ?? ctx.payload.mediaUrl ?? ctx.payload.mediaUrls?.[0];
      return mediaUrl === undefined ? sendText(sender, ctx, components, more) : sendMedia(sender, { ...ctx, mediaUrl }, components, more);
    },
    sendPoll: async (ctx) => sendPoll(accounts.sender(ctx.cfg, ctx.accountId), ctx),
    editPreview: async (ctx) => editPreview(accounts.sender(ctx.cfg, ctx.accountId), ctx, componentsOf(dataOf(ctx.payload))),
    async checkSend({ cfg, accountId, to, signal }) {
      const sender = accounts.sender(cfg, accountId);
      try {
        await sender.rest.call("GET", `/channels/${await channelOf(sender, to, undefined, signal)}`, { signal, timeoutMs: 10_000 });
      } catch (error) {
        // A refusal is an answer: the API works.
        if (asChannelError(error)?.delivery.state !== "failed") throw error;
      }
    },
  };
}

/** DM channels, newest first, kept for the process after this one. */
function directsOf(options: DiscordPluginOptions, accountId: string, byPerson: Map<string, string>) {
  const open = () => options.runtime?.state.openKeyedStore?.({ namespace: "direct-channels" });
  let ids: string[] = [];
  return {
    async load(): Promise<void> {
      ids = listOf(await open()?.lookup(accountId)).filter((id) => typeof id === "string");
    },
    list: (): readonly string[] => ids,
    seen(channelId: string, userId: string): void {
      byPerson.set(userId, channelId);
      if (ids.includes(channelId)) return;
      ids = [channelId, ...ids].slice(0, MAX_DIRECTS);
      void open()?.register(accountId, ids);
    },
  };
}

function gatewayOf(accounts: Accounts, options: DiscordPluginOptions): NonNullable<DiscordChannel["gateway"]> {
  const waiting = options.waiting ?? realWaiting;
  return {
    async startAccount(ctx) {
      const { account, accountId, abortSignal } = ctx;
      const log = ctx.log ?? silentLog;
      const state = accounts.of(accountId);
      const rest = accounts.rest(account);
      const store = options.runtime?.state.openKeyedStore?.({ namespace: "interactions" });
      const answers = createAnswers({ rest, waiting, log, store, accountId, signal: abortSignal });
      const directs = directsOf(options, accountId, state.directs);
      await directs.load();
      state.answers = answers;
      const [bot = ""] = account.token.split(".", 1);
      const twin = accounts.list(ctx.cfg).find((other) => other.accountId !== accountId && other.enabled && equalSecrets(other.token, account.token));
      if (twin) log.warn(`account "${twin.accountId}" has the same bot token: each message is answered twice. Use another bot for one of them, or turn it off`);
      const openPositions = () => options.runtime?.state.openKeyedStore?.({ namespace: "sessions" });
      try {
        await runAccount(ctx, {
          rest,
          waiting,
          store: keyedCursorStore(openPositions, `${accountId}:${bot}`, positionOf, { ttlMs: POSITION_MS }),
          answers,
          pluralkit: account.pluralkit && createPluralKit({ token: account.pluralkit.token, apiRoot: options.pluralkitRoot, log }),
          directs,
          servers: state.servers,
          known: ({ id }) => (state.botId = id),
          live: (line) => (state.line = line),
          isOurs: (messageId) => state.ours.has(messageId),
          complete: (command, typed) => completions(state.commands, command, typed),
          noticed: (messageId, text) => notice(state.texts, messageId, text),
        });
      } finally {
        state.answers = undefined;
      }
    },
  };
}

/** What happens around messages: files, typing, previews, reactions, the menu. */
function aroundMessages(accounts: Accounts, waiting: Waiting): Pick<DiscordChannel, "media" | "typing" | "preview" | "reactions" | "nativeCommands"> {
  return {
    media: {
      fetch: async ({ cfg, accountId, ref, maxBytes, signal }) => {
        const sender = accounts.sender(cfg, accountId);
        return fetchFile(sender, ref, Math.min(maxBytes, sender.account.mediaMaxBytes), signal);
      },
    },
    typing: {
      refreshMs: TYPING_REFRESH_MS,
      async start({ cfg, accountId, to, threadId, signal }) {
        const sender = accounts.sender(cfg, accountId);
        await sender.rest.call("POST", `/channels/${await channelOf(sender, to, threadId, signal)}/typing`, { signal, timeoutMs: 10_000 });
      },
    },
    preview: {
      ...PREVIEW,
      open({ cfg, accountId, to, threadId, replyToId, previewId, signal }) {
        const sender = accounts.sender(cfg, accountId);
        return sender.account.streaming === "off" ? undefined : openPreview(sender, waiting, { to, threadId, replyToId, previewId }, signal);
      },
    },
    reactions: {
      async set({ cfg, accountId, to, messageId, emoji, signal }) {
        if (!/^\d+$/.test(messageId)) return;
        const sender = accounts.sender(cfg, accountId);
        // A command has no message that could be reacted to.
        if (sender.answers?.pending(messageId)) return;
        const { setReaction } = await import("./actions/messages.ts");
        await setReaction(sender, await channelOf(sender, to, undefined, signal), messageId, emoji, signal);
      },
    },
    nativeCommands: {
      async register({ cfg, accountId, commands, signal }) {
        const { account, rest } = accounts.sender(cfg, accountId);
        await registerCommands(rest, commands, signal);
        accounts.of(account.accountId).commands = commands;
      },
    },
  };
}

/** Names, targets and hints. */
function conventions(accounts: Accounts): Pick<DiscordChannel, "mentions" | "threading" | "messaging" | "agentPrompt"> {
  return {
    mentions: {
      stripPatterns: ({ ctx }) => [`<@!?${accounts.of(ctx.AccountId ?? "default").botId ?? "\\d+"}>`],
    },
    threading: {
      resolveReplyToMode: ({ cfg, accountId }) => accounts.account(cfg, accountId).replyToMode,
      allowExplicitReplyTagsWhenOff: true,
      buildToolContext: ({ context, hasRepliedRef }) => ({ currentChannelId: context.To, hasRepliedRef }),
    },
    messaging: {
      normalizeTarget: normalizeDiscordMessagingTarget,
      targetResolver: { looksLikeId: (raw) => looksLikeDiscordTargetId(raw), hint: "channel:<id> or user:<id>" },
    },
    agentPrompt: {
      messageToolHints: () => [
        "On Discord the target is user:<id> or channel:<id>; a thread is a channel with its own id. <@id> in a text mentions a person; @everyone and roles are never notified.",
        "Discord shows Markdown except tables; buttons are rows of { text, callback_data }, and a row { options: [...] } is a menu.",
      ],
    },
  };
}

function partsOf(accounts: Accounts, reader: ReturnType<typeof createReader>) {
  return {
    channel: "discord",
    label: "Discord",
    credentials: CREDENTIALS,
    accounts: reader,
    idLabel: "discordUserId",
    normalizeEntry: bareId,
    isName,
    nameAdvice: "Use user ids: turn on Developer Mode in Discord, right-click a person and choose Copy User ID",
    idExample: "123456789012345678",
    peopleLists: ["guilds.*.users", "guilds.*.channels.*.users"],
    groupLayers: (
      account: DiscordAccount,
      {
        groupId,
        groupSpace,
        groupChannel,
      }: { groupId?: string | null | undefined; groupSpace?: string | null | undefined; groupChannel?: string | null | undefined },
    ) =>
      layersOf(account, {
        guildId: guildKey(account, accounts.of(account.accountId).servers, groupSpace),
        channelId: groupId ?? "",
        name: groupChannel ?? undefined,
      }),
    probe: (account: DiscordAccount, timeoutMs: number) => probe(accounts.rest(account), timeoutMs),
    who: ({ bot }: DiscordProbe) => bot?.username,
    issues: ownIssues,
    describe(account: DiscordAccount) {
      const unmatched = accounts.of(account.accountId).servers.unmatched(account.guilds);
      return unmatched.length === 0 ? {} : { audit: { unmatched } };
    },
    programs: voiceNotePrograms,
    groupsLetIn: true,
    warnings(account: DiscordAccount): string[] {
      const outside = (account.approvers ?? []).filter((id) => !account.allowFrom.includes(id));
      const isOpen = account.dmPolicy === "pairing" || account.allowFrom.includes("*");
      return [
        ...inexactIds(account).map((path) => `${path} contains a number that is too long to be exact, so it matches nobody; put Discord ids in quotes`),
        ...(outside.length > 0 && !isOpen
          ? [
              `channels.discord.execApprovals.approvers lists people who are not allowed to write to the bot, so their buttons do nothing: ${outside.join(", ")}. Add them to allowFrom.`,
            ]
          : []),
      ];
    },
    async notifyApproval({ cfg, id }: { cfg: Parameters<Accounts["sender"]>[0]; id: string }) {
      await sendText(accounts.sender(cfg), { to: `user:${id}`, text: PAIRING_APPROVED_MESSAGE });
    },
  };
}

/** The section of a server of which only the name is at hand. While the servers are unknown, the configuration's `slug` leads to it. */
function guildKey({ guilds }: DiscordAccount, servers: Servers, space: string | null | undefined): string | undefined {
  const wanted = space?.trim();
  if (!wanted) return undefined;
  const id = servers.idOf(wanted);
  if (id !== undefined) return guildKeyOf(guilds, id, servers.slugOf(id)) ?? "*";
  if (Object.hasOwn(guilds, wanted)) return wanted;
  return Object.keys(guilds).find((id) => textOf(fieldsOf(guilds[id])?.["slug"])?.toLowerCase() === wanted.toLowerCase()) ?? "*";
}

/** Discord as a channel. */
export function createDiscordPlugin(options: DiscordPluginOptions = {}): DiscordChannel {
  const waiting = options.waiting ?? realWaiting;
  const reader = createReader(options.env);
  const accounts = createAccounts({ reader, waiting, apiRoot: options.apiRoot, transport: options.transport });
  const spec = partsOf(accounts, reader);
  const parts = createChannelParts<DiscordAccount, DiscordProbe>(spec);
  return {
    ...webChannelHead("discord", { polls: true, groupManagement: true }),
    ...parts,
    status: {
      ...parts.status,
      auditAccount: ({ account, timeoutMs, cfg }) => audit(accounts.rest(account), account, cfg, timeoutMs),
      buildAccountSnapshot: async (params) => ({
        ...(await parts.status.buildAccountSnapshot!(params)),
        ...(params.probe?.application ? { application: params.probe.application } : {}),
      }),
    },
    onboarding: createOnboarding<DiscordAccount, DiscordProbe>(spec, parts),
    outbound: outboundOf(accounts),
    gateway: gatewayOf(accounts, options),
    actions: createActions(accounts),
    directory: createDirectory(accounts),
    resolver: createResolver(accounts),
    ...aroundMessages(accounts, waiting),
    ...conventions(accounts),
    [Symbol.dispose]: () => accounts[Symbol.dispose](),
  };
}
