/** The channel, put together. */
import {
  type ChannelMessageActionContext,
  type ChannelPlugin,
  getChatChannelMeta,
  looksLikeSignalTargetId,
  PAIRING_APPROVED_MESSAGE,
  readStringParam,
} from "openclaw/plugin-sdk";
import {
  type AccountReader,
  type ActionSpec,
  type ChannelProbe,
  chatParam,
  type Clients,
  configuredDirectory,
  createActions,
  createChannelParts,
  createClients,
  createOnboarding,
  createTargets,
  createThreading,
  defined,
  fieldsOf,
  flagOf,
  hopeless,
  keyedCursorStore,
  matching,
  messageParam,
  runProbe,
  textOf,
  unfit,
  type Waiting,
  reactionParam,
  editedText,
} from "openclaw/plugin-sdk/channel-kit";
import { loadRichText } from "openclaw/plugin-sdk/rich-text";
import { createAccounts, CREDENTIALS, layersOf, type SignalAccount } from "./account.ts";
import type { FileRef, Self } from "./api.ts";
import { createClient, type SignalClient } from "./client.ts";
import { createRecentMessages, type RecentMessages } from "./recent-messages.ts";
import { readPosition, runAccount } from "./receive.ts";
import { edit, react, send, type Sender, unsend } from "./send.ts";
import { allowEntry, groupIn, isName, parseTarget, personIn, targetText } from "./target.ts";

type HostConfig = Parameters<AccountReader<SignalAccount>["read"]>[0];
type KeyedStore = ReturnType<Parameters<typeof keyedCursorStore>[0]>;

export interface SignalPluginOptions {
  /** Where positions are stored. */
  openStore?(): KeyedStore;
  readonly waiting?: Waiting | undefined;
}

interface Probe extends ChannelProbe {
  readonly bot?: Self;
  readonly mode?: string;
}

export interface SignalChannel extends ChannelPlugin<SignalAccount, Probe, object>, Disposable {}

interface Deps {
  readonly accounts: AccountReader<SignalAccount>;
  readonly clients: Clients<SignalAccount, SignalClient>;
  readonly options: SignalPluginOptions;
  readonly recent: RecentMessages;
  sender(cfg: HostConfig, accountId?: string | null): Sender;
  /** Who the accounts are. */
  readonly selves: Map<string, Self>;
}

/** Signal shows it for 15 s. */
const TYPING_REFRESH_MS = 10_000;
const CHECK_MS = 10_000;

const TARGETS = createTargets({
  normalize: (raw) => targetText(parseTarget(raw)),
  looksLikeId: (raw) => looksLikeSignalTargetId(raw),
  hint: "<number with country code>, uuid:<id>, group:<id> or username:<name>",
});

function outboundOf({ sender }: Deps): NonNullable<SignalChannel["outbound"]> {
  return {
    deliveryMode: "direct",
    // Each message is a request of its own, whatever becomes of the stream of events.
    independent: true,
    chunkerMode: "rich",
    textChunkLimit: 4000,
    captionLimit: 4000,
    resolveTarget: TARGETS.resolveTarget,
    sendText: async (ctx) => send(sender(ctx.cfg, ctx.accountId), ctx),
    albums: { most: 10, mixed: true },
    sendMedia: async (ctx) => send(sender(ctx.cfg, ctx.accountId), ctx),
    async checkSend({ cfg, accountId, signal }) {
      const { client } = sender(cfg, accountId);
      await (await client.get(signal)).check(signal);
    },
  };
}

/** A signal-cli that is started for one number writes in its name, who asks does not matter: no two accounts may share one. */
function checkAlone(accounts: AccountReader<SignalAccount>, cfg: HostConfig, account: SignalAccount): void {
  if (!account.program) return;
  const others = accounts.listAccountIds(cfg).map((id) => accounts.read(cfg, id));
  const other = others.find(({ accountId, enabled, program, baseUrl }) => enabled && program && baseUrl === account.baseUrl && accountId !== account.accountId);
  if (other)
    throw hopeless(
      `the accounts "${account.accountId}" and "${other.accountId}" start signal-cli at the same address, ${account.baseUrl}: give each its own httpPort`,
    );
}

function gatewayOf({ accounts, clients, options, recent, selves }: Deps): NonNullable<SignalChannel["gateway"]> {
  return {
    async startAccount(ctx) {
      const { account, accountId } = ctx;
      checkAlone(accounts, ctx.cfg, account);
      const store = keyedCursorStore(() => options.openStore?.(), `${accountId}:${account.baseUrl}:${account.number}`, readPosition);
      await runAccount(ctx, {
        client: clients.of(account),
        store,
        programStore: keyedCursorStore<unknown>(
          () => options.openStore?.(),
          `program:${accountId}`,
          (stored) => stored,
        ),
        waiting: options.waiting,
        known: (self) => void selves.set(accountId, self),
        seen({ kind, to, at, sender, text }) {
          if (kind === "message" && at !== undefined) recent.note(accountId, to, at, { author: sender.id, text });
        },
      });
    },
  };
}

function fileRefOf(ref: unknown): FileRef {
  const fields = fieldsOf(ref) ?? {};
  const target = fieldsOf(fields["target"]) ?? {};
  const [id, to] = [textOf(fields["id"]), textOf(target["id"])];
  if (id === undefined || to === undefined) throw unfit("download", "a Signal file needs an id and a chat");
  return { id, target: { kind: target["kind"] === "group" ? "group" : "person", id: to } };
}

/** Files, typing and reactions. */
function aroundMessages({ sender }: Deps): Pick<SignalChannel, "media" | "typing" | "reactions"> {
  const show = async (cfg: HostConfig, accountId: string, to: string, isOn: boolean, signal?: AbortSignal): Promise<void> => {
    const { client } = sender(cfg, accountId);
    await (await client.get(signal)).typing(parseTarget(to), isOn, signal);
  };
  return {
    media: {
      async fetch({ cfg, accountId, ref, maxBytes, signal }) {
        const { client } = sender(cfg, accountId);
        return { data: await (await client.get(signal)).file(fileRefOf(ref), maxBytes, signal) };
      },
    },
    typing: {
      refreshMs: TYPING_REFRESH_MS,
      start: ({ cfg, accountId, to, signal }) => show(cfg, accountId, to, true, signal),
      stop: ({ cfg, accountId, to }) => show(cfg, accountId, to, false),
    },
    reactions: {
      async set({ cfg, accountId, to, messageId, emoji }) {
        const from = sender(cfg, accountId);
        if (emoji !== "" && from.account.reactionLevel === "off") return;
        await react(from, { to, messageId, emoji });
      },
    },
  };
}

const isFree = ({ reactionLevel }: SignalAccount): boolean => reactionLevel === "minimal" || reactionLevel === "extensive";

function actionsOf({ accounts, sender }: Deps): NonNullable<SignalChannel["actions"]> {
  const from = (ctx: ChannelMessageActionContext): Sender => sender(ctx.cfg, ctx.accountId);
  const chatIn = (ctx: ChannelMessageActionContext): string => chatParam(ctx, "+491701234567");
  const takeBack: ActionSpec<SignalAccount> = {
    gate: "unsend",
    async run(_account, ctx) {
      await unsend(from(ctx), chatIn(ctx), messageParam(ctx));
      return { deleted: true };
    },
  };
  return createActions({
    channel: "signal",
    label: "Signal",
    accounts,
    actions: {
      react: {
        gate: "reactions",
        async run(account, ctx) {
          if (!isFree(account)) throw unfit("react", "agent reactions are off; set channels.signal.reactionLevel to minimal or extensive");
          const { emoji, remove, isEmpty } = reactionParam(ctx);
          const named = readStringParam(ctx.params, "targetAuthor") ?? readStringParam(ctx.params, "targetAuthorUuid");
          const author = named === undefined ? undefined : personIn(named);
          if (named !== undefined && author === undefined) throw unfit("react", `targetAuthor is a number or uuid:<id>, not "${named}"`);
          await react(from(ctx), { to: chatIn(ctx), messageId: messageParam(ctx), emoji, remove, author });
          return remove || isEmpty ? { removed: true } : { added: emoji };
        },
      },
      edit: {
        gate: "edit",
        async run(_account, ctx) {
          const text = editedText(ctx);
          await edit(from(ctx), { cfg: ctx.cfg, accountId: ctx.accountId, to: chatIn(ctx), text }, messageParam(ctx));
          return { edited: true };
        },
      },
      unsend: takeBack,
      delete: takeBack,
    },
  });
}

/** People and groups: those of the configuration, and the groups that the account is in. */
function directoryOf({ accounts, sender, selves }: Deps): Pick<SignalChannel, "directory" | "resolver"> {
  const groups = async (cfg: HostConfig, accountId?: string | null) => (await sender(cfg, accountId).client.get()).groups();
  return {
    directory: {
      ...configuredDirectory(accounts, { user: personIn, group: (key) => `group:${groupIn(key)}` }),
      async self({ cfg, accountId }) {
        const { account, client } = sender(cfg, accountId);
        const { number, uuid } = selves.get(account.accountId) ?? (await (await client.get()).self());
        return { kind: "user", id: number ?? `uuid:${uuid ?? ""}` };
      },
      listGroupsLive: async (params) =>
        matching(
          (await groups(params.cfg, params.accountId)).map(({ id, name }) => ({ kind: "group" as const, id: `group:${id}`, name })),
          params,
        ),
      async listGroupMembers({ cfg, accountId, groupId, limit }) {
        const wanted = groupIn(groupId);
        const found = (await groups(cfg, accountId)).find(({ id }) => id === wanted);
        if (!found) throw unfit("directory", `the account is not in a group "${wanted}"`);
        return found.members.slice(0, limit ?? found.members.length).map((id) => ({ kind: "user", id }));
      },
    },
    resolver: {
      async resolveTargets({ cfg, accountId, inputs, kind }) {
        if (kind === "user")
          return inputs.map((input) => {
            const id = personIn(input);
            return id === undefined ? { input, resolved: false, note: "use a number with its country code, or uuid:<id>" } : { input, resolved: true, id };
          });
        const known = await groups(cfg, accountId);
        return inputs.map((input) => {
          const wanted = groupIn(input);
          const found = known.find(({ id, name }) => id === wanted || name.toLowerCase() === wanted.toLowerCase());
          return found ? { input, resolved: true, id: found.id, name: found.name } : { input, resolved: false, note: "the account is not in this group" };
        });
      },
    },
  };
}

function partsOf({ accounts, clients, sender }: Deps) {
  const spec = {
    channel: "signal",
    label: "Signal",
    credentials: CREDENTIALS,
    accounts,
    idLabel: "signalNumber",
    normalizeEntry: allowEntry,
    isName: (entry: string) => entry !== "*" && isName(entry),
    nameReason: "they are not numbers",
    nameAdvice: "Use numbers with their country code such as +491701234567, or uuid:<id>; /whoami shows yours",
    removedKeys: ["cliPath", "configPath", "httpHost", "httpPort", "accountUuid"],
    groupLayers: (account: SignalAccount, { groupId }: { groupId?: string | null | undefined }) => layersOf(account, groupId ?? ""),
    setupKeys: ({ cliPath, httpHost, httpPort }: { cliPath?: string | undefined; httpHost?: string | undefined; httpPort?: string | undefined }) =>
      defined({
        cliPath: cliPath?.trim() || undefined,
        httpHost: httpHost?.trim() || undefined,
        httpPort: httpPort === undefined ? undefined : Number(httpPort),
      }),
    probe: (account: SignalAccount, timeoutMs: number): Promise<Probe> =>
      runProbe(async () => {
        const signal = AbortSignal.timeout(Math.ceil(timeoutMs || CHECK_MS));
        const api = await clients.of(account).detect(signal);
        await api.check(signal);
        return { bot: await api.self(signal), mode: api.form };
      }),
    staleAfterMs: 120_000,
    programs: ({ program }: SignalAccount) =>
      program
        ? [
            {
              command: program.cliPath,
              without: "the gateway cannot start it, so nothing is received or sent",
              install: "Install signal-cli (https://github.com/AsamK/signal-cli), or set channels.signal.cliPath or channels.signal.httpUrl",
            },
          ]
        : [],
    describe: ({ baseUrl, program }: SignalAccount) => ({ baseUrl, ...(program ? { cliPath: program.cliPath } : {}) }),
    warnings: ({ baseUrl, program }: SignalAccount) =>
      program === undefined && /^http:\/\/(?!localhost\b|127\.|\[::1\])/i.test(baseUrl)
        ? ["channels.signal.httpUrl is another machine over http: signal-cli has no password, so anyone who reaches it can write as the bot."]
        : [],
    async notifyApproval({ cfg, id }: { cfg: HostConfig; id: string }) {
      await send(sender(cfg), { cfg, to: allowEntry(id), text: PAIRING_APPROVED_MESSAGE });
    },
    intro: [
      "Signal through signal-cli, which has to be linked or registered first: https://github.com/AsamK/signal-cli",
      "The gateway starts signal-cli itself, or connects to a running one, also in a container (signal-cli-rest-api with MODE=json-rpc).",
    ],
    who: ({ bot }: Probe) => bot?.number,
    idExample: "+491701234567",
    idsLabel: "Numbers",
  };
  const parts = createChannelParts<SignalAccount, Probe>(spec);
  return { ...parts, onboarding: createOnboarding<SignalAccount, Probe>(spec, parts) };
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** Names and hints. */
function conventions({ accounts, selves }: Deps): Pick<SignalChannel, "mentions" | "agentPrompt" | "threading" | "messaging" | "streaming"> {
  return {
    mentions: {
      stripPatterns({ ctx }) {
        const { number, uuid } = selves.get(ctx.AccountId ?? "default") ?? {};
        return [number, uuid && `uuid:${uuid}`].flatMap((id) => (id ? [String.raw`@${escaped(id)}(?![\w-])`] : []));
      },
    },
    agentPrompt: {
      messageToolHints: () => [
        "On Signal messageId is the timestamp of a message. A reaction in a group needs targetAuthor (a number or uuid:<id>) for messages that are not recent.",
      ],
      reactionGuidance({ cfg, accountId }) {
        const account = accounts.read(cfg, accountId);
        const { reactionLevel: level } = account;
        const isOn = flagOf(fieldsOf(account.config["actions"])?.["reactions"]) ?? true;
        return isOn && (level === "minimal" || level === "extensive") ? { level } : undefined;
      },
    },
    threading: createThreading(accounts),
    messaging: TARGETS.messaging,
    streaming: { blockStreamingCoalesceDefaults: { minChars: 1500, idleMs: 1000 } },
  };
}

/** Signal as a channel. */
export function createSignalPlugin(options: SignalPluginOptions = {}): SignalChannel {
  const accounts = createAccounts();
  const clients = createClients<SignalAccount, SignalClient>({
    key: ({ baseUrl, number, apiMode, uuid, program }) => JSON.stringify([baseUrl, number, apiMode, uuid, program !== undefined]),
    open: createClient,
    close: (client) => client.close(),
  });
  const recent = createRecentMessages();
  let tools: ReturnType<typeof loadRichText> | undefined;
  function sender(cfg: HostConfig, accountId?: string | null): Sender {
    const account = accounts.read(cfg, accountId);
    if (account.problems.length > 0) throw unfit("send", `Signal account "${account.accountId}" cannot send: ${account.problems.join("; ")}`, "CONFIG_INVALID");
    return { account, client: clients.of(account), recent, richText: () => (tools ??= loadRichText()) };
  }
  const deps: Deps = { accounts, clients, options, recent, sender, selves: new Map() };
  return {
    id: "signal",
    meta: getChatChannelMeta("signal"),
    capabilities: { chatTypes: ["direct", "group"], reactions: true, reply: true, edit: true, unsend: true, media: true },
    reload: { configPrefixes: ["channels.signal"] },
    ...partsOf(deps),
    outbound: outboundOf(deps),
    gateway: gatewayOf(deps),
    actions: actionsOf(deps),
    ...aroundMessages(deps),
    ...directoryOf(deps),
    ...conventions(deps),
    [Symbol.dispose]: () => clients[Symbol.dispose](),
  };
}
