/** The channel, put together. */
import { type ChannelMeta, type ChannelPlugin, type ChannelResolveResult, PAIRING_APPROVED_MESSAGE } from "openclaw/plugin-sdk";
import {
  type AccountReader,
  type ChannelProbe,
  type Clients,
  configuredDirectory,
  createChannelParts,
  createClients,
  createEditedPreview,
  createOnboarding,
  createTargets,
  createThreading,
  createWebhooks,
  fieldsOf,
  keyedCursorStore,
  listOf,
  matching,
  realWaiting,
  requestOutbound,
  runProbe,
  silentLog,
  textOf,
  unfit,
  type Waiting,
  webChannelHead,
  type WebhookOptions,
} from "openclaw/plugin-sdk/channel-kit";
import { createMattermostActions, react } from "./actions.ts";
import { bareEntry, createAccounts, CREDENTIALS, ID, type MattermostAccount, requiresMention } from "./account.ts";
import { createApi, ifThere, type MattermostApi, parseTarget, type Person } from "./api.ts";
import { pressedIn, verifyPress } from "./buttons.ts";
import { calledIn, type CommandTokens, registerCommands, verifyCommand } from "./commands.ts";
import { buttonEvent, commandEvent, mentionPattern } from "./inbound.ts";
import { readPosition, runAccount } from "./receive.ts";
import { editPreview, messageText, patch, removeQuietly, send, type Sender } from "./send.ts";

type KeyedStore = ReturnType<Parameters<typeof keyedCursorStore>[0]>;

export interface MattermostPluginOptions {
  /** Where positions are stored. */
  openStore?(): KeyedStore;
  readonly waiting?: Waiting | undefined;
}

interface Probe extends ChannelProbe {
  readonly bot?: Person;
}

export interface MattermostChannel extends ChannelPlugin<MattermostAccount, Probe, object>, Disposable {}

interface Deps {
  readonly accounts: AccountReader<MattermostAccount>;
  readonly clients: Clients<MattermostAccount, MattermostApi>;
  readonly options: MattermostPluginOptions;
  sender(cfg: Parameters<AccountReader<MattermostAccount>["read"]>[0], accountId?: string | null): Sender;
  /** Names of the bots, by account. */
  readonly names: Map<string, string>;
  /** Of slash commands, by account. */
  readonly tokens: Map<string, CommandTokens>;
}

type Inbound = NonNullable<Parameters<NonNullable<NonNullable<MattermostChannel["gateway"]>["startAccount"]>>[0]["inbound"]>;
type Hook = Pick<WebhookOptions, "path" | "verify" | "handle">;

const TYPING_REFRESH_MS = 4500;
/** The server remembers for 30 s; requests take their time. */
const NONCE_WINDOW_MS = 25_000;

function normalize(raw: string): string {
  const { kind, id } = parseTarget(raw);
  return kind === "name" ? `@${id}` : `${kind}:${id}`;
}

const TARGETS = createTargets({
  normalize,
  looksLikeId: (raw) => /^(?:channel|group|user|mattermost):|^[@#]/i.test(raw) || ID.test(raw),
  hint: "<channelId>, channel:<id>, user:<id> or @name",
});

const META: ChannelMeta = {
  id: "mattermost",
  label: "Mattermost",
  selectionLabel: "Mattermost (bot account)",
  docsPath: "/channels/mattermost",
  docsLabel: "mattermost",
  blurb: "A bot account on your own Mattermost server.",
  systemImage: "bubble.left.and.text.bubble.right",
  order: 65,
};

function outboundOf({ sender }: Deps): NonNullable<MattermostChannel["outbound"]> {
  return {
    ...requestOutbound(normalize),
    chunkerMode: "markdown",
    textChunkLimit: 4000,
    captionLimit: 4000,
    nonceWindowMs: NONCE_WINDOW_MS,
    sendText: async (ctx) => send(sender(ctx.cfg, ctx.accountId), ctx),
    sendMedia: async (ctx) => send(sender(ctx.cfg, ctx.accountId), ctx),
    sendPayload: async (ctx) => send(sender(ctx.cfg, ctx.accountId), ctx, ctx.payload),
    editPreview: async (ctx) => editPreview(sender(ctx.cfg, ctx.accountId), ctx),
    checkSend: async ({ cfg, accountId, signal }) => void (await sender(cfg, accountId).api.login(signal)),
  };
}

/** What the server posts to: pressed buttons and slash commands. */
function hooksOf(account: MattermostAccount, api: MattermostApi, inbound: Inbound, tokens: () => CommandTokens): Hook[] {
  return [
    {
      path: account.callbackPath,
      verify: (request) => verifyPress(request, account),
      async handle(request) {
        const pressed = pressedIn(request);
        const event = pressed && (await buttonEvent(pressed, { api, account, me: await api.me() }));
        if (event) await inbound.accept(event);
      },
    },
    {
      path: account.commandPath,
      verify: (request) => verifyCommand(request, tokens()),
      async handle(request) {
        const called = calledIn(request);
        const event = called && (await commandEvent(called, { api, account, me: await api.me() }));
        if (event) return void (await inbound.accept(event));
        return {
          status: 200,
          body: JSON.stringify({ response_type: "ephemeral", text: "The bot is not in this channel. Add it first, or send it a direct message." }),
        };
      },
    },
  ];
}

function gatewayOf({ clients, options, names, tokens }: Deps): NonNullable<MattermostChannel["gateway"]> {
  const webhooks = createWebhooks();
  return {
    async startAccount(ctx) {
      const { account, accountId, inbound } = ctx;
      const api = clients.of(account);
      const log = ctx.log ?? silentLog;
      const hooks = inbound && account.callbackUrl !== undefined ? hooksOf(account, api, inbound, () => tokens.get(accountId) ?? new Map()) : [];
      const unregister = hooks.map((hook) => webhooks.register({ pluginId: "mattermost", accountId, log, ...hook }));
      try {
        const store = keyedCursorStore(() => options.openStore?.(), `${accountId}:${account.baseUrl}`, readPosition);
        await runAccount(ctx, { api, store, waiting: options.waiting, known: ({ username }) => void names.set(accountId, username) });
      } finally {
        for (const one of unregister) one();
      }
    },
  };
}

/** Files, typing, previews and reactions. */
function aroundMessages({ sender, options }: Deps): Pick<MattermostChannel, "media" | "typing" | "preview" | "reactions"> {
  return {
    media: {
      async fetch({ cfg, accountId, ref, maxBytes, signal }) {
        const fileId = textOf(fieldsOf(ref)?.["fileId"]);
        if (fileId === undefined) throw unfit("download", "a Mattermost file needs a fileId, this one has none");
        const { data, mimeType } = await sender(cfg, accountId).api.download(fileId, maxBytes, signal);
        return { data, ...(mimeType === undefined ? {} : { mimeType }) };
      },
    },
    typing: {
      refreshMs: TYPING_REFRESH_MS,
      async start({ cfg, accountId, to, threadId, signal }) {
        const { api } = sender(cfg, accountId);
        const place = { channel_id: await api.channelFor(to), ...(threadId === undefined ? {} : { parent_id: String(threadId) }) };
        await api.call("POST", "/users/me/typing", { json: place, signal, timeoutMs: 10_000 });
      },
    },
    preview: {
      open({ cfg, accountId, to, threadId, replyToId, previewId, signal }) {
        const from = sender(cfg, accountId);
        if (from.account.streamMode === "off") return undefined;
        const now = (options.waiting ?? realWaiting).now;
        return createEditedPreview({
          now,
          signal,
          previewId,
          nonceWindowMs: NONCE_WINDOW_MS,
          post: async (text, nonce) => (await send(from, { cfg, accountId, to, text, threadId, replyToId, nonce, signal })).messageId,
          edit: async (id, text) => patch(from, id, { message: messageText({ cfg, accountId, text }) }, signal),
          remove: (id) => removeQuietly(from, id),
        });
      },
    },
    reactions: {
      set: async ({ cfg, accountId, messageId, emoji }) => react(sender(cfg, accountId), messageId, emoji),
    },
  };
}

/** People and channels by name. */
function directoryOf({ accounts, sender }: Deps): Pick<MattermostChannel, "directory" | "resolver"> {
  const user = ({ id, name, username }: Person) => ({ kind: "user" as const, id: `user:${id}`, name, handle: `@${username}` });
  async function resolve({ api }: Sender, input: string, kind: "user" | "group"): Promise<ChannelResolveResult> {
    const bare = bareEntry(input)
      .replace(/^(?:channel|group):/, "")
      .replace(/^#/, "");
    if (kind === "user") {
      const found = await ifThere(ID.test(bare) ? api.users.get(bare) : api.byName(bare));
      return found ? { input, resolved: true, id: found.id, name: found.name } : { input, resolved: false, note: "no such user" };
    }
    const place = (await api.channels()).find(({ id, name, title }) => [id, name, title.toLowerCase()].includes(bare));
    return place
      ? { input, resolved: true, id: place.id, name: place.title || place.name }
      : { input, resolved: false, note: "the bot is not in this channel" };
  }
  return {
    directory: {
      ...configuredDirectory(accounts, {
        user: (entry) => (ID.test(bareEntry(entry)) ? `user:${bareEntry(entry)}` : undefined),
        group: (key) => (ID.test(key) ? `channel:${key}` : undefined),
      }),
      self: async ({ cfg, accountId }) => user(await sender(cfg, accountId).api.login()),
      async listPeersLive(params) {
        const { api } = sender(params.cfg, params.accountId);
        const term = params.query?.trim().replace(/^@/, "");
        const found = term
          ? await api.call("POST", "/users/search", { json: { term, limit: params.limit ?? 100 } })
          : await api.call("GET", "/users", { query: { per_page: Math.min(200, params.limit ?? 100) } });
        return matching(
          listOf(found).map((raw) => user(api.person(raw))),
          { limit: params.limit },
        );
      },
      async listGroupsLive(params) {
        const places = (await sender(params.cfg, params.accountId).api.channels()).filter(({ type }) => type !== "D");
        return matching(
          places.map(({ id, name, title, type }) => ({
            kind: type === "G" ? "group" : "channel",
            id: `channel:${id}`,
            name: title || name,
            handle: `#${name}`,
          })),
          params,
        );
      },
      async listGroupMembers({ cfg, accountId, groupId, limit }) {
        const { api } = sender(cfg, accountId);
        const members = await api.call("GET", `/channels/${await api.channelFor(groupId)}/members`, { query: { per_page: Math.min(200, limit ?? 100) } });
        const ids = listOf(members).flatMap((member) => textOf(fieldsOf(member)?.["user_id"]) ?? []);
        return listOf(await api.call("POST", "/users/ids", { json: ids })).map((raw) => user(api.person(raw)));
      },
    },
    resolver: {
      resolveTargets: async ({ cfg, accountId, inputs, kind }) => Promise.all(inputs.map((input) => resolve(sender(cfg, accountId), input, kind))),
    },
  };
}

function partsOf({ accounts, clients, sender }: Deps) {
  const spec = {
    channel: "mattermost",
    label: "Mattermost",
    credentials: CREDENTIALS,
    accounts,
    idLabel: "mattermostUserId",
    normalizeEntry: bareEntry,
    isName: (entry: string) => entry !== "*" && !ID.test(entry),
    nameAdvice: "Use user ids (26 letters and digits); /whoami shows one, `openclaw channels resolve --channel mattermost @name` another's",
    probe: (account: MattermostAccount): Promise<Probe> => runProbe(async () => ({ bot: await clients.of(account).login() })),
    webhook: ({ callbackUrl, callbackPath }: MattermostAccount) =>
      callbackUrl === undefined
        ? undefined
        : { url: callbackUrl, path: URL.parse(callbackUrl)?.pathname ?? callbackPath, setting: "channels.mattermost.interactions.callbackBaseUrl" },
    describe: ({ baseUrl }: MattermostAccount) => ({ baseUrl }),
    warnings: ({ baseUrl }: MattermostAccount) =>
      /^http:\/\/(?!localhost\b|127\.|\[::1\])/i.test(baseUrl) ? ["channels.mattermost.baseUrl is http: the bot's token is sent unencrypted. Use https."] : [],
    async notifyApproval({ cfg, id }: { cfg: Parameters<Deps["sender"]>[0]; id: string }) {
      await send(sender(cfg), { cfg, to: `user:${bareEntry(id)}`, text: PAIRING_APPROVED_MESSAGE });
    },
    intro: ["A bot account on your Mattermost server. Nothing has to be reachable from outside, unless you use buttons."],
    who: ({ bot }: Probe) => bot && `@${bot.username}`,
    idExample: "4xp9fdt77pncbef59f4k1qe83o",
  };
  const parts = createChannelParts<MattermostAccount, Probe>(spec);
  return { ...parts, onboarding: createOnboarding<MattermostAccount, Probe>(spec, parts) };
}

/** Mattermost as a channel. */
export function createMattermostPlugin(options: MattermostPluginOptions = {}): MattermostChannel {
  const accounts = createAccounts();
  const clients = createClients<MattermostAccount, MattermostApi>({
    key: ({ baseUrl, token }) => `${baseUrl} ${token}`,
    open: createApi,
    close: (api) => api.close(),
  });
  function sender(cfg: Parameters<Deps["sender"]>[0], accountId?: string | null): Sender {
    const account = accounts.read(cfg, accountId);
    if (account.problems.length > 0)
      throw unfit("send", `Mattermost account "${account.accountId}" cannot send: ${account.problems.join("; ")}`, "CONFIG_INVALID");
    return { account, api: clients.of(account) };
  }
  const deps: Deps = { accounts, clients, options, sender, names: new Map(), tokens: new Map() };
  const parts = partsOf(deps);
  return {
    ...webChannelHead("mattermost", {}, META),
    ...parts,
    groups: { ...parts.groups, resolveRequireMention: ({ cfg, accountId, groupId }) => requiresMention(accounts.read(cfg, accountId), groupId ?? "") },
    outbound: outboundOf(deps),
    gateway: gatewayOf(deps),
    actions: createMattermostActions(accounts, (account) => ({ account, api: clients.of(account) })),
    ...aroundMessages(deps),
    ...directoryOf(deps),
    mentions: { stripPatterns: ({ ctx }) => (deps.names.has(ctx.AccountId ?? "default") ? [mentionPattern(deps.names.get(ctx.AccountId ?? "default")!)] : []) },
    nativeCommands: {
      async register({ cfg, accountId, commands, signal }) {
        const { api, account } = sender(cfg, accountId);
        const tokens: CommandTokens = deps.tokens.get(account.accountId) ?? new Map();
        deps.tokens.set(account.accountId, tokens);
        await registerCommands({ api, account, commands, tokens, signal });
      },
    },
    streaming: { blockStreamingCoalesceDefaults: { minChars: 1500, idleMs: 1000 } },
    threading: createThreading(accounts),
    messaging: TARGETS.messaging,
    agentPrompt: { messageToolHints: () => ["Mattermost reactions take an emoji or its name (thumbsup). `@all`, `@channel` and `@here` notify nobody."] },
    [Symbol.dispose]: () => clients[Symbol.dispose](),
  };
}
