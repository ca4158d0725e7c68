/** The channel, put together. */
import { type ChannelMessageActionContext, type ChannelPlugin, type ChannelResolveResult, PAIRING_APPROVED_MESSAGE } from "openclaw/plugin-sdk";
import {
  type AccountReader,
  type ChannelProbe,
  type Clients,
  configuredDirectory,
  createActions,
  createChannelParts,
  createClients,
  createOnboarding,
  createTargets,
  createThreading,
  createWebhooks,
  type Fields,
  fieldsOf,
  hopeless,
  matching,
  messageParam,
  realWaiting,
  runProbe,
  textOf,
  unfit,
  type Waiting,
  reactionParam,
  chatParam,
  asChannelError,
  editedText,
} from "openclaw/plugin-sdk/channel-kit";
import { createAccounts, CREDENTIALS, type GoogleChatAccount, isUserId, layersOf, requiresMention, spaceEntry, userEntry } from "./account.ts";
import { createApi, createKeys, type GoogleChatApi, isMessage, parseTarget, targetText } from "./api.ts";
import { runAccount } from "./receive.ts";
import { addReaction, listReactions, removeOwnReactions, summaryOf } from "./reactions.ts";
import { NONCE_MS } from "./preview.ts";
import { editPreview, messageText, send, type SendContext, type Sender, TEXT_LIMIT } from "./send.ts";
import { askAudience, setupKeys } from "./setup.ts";
import { createTypingSigns, type TypingDeps, type TypingSigns } from "./typing.ts";

export interface GoogleChatPluginOptions extends Pick<TypingDeps, "openStore"> {
  /** Instead of Google's addresses, for tests. */
  readonly apiRoot?: string | undefined;
  readonly waiting?: Waiting | undefined;
}

type HostConfig = Parameters<AccountReader<GoogleChatAccount>["read"]>[0];

export interface GoogleChatChannel extends ChannelPlugin<GoogleChatAccount, ChannelProbe, object>, Disposable {}

interface Deps {
  readonly accounts: AccountReader<GoogleChatAccount>;
  readonly clients: Clients<GoogleChatAccount, GoogleChatApi>;
  readonly waiting: Waiting;
  readonly signs: TypingSigns;
  sender(cfg: HostConfig, accountId?: string | null): Sender;
  /** The app's own user: as configured, or as its messages say. */
  self(account: GoogleChatAccount): string | undefined;
  learn(account: GoogleChatAccount, message: Fields): void;
}

const TARGETS = createTargets({
  normalize: (raw) => targetText(parseTarget(raw)),
  looksLikeId: (raw) => /^(?:(?:googlechat|google-chat|gchat):)?(?:spaces?[/:]|users?[/:])/i.test(raw.trim()) || /^\S+@\S+\.\S+$/.test(raw.trim()),
  hint: "spaces/<id>, users/<id> or an e-mail address",
});

function outboundOf({ sender, learn }: Deps): NonNullable<GoogleChatChannel["outbound"]> {
  const deliver = (ctx: SendContext, payload?: Parameters<typeof send>[2]) => {
    const from = sender(ctx.cfg, ctx.accountId);
    return send(from, ctx, payload, (message) => learn(from.account, message));
  };
  return {
    deliveryMode: "direct",
    // Each message is a request of its own, whether or not the webhook is open.
    independent: true,
    chunkerMode: "rich",
    textChunkLimit: TEXT_LIMIT,
    captionLimit: TEXT_LIMIT,
    nonceWindowMs: NONCE_MS,
    resolveTarget: TARGETS.resolveTarget,
    sendText: (ctx) => deliver(ctx),
    sendMedia: (ctx) => deliver(ctx),
    sendPayload: (ctx) => deliver(ctx, ctx.payload),
    editPreview: async (ctx) => editPreview(sender(ctx.cfg, ctx.accountId), ctx),
    checkSend: async ({ cfg, accountId, signal }) => void (await sender(cfg, accountId).api.check(signal)),
  };
}

function gatewayOf({ clients, waiting, signs, self }: Deps, keys: ReturnType<typeof createKeys>): NonNullable<GoogleChatChannel["gateway"]> {
  const webhooks = createWebhooks();
  return {
    async startAccount(ctx) {
      const { account, accountId } = ctx;
      if (account.problems.length > 0) throw hopeless(`Google Chat account "${accountId}" cannot be started: ${account.problems.join("; ")}`);
      const api = clients.of(account);
      await runAccount(ctx, {
        api,
        keys,
        webhooks,
        waiting,
        self: () => self(account),
        heard: (to, messageId) => signs.heard(accountId, to, messageId),
        started: () => signs.clean({ account, api }).catch((error: unknown) => ctx.log?.warn(`old typing messages could not be removed: ${String(error)}`)),
      });
    },
  };
}

function mediaOf({ sender }: Deps): NonNullable<GoogleChatChannel["media"]> {
  return {
    async fetch({ cfg, accountId, ref, maxBytes, signal }) {
      const { resource, driveFile } = fieldsOf(ref) ?? {};
      if (textOf(driveFile)) throw unfit("download", "the file is in Google Drive, which a Chat app cannot read; upload it to the chat instead");
      const name = textOf(resource);
      if (name === undefined) throw unfit("download", "a Google Chat file needs a resource name, this one has none");
      const { data, mimeType } = await sender(cfg, accountId).api.download(name, maxBytes, signal);
      return { data, ...(mimeType === undefined ? {} : { mimeType }) };
    },
  };
}

const MOST_LISTED = 1000;

/** Spaces by name, and their members. */
function directoryOf({ accounts, sender }: Deps): Pick<GoogleChatChannel, "directory" | "resolver"> {
  const spaces = async (from: Sender) =>
    (await from.api.pages("/v1/spaces", "spaces", MOST_LISTED))
      .filter((space) => space["spaceType"] !== "DIRECT_MESSAGE" && space["type"] !== "DM")
      .map((space) => ({ kind: "group" as const, id: textOf(space["name"]) ?? "", name: textOf(space["displayName"]) ?? "" }));
  async function resolve(from: Sender, input: string, kind: "user" | "group"): Promise<ChannelResolveResult> {
    if (kind === "user") {
      const id = userEntry(input);
      return isUserId(id) ? { input, resolved: true, id } : { input, resolved: false, note: "people are identified by id (users/…); /whoami shows it" };
    }
    const wanted = input.trim().toLowerCase();
    const found = (await spaces(from)).find(({ id, name }) => [id.toLowerCase(), name.toLowerCase()].includes(wanted) || id === spaceEntry(input));
    return found ? { input, resolved: true, id: found.id, name: found.name } : { input, resolved: false, note: "the app is not in this space" };
  }
  return {
    directory: {
      ...configuredDirectory(accounts, {
        user: (entry) => (isUserId(userEntry(entry)) ? userEntry(entry) : undefined),
        group: (key) => (key === "*" ? undefined : spaceEntry(key)),
      }),
      listGroupsLive: async (params) => matching(await spaces(sender(params.cfg, params.accountId)), params),
      async listGroupMembers({ cfg, accountId, groupId, limit }) {
        const { api } = sender(cfg, accountId);
        const members = await api.pages(`/v1/${await api.spaceFor(parseTarget(groupId))}/members`, "memberships", limit ?? 100);
        return members.flatMap(({ member }) => {
          const [id, name] = [textOf(fieldsOf(member)?.["name"]), textOf(fieldsOf(member)?.["displayName"])];
          return id === undefined ? [] : [{ kind: "user" as const, id, ...(name === undefined ? {} : { name }) }];
        });
      },
    },
    resolver: {
      resolveTargets: async ({ cfg, accountId, inputs, kind }) => Promise.all(inputs.map((input) => resolve(sender(cfg, accountId), input, kind))),
    },
  };
}

/** The message that is meant, in the chat that is meant. */
async function messageHere({ api }: Sender, ctx: ChannelMessageActionContext): Promise<string> {
  const name = messageParam(ctx);
  const space = await api.spaceFor(parseTarget(chatParam(ctx, "spaces/<id>")));
  if (!isMessage(name) || !name.startsWith(`${space}/`)) throw unfit("message", `there is no message ${name} in this chat`);
  return name;
}

/** Google lets an app change what it wrote itself, and nothing else. */
async function ours<T>(work: Promise<T>, name: string): Promise<T> {
  return work.catch((error: unknown) => {
    if (asChannelError(error)?.status !== 403) throw error;
    throw unfit("message", `message ${name} is not from this app: only its own messages can be changed`, "NOT_PERMITTED");
  });
}

function actionsOf({ accounts, clients, self }: Deps): NonNullable<GoogleChatChannel["actions"]> {
  const senderOf = (account: GoogleChatAccount): Sender => ({ account, api: clients.of(account) });
  return createActions<GoogleChatAccount>({
    channel: "googlechat",
    label: "Google Chat",
    accounts,
    actions: {
      react: {
        gate: "reactions",
        isOn: false,
        async run(account, ctx) {
          const { emoji, remove, isEmpty } = reactionParam(ctx);
          const message = messageParam(ctx);
          if (!remove && !isEmpty) return { added: (await addReaction(senderOf(account), message, emoji)).emoji };
          return { removed: await removeOwnReactions(senderOf(account), message, self(account), isEmpty ? undefined : emoji) };
        },
      },
      edit: {
        gate: "messages",
        async run(account, ctx) {
          const text = editedText(ctx);
          const sender = senderOf(account);
          const messageId = await messageHere(sender, ctx);
          await ours(sender.api.edit(messageId, { text: await messageText({ text }) }), messageId);
          return { messageId };
        },
      },
      delete: {
        gate: "messages",
        async run(account, ctx) {
          const sender = senderOf(account);
          const messageId = await messageHere(sender, ctx);
          await ours(sender.api.remove(messageId), messageId);
          return { deleted: messageId };
        },
      },
      reactions: {
        gate: "reactions",
        isOn: false,
        run: async (account, ctx) => ({ reactions: summaryOf(await listReactions(senderOf(account), messageParam(ctx))) }),
      },
    },
    supportsButtons: () => true,
  });
}

function partsOf({ accounts, clients, sender }: Deps) {
  const spec = {
    channel: "googlechat",
    label: "Google Chat",
    credentials: CREDENTIALS,
    accounts,
    idLabel: "googlechatUserId",
    normalizeEntry: userEntry,
    isName: (entry: string) => entry !== "*" && !isUserId(entry),
    nameReason: "names and e-mail addresses can change hands",
    nameAdvice: "Use user ids (users/123456789012345678901); /whoami shows one",
    groupWord: "space",
    peopleLists: ["groups.*.users"],
    groupLayers: (account: GoogleChatAccount, { groupId }: { groupId?: string | null | undefined }) => layersOf(account, groupId ?? ""),
    removedKeys: ["audienceType", "audience", "webhookPath", "webhookUrl", "botUser"],
    setupKeys,
    probe: (account: GoogleChatAccount): Promise<ChannelProbe> =>
      runProbe(async () => {
        if (account.problems.length > 0) throw unfit("check", account.problems.join("; "), "CONFIG_INVALID");
        await clients.of(account).check();
        return {};
      }),
    groupsLetIn: true,
    webhook({ audienceType, audience, webhookPath: path, webhookUrl }: GoogleChatAccount) {
      if (webhookUrl !== undefined) return { url: webhookUrl, path, setting: "channels.googlechat.webhookUrl" };
      return audienceType === "app-url" ? { url: audience, path, setting: "channels.googlechat.audience" } : undefined;
    },
    describe: ({ audienceType, audience, webhookPath, webhookUrl }: GoogleChatAccount) => ({ audienceType, audience, webhookPath, webhookUrl }),
    async notifyApproval({ cfg, id }: { cfg: HostConfig; id: string }) {
      await send(sender(cfg), { cfg, to: userEntry(id), text: PAIRING_APPROVED_MESSAGE });
    },
    intro: ["A Google Chat app in your Workspace. Google posts to a URL of this gateway, which must be reachable from outside over https."],
    ask: askAudience,
    idExample: "users/123456789012345678901",
  };
  const parts = createChannelParts<GoogleChatAccount>(spec);
  return { ...parts, onboarding: createOnboarding<GoogleChatAccount, ChannelProbe>(spec, parts) };
}

function createDeps(options: GoogleChatPluginOptions): Deps {
  const waiting = options.waiting ?? realWaiting;
  const accounts = createAccounts();
  const clients = createClients<GoogleChatAccount, GoogleChatApi>({
    key: ({ serviceAccount }) => serviceAccount,
    open: (account) => createApi(account, { apiRoot: options.apiRoot, now: waiting.now }),
    close: (api) => api.close(),
  });
  const learned = new Map<string, string>();
  function sender(cfg: HostConfig, accountId?: string | null): Sender {
    const account = accounts.read(cfg, accountId);
    if (account.problems.length > 0)
      throw unfit("send", `Google Chat account "${account.accountId}" cannot send: ${account.problems.join("; ")}`, "CONFIG_INVALID");
    return { account, api: clients.of(account) };
  }
  return {
    accounts,
    clients,
    waiting,
    sender,
    signs: createTypingSigns({ sender, waiting, ...(options.openStore ? { openStore: options.openStore } : {}) }),
    self: ({ accountId, botUser }) => botUser ?? learned.get(accountId),
    learn({ accountId }, message) {
      const { name, type } = fieldsOf(message["sender"]) ?? {};
      if (type === "BOT" && typeof name === "string" && isUserId(name)) learned.set(accountId, name);
    },
  };
}

/** Google Chat as a channel. */
export function createGoogleChatPlugin(options: GoogleChatPluginOptions = {}): GoogleChatChannel {
  const deps = createDeps(options);
  const { accounts, clients, signs } = deps;
  const keys = createKeys({ apiRoot: options.apiRoot, now: deps.waiting.now });
  const parts = partsOf(deps);
  return {
    id: "googlechat",
    meta: {
      id: "googlechat",
      label: "Google Chat",
      selectionLabel: "Google Chat (Chat API)",
      docsPath: "/channels/googlechat",
      docsLabel: "googlechat",
      blurb: "A Workspace Chat app that calls a webhook.",
      aliases: ["google-chat", "gchat"],
      systemImage: "message.badge",
      order: 55,
    },
    capabilities: {
      chatTypes: ["direct", "group", "thread"],
      // Files and reactions take the authorization of a user, which a service account does not have.
      reactions: false,
      edit: true,
      unsend: true,
      reply: true,
      threads: true,
      media: false,
      blockStreaming: true,
    },
    reload: { configPrefixes: ["channels.googlechat"] },
    ...parts,
    groups: { ...parts.groups, resolveRequireMention: ({ cfg, accountId, groupId }) => requiresMention(accounts.read(cfg, accountId), groupId ?? "") },
    outbound: outboundOf(deps),
    gateway: gatewayOf(deps, keys),
    actions: actionsOf(deps),
    media: mediaOf(deps),
    typing: signs.typing,
    preview: signs.preview,
    ...directoryOf(deps),
    streaming: { blockStreamingCoalesceDefaults: { minChars: 1500, idleMs: 1000 } },
    threading: createThreading(accounts),
    messaging: TARGETS.messaging,
    agentPrompt: {
      messageToolHints: () => [
        "Google Chat targets: spaces/<id>, users/<id>. `<users/id>` in a text mentions nobody. Files of this machine cannot be sent; send an address instead.",
      ],
    },
    [Symbol.dispose]() {
      clients[Symbol.dispose]();
      keys[Symbol.dispose]();
    },
  };
}
