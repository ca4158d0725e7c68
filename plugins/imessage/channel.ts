/** The channel, put together. */
import { type ChannelPlugin, getChatChannelMeta, PAIRING_APPROVED_MESSAGE } from "openclaw/plugin-sdk";
import {
  type AccountReader,
  type ChannelProbe,
  configuredDirectory,
  createActions,
  createChannelParts,
  createOnboarding,
  defined,
  type Fields,
  fieldsOf,
  hopeless,
  keyedCursorStore,
  matching,
  realWaiting,
  runProbe,
  textOf,
  textsOf,
  trimmedOf,
  unfit,
  type Waiting,
  wholeOf,
} from "openclaw/plugin-sdk/channel-kit";
import { bareEntry, createAccounts, CREDENTIALS, type IMessageAccount } from "./account.ts";
import { fetchAttachment, remoteHostOf, type RunCommand } from "./attachments.ts";
import { createEchoes, type Echoes } from "./echoes.ts";
import { endOf, type Environment, type Imsg, openImsg } from "./imsg.ts";
import { runAccount } from "./receive.ts";
import { send, type Sender } from "./send.ts";
import { handleOf, parseTarget, targetParams, TARGETS, targetText } from "./target.ts";

type KeyedStore = ReturnType<Parameters<typeof keyedCursorStore>[0]>;
type HostConfig = Parameters<AccountReader<IMessageAccount>["read"]>[0];

export interface IMessagePluginOptions {
  /** Where positions are stored. */
  openStore?(): KeyedStore;
  /** Runs scp. */
  readonly run?: RunCommand | undefined;
  readonly env?: Environment | undefined;
  readonly waiting?: Waiting | undefined;
  readonly sendTimeoutMs?: number | undefined;
  /** For everything else. */
  readonly timeoutMs?: number | undefined;
  /** Between looks for a file that did not come with its message. */
  readonly lateMs?: number | undefined;
  /** How often a program that says nothing is asked whether it is there. */
  readonly checkMs?: number | undefined;
}

interface Probe extends ChannelProbe {
  readonly remoteHost?: string | undefined;
}

export type IMessageChannel = ChannelPlugin<IMessageAccount, Probe, object>;

interface Deps {
  readonly accounts: AccountReader<IMessageAccount>;
  readonly options: IMessagePluginOptions;
  readonly waiting: Waiting;
  /** Programs of accounts that run. */
  readonly live: Map<string, Imsg>;
  /** By account. */
  echoesOf(accountId: string): Echoes;
  sender(cfg: HostConfig, accountId?: string | null): Sender;
}

const PROBE_MS = 10_000;
const LATE_MS = 500;
const TYPING_REFRESH_MS = 20_000;

const noCommands: RunCommand = () => Promise.reject(unfit("scp", "files of another Mac cannot be copied here: this host cannot run programs", "UNSUPPORTED"));

/** A program for one question. */
async function withImsg<T>(account: IMessageAccount, options: IMessagePluginOptions, timeoutMs: number, work: (imsg: Imsg) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const imsg = await openImsg(account, { env: options.env, signal: stop.signal, timeoutMs, sendTimeoutMs: options.sendTimeoutMs });
  try {
    return await work(imsg);
  } catch (error) {
    await imsg.close();
    const end = endOf(await imsg.ended, account);
    throw (end as { permanent?: boolean }).permanent === true ? end : error;
  } finally {
    stop.abort();
    await imsg.ended;
  }
}

function createSenders({ accounts, options, waiting, live, echoesOf }: Omit<Deps, "sender">): Deps["sender"] {
  return (cfg, accountId) => {
    const account = accounts.read(cfg, accountId);
    if (account.problems.length > 0)
      throw unfit("send", `iMessage account "${account.accountId}" cannot send: ${account.problems.join("; ")}`, "CONFIG_INVALID");
    return {
      account,
      echoes: echoesOf(account.accountId),
      run: options.run ?? noCommands,
      now: waiting.now,
      use(work) {
        const running = live.get(account.accountId);
        return running ? work(running) : withImsg(account, options, PROBE_MS, work);
      },
    };
  };
}

function outboundOf({ sender }: Deps): NonNullable<IMessageChannel["outbound"]> {
  return {
    deliveryMode: "direct",
    chunkerMode: "markdown",
    textChunkLimit: 4000,
    captionLimit: 4000,
    resolveTarget: TARGETS.resolveTarget,
    sendText: async (ctx) => send(sender(ctx.cfg, ctx.accountId), ctx),
    sendMedia: async (ctx) => send(sender(ctx.cfg, ctx.accountId), ctx),
    checkSend: async ({ cfg, accountId }) => void (await sender(cfg, accountId).use((imsg) => imsg.chats(1))),
  };
}

function gatewayOf({ accounts, options, waiting, live, echoesOf }: Deps): NonNullable<IMessageChannel["gateway"]> {
  return {
    async startAccount(ctx) {
      const { account, accountId } = ctx;
      if (account.problems.length > 0) throw hopeless(`iMessage account "${accountId}" cannot be started: ${account.problems.join("; ")}`);
      const twin = accounts
        .listAccountIds(ctx.cfg)
        .map((id) => accounts.read(ctx.cfg, id))
        .find((other) => other.accountId !== accountId && other.enabled && other.cliPath === account.cliPath && other.dbPath === account.dbPath);
      if (twin) ctx.log?.warn(`account "${twin.accountId}" reads the same Messages: each message is answered twice. Turn one of them off`);
      const host = await remoteHostOf(account);
      // Rows of another database have other numbers.
      const key = [accountId, host ?? "", account.dbPath ?? ""].join(":");
      await runAccount(ctx, {
        store: keyedCursorStore(() => options.openStore?.(), key, wholeOf),
        echoes: echoesOf(accountId),
        waiting,
        env: options.env,
        sendTimeoutMs: options.sendTimeoutMs,
        timeoutMs: options.timeoutMs,
        checkMs: options.checkMs,
        live: (imsg) => void (imsg ? live.set(accountId, imsg) : live.delete(accountId)),
      });
    },
  };
}

/** Files that came, and the sign that an answer is written. */
function aroundMessages({ accounts, options, waiting, live }: Deps): Pick<IMessageChannel, "media" | "typing"> {
  /** Programs that cannot show it: most need a part that has to be installed for that. */
  const mute = new WeakSet<Imsg>();
  async function typing(accountId: string, to: string, isTyping: boolean): Promise<void> {
    const imsg = live.get(accountId);
    if (!imsg || mute.has(imsg)) return;
    if (!(await imsg.typing(targetParams(parseTarget(to)), isTyping))) mute.add(imsg);
  }
  return {
    media: {
      async fetch({ cfg, accountId, ref, maxBytes, signal }) {
        const fields = fieldsOf(ref) ?? {};
        const path = textOf(fields["path"]);
        if (path === undefined) throw unfit("download", "a Messages file needs a path, this one has none");
        const file = { path, isLate: fields["isLate"] === true };
        const { run = noCommands, lateMs = LATE_MS } = options;
        return { data: await fetchAttachment(accounts.read(cfg, accountId), file, { maxBytes, run, waiting, lateMs, signal }) };
      },
    },
    typing: {
      start: ({ accountId, to }) => typing(accountId, to, true),
      stop: ({ accountId, to }) => typing(accountId, to, false),
      refreshMs: TYPING_REFRESH_MS,
    },
  };
}

function directoryOf({ accounts, sender }: Deps): Required<Pick<IMessageChannel, "directory" | "resolver">> {
  const chats = async (cfg: HostConfig, accountId?: string | null): Promise<Fields[]> => sender(cfg, accountId).use((imsg) => imsg.chats(200));
  const isGroup = (chat: Fields): boolean => chat["is_group"] === true || textsOf(chat["participants"]).length > 1;
  const directory: NonNullable<IMessageChannel["directory"]> = {
    ...configuredDirectory(accounts, {
      user: (entry) => (bareEntry(entry).startsWith("chat") ? undefined : bareEntry(entry) || undefined),
      group: (key) => (/^\d+$/.test(key) ? `chat_id:${key}` : undefined),
    }),
    async listPeersLive(params) {
      const direct = (await chats(params.cfg, params.accountId)).filter((chat) => !isGroup(chat));
      return matching(
        direct.flatMap((chat) => {
          const id = handleOf(textOf(chat["identifier"]) ?? "");
          return id === "" ? [] : [defined({ kind: "user" as const, id, name: trimmedOf(chat["name"]) ?? trimmedOf(chat["contact_name"]) })];
        }),
        params,
      );
    },
    async listGroupsLive(params) {
      const groups = (await chats(params.cfg, params.accountId)).filter(isGroup);
      return matching(
        groups.map((chat) =>
          defined({ kind: "group" as const, id: `chat_id:${String(chat["id"])}`, name: trimmedOf(chat["name"]), handle: textOf(chat["identifier"]) }),
        ),
        params,
      );
    },
    async listGroupMembers({ cfg, accountId, groupId }) {
      const target = parseTarget(/^\d+$/.test(groupId) ? `chat_id:${groupId}` : groupId);
      const wanted = target.kind === "handle" ? undefined : target;
      const key = { chat_id: "id", chat_guid: "guid", chat_identifier: "identifier" } as const;
      const found = wanted && (await chats(cfg, accountId)).find((chat) => chat[key[wanted.kind]] === wanted.id);
      if (!found) throw unfit("directory", `"${groupId}" is not a recent chat`, "NOT_FOUND");
      return textsOf(found["participants"]).map((handle) => ({ kind: "user", id: handleOf(handle) }));
    },
  };
  const resolver: NonNullable<IMessageChannel["resolver"]> = {
    async resolveTargets({ cfg, accountId, inputs, kind }) {
      const addressed = new Map(inputs.map((input) => [input, idIn(input, kind)]));
      // The Mac is asked only for names.
      const recent = [...addressed.values()].includes(undefined) ? (await chats(cfg, accountId)).filter((chat) => isGroup(chat) === (kind === "group")) : [];
      return inputs.map((input) => {
        const id = addressed.get(input);
        return id === undefined ? byName(recent, input, kind) : { input, resolved: true, id };
      });
    },
  };
  return { directory, resolver };
}

/** The id that an entry is already: a number or mail address for people, `chat_id:` and the like for groups. */
function idIn(input: string, kind: "user" | "group"): string | undefined {
  try {
    const target = parseTarget(kind === "group" && /^\d+$/.test(input.trim()) ? `chat_id:${input.trim()}` : input);
    if (target.kind === "handle") return kind === "user" ? handleOf(target.handle) || undefined : undefined;
    return kind === "group" ? targetText(target) : undefined;
  } catch {
    return undefined;
  }
}

/** Exactly one recent chat must have the name. */
function byName(chats: readonly Fields[], input: string, kind: "user" | "group") {
  const wanted = input.trim().toLowerCase();
  const found = chats.filter((chat) => [chat["name"], chat["contact_name"]].some((name) => trimmedOf(name)?.toLowerCase() === wanted));
  const [only] = found;
  if (only === undefined) return { input, resolved: false, note: "no recent chat has this name; use a phone number, a mail address or chat_id:<number>" };
  if (found.length > 1) return { input, resolved: false, note: `several chats have this name: ${found.map(({ id }) => `chat_id:${String(id)}`).join(", ")}` };
  const id = kind === "group" ? `chat_id:${String(only["id"])}` : handleOf(textOf(only["identifier"]) ?? "");
  return { input, resolved: true, id, name: input.trim() };
}

function partsOf({ accounts, options, sender }: Deps) {
  const spec = {
    channel: "imessage",
    label: "iMessage",
    credentials: CREDENTIALS,
    accounts,
    idLabel: "imessageSenderId",
    normalizeEntry: bareEntry,
    isName: (entry: string) => entry !== "*" && !/^\+\d|@|^(?:chat_|chat|guid|urn:)/i.test(entry),
    nameAdvice: "Use phone numbers with their country code, mail addresses, or chat_id:<number>",
    nameReason: "anyone can send messages under any name",
    removedKeys: ["remoteHost", "service", "region"],
    setupKeys: ({ service, region }: { service?: string | undefined; region?: string | undefined }) =>
      defined({ service, region: region?.trim().toUpperCase() }),
    async probe(account: IMessageAccount, timeoutMs: number): Promise<Probe> {
      return runProbe(async () => {
        await withImsg(account, options, timeoutMs, (imsg) => imsg.chats(1));
        return defined({ remoteHost: await remoteHostOf(account) });
      });
    },
    login: ({ cliPath, dbPath = "" }: IMessageAccount) => JSON.stringify([cliPath, dbPath]),
    programs: ({ cliPath }: IMessageAccount) => [
      {
        command: cliPath,
        without: "nothing is received or sent",
        install: "On the Mac: brew install steipete/tap/imsg; elsewhere set channels.imessage.cliPath to a script that runs it there with ssh",
      },
    ],
    describe: ({ cliPath, dbPath }: IMessageAccount) => ({ cliPath, dbPath: dbPath ?? null }),
    warnings: ({ roots, remoteRoots }: IMessageAccount) =>
      [...roots, ...remoteRoots].some((root) => /^\/(?:\*\/?)*$/.test(root))
        ? [
            "channels.imessage.attachmentRoots contains a top-level folder: a message could refer to any file on the machine. List the folders of Messages instead.",
          ]
        : [],
    async notifyApproval({ cfg, id }: { cfg: HostConfig; id: string }) {
      await send(sender(cfg), { cfg, to: bareEntry(id), text: PAIRING_APPROVED_MESSAGE });
    },
    intro: [
      "Messages on a Mac that is signed in to iMessage, through the program imsg.",
      "The gateway runs on that Mac, or elsewhere with a script that runs imsg there with ssh.",
    ],
    who: ({ remoteHost }: Probe) => remoteHost && `the account of ${remoteHost}`,
    idExample: "+491701234567 or name@example.org",
    idsLabel: "Phone numbers and mail addresses",
  };
  const parts = createChannelParts<IMessageAccount, Probe>(spec);
  return { ...parts, onboarding: createOnboarding<IMessageAccount, Probe>(spec, parts) };
}

/** iMessage as a channel. */
export function createIMessagePlugin(options: IMessagePluginOptions = {}): IMessageChannel {
  const accounts = createAccounts();
  const waiting = options.waiting ?? realWaiting;
  const echoes = new Map<string, Echoes>();
  const base = {
    accounts,
    options,
    waiting,
    live: new Map<string, Imsg>(),
    echoesOf(accountId: string): Echoes {
      const known = echoes.get(accountId) ?? createEchoes(waiting.now);
      echoes.set(accountId, known);
      return known;
    },
  };
  const deps: Deps = { ...base, sender: createSenders(base) };
  return {
    id: "imessage",
    meta: { ...getChatChannelMeta("imessage"), aliases: ["imsg"] },
    capabilities: { chatTypes: ["direct", "group"], media: true, reply: true },
    reload: { configPrefixes: ["channels.imessage"] },
    ...partsOf(deps),
    outbound: outboundOf(deps),
    gateway: gatewayOf(deps),
    // `send` only: what imsg does not offer is refused by name.
    actions: createActions({ channel: "imessage", label: "iMessage", accounts, actions: {} }),
    ...aroundMessages(deps),
    ...directoryOf(deps),
    messaging: TARGETS.messaging,
    agentPrompt: { messageToolHints: () => ["iMessage shows text as it is, without Markdown. There are no reactions, edits or polls."] },
  };
}
