/** The channel, put together. */
import { type ChannelPlugin, getChatChannelMeta, PAIRING_APPROVED_MESSAGE } from "openclaw/plugin-sdk";
import { listDirectoryEntriesFromSources, toDirectoryEntries } from "openclaw/plugin-sdk/directory-runtime";
import { type AccountReader, createChannelParts, createOnboarding, filesNotSent, realWaiting, type Waiting } from "openclaw/plugin-sdk/channel-kit";
import { createAccounts, type Environment, type IrcAccount, TEXT_LIMIT } from "./account.ts";
import { type SessionTimes, TIMES } from "./connection/session.ts";
import { addressPattern } from "./inbound/message.ts";
import { allowEntry } from "./inbound/sender.ts";
import { createLive, type Live, sendPlain } from "./live.ts";
import { createPlain, type Plain } from "./lines.ts";
import { runAccount } from "./run.ts";
import { describeChannel, type IrcProbe, probe } from "./status.ts";
import { normalTarget, parseTarget } from "./target.ts";

type HostConfig = Parameters<AccountReader<IrcAccount>["read"]>[0];

export interface IrcPluginOptions {
  readonly env?: Environment | undefined;
  readonly waiting?: Waiting | undefined;
  readonly times?: SessionTimes | undefined;
  /** Certificates that are trusted instead of the usual ones. */
  readonly ca?: string | undefined;
}

export type IrcChannel = ChannelPlugin<IrcAccount, IrcProbe>;

interface Parts {
  readonly accounts: AccountReader<IrcAccount>;
  readonly live: Live;
  readonly plain: Plain;
  readonly waiting: Waiting;
}

async function send(
  { accounts, live, waiting }: Parts,
  ctx: { cfg: HostConfig; to: string; text: string; accountId?: string | null | undefined; signal?: AbortSignal | undefined; nonce?: string | undefined },
) {
  const { accountId } = accounts.read(ctx.cfg, ctx.accountId);
  const { target } = await sendPlain(live.of(accountId), ctx.to, ctx.text, ctx.signal);
  // IRC gives no id to what one sends.
  return { channel: "irc", messageId: ctx.nonce ?? `irc-${waiting.now()}`, chatId: target, timestamp: waiting.now() };
}

/** Nothing but text can be sent: a file goes as its address. */
function withLink(text: string, mediaUrl: string | undefined): string {
  if (mediaUrl === undefined) return text;
  if (!/^https?:\/\//i.test(mediaUrl))
    throw filesNotSent([`${mediaUrl.split(/[/\\]/).at(-1)}: IRC carries text only, so a file has to be a link that starts with http`]);
  return text.trim() === "" ? mediaUrl : `${text}\n${mediaUrl}`;
}

function outboundOf(parts: Parts): NonNullable<IrcChannel["outbound"]> {
  return {
    deliveryMode: "direct",
    chunkerMode: "text",
    // One message each, so that what went out is known line by line.
    chunker: (text, limit) => parts.plain.lines(text, limit),
    textChunkLimit: TEXT_LIMIT,
    retry: { attempts: 10, minDelayMs: 1000, maxDelayMs: 60_000, jitter: 0.1 },
    resolveTarget({ to }) {
      try {
        return { ok: true, to: parseTarget(to ?? "").name };
      } catch (error) {
        return { ok: false, error: error as Error };
      }
    },
    sendText: async (ctx) => send(parts, ctx),
    sendMedia: async (ctx) => send(parts, { ...ctx, text: withLink(ctx.text, ctx.mediaUrl) }),
  };
}

const unresolved = (note: string) => ({ resolved: false, note });

/** A channel is its name. Whether it exists shows when the bot joins it. */
function channelIn(input: string) {
  const name = normalTarget(/^(?:irc:)?(?:channel:|[#&+!])/i.test(input.trim()) ? input : `channel:${input.trim()}`);
  return name === undefined ? unresolved("not a channel name, such as #help") : { resolved: true, id: name.toLowerCase() };
}

/** Anyone can take a nick, so one is nobody's id. */
function personIn(input: string) {
  const entry = allowEntry(input);
  return /^account:|[!@]/.test(entry)
    ? { resolved: true, id: entry }
    : unresolved("anyone can take a nick; use account:<services account> or nick!user@host, which /whoami shows");
}

/** Names, targets and lists. */
function conventions(parts: Parts): Pick<IrcChannel, "mentions" | "messaging" | "directory" | "resolver" | "agentPrompt" | "streaming"> {
  const { accounts, live } = parts;
  return {
    streaming: { blockStreamingCoalesceDefaults: { minChars: 300, idleMs: 1000 } },
    mentions: {
      stripPatterns({ ctx, cfg }) {
        const account = accounts.read(cfg ?? {}, ctx.AccountId);
        const nicks = new Set([live.of(account.accountId)?.session.nick ?? account.nick, account.nick]);
        return [...nicks].filter(Boolean).map(addressPattern);
      },
    },
    messaging: {
      normalizeTarget: normalTarget,
      targetResolver: { looksLikeId: (raw) => normalTarget(raw) !== undefined, hint: "#channel or nick" },
    },
    agentPrompt: {
      messageToolHints: () => [
        "IRC shows plain text without formatting; each line is a separate message, so keep answers short. Files can be sent as links only.",
      ],
    },
    resolver: {
      resolveTargets: async ({ inputs, kind }) => inputs.map((input) => ({ input, ...(kind === "group" ? channelIn(input) : personIn(input)) })),
    },
    directory: {
      async self({ cfg, accountId }) {
        const account = accounts.read(cfg, accountId);
        const nick = live.of(account.accountId)?.session.nick ?? account.nick;
        return nick === "" ? null : { kind: "user", id: nick, name: nick };
      },
      listPeers: async ({ cfg, accountId, query, limit }) => {
        const { allowFrom, groupAllowFrom } = accounts.read(cfg, accountId);
        return listDirectoryEntriesFromSources({ kind: "user", sources: [allowFrom, groupAllowFrom], normalizeId: allowEntry, query, limit });
      },
      listGroups: async ({ cfg, accountId, query, limit }) => {
        const account = accounts.read(cfg, accountId);
        return listDirectoryEntriesFromSources({
          kind: "group",
          sources: [account.channels.map(({ name }) => name), Object.keys(account.groups)],
          query,
          limit,
        });
      },
      listGroupsLive: async ({ cfg, accountId, query, limit }) => {
        const line = live.of(accounts.read(cfg, accountId).accountId);
        const joined = (line?.joins.states() ?? []).flatMap((channel) => (channel.joined ? channel.name : []));
        return toDirectoryEntries("group", joined, { query, limit });
      },
    },
  };
}

/** IRC as a channel. */
export function createIrcPlugin(options: IrcPluginOptions = {}): IrcChannel {
  const accounts = createAccounts(options.env ?? {});
  const waiting = options.waiting ?? realWaiting;
  const times = options.times ?? TIMES;
  const parts: Parts = { accounts, waiting, live: createLive(), plain: createPlain() };
  const described = describeChannel(accounts, (account, timeoutMs) => probe(account, parts.live.of(account.accountId), times, timeoutMs, options.ca));
  const made = createChannelParts({
    ...described,
    async notifyApproval({ cfg, id }) {
      // An account can have any nick at the moment.
      if (!id.startsWith("account:")) await send(parts, { cfg, to: id, text: PAIRING_APPROVED_MESSAGE });
    },
  });
  return {
    id: "irc",
    meta: { ...getChatChannelMeta("irc"), aliases: ["internet-relay-chat"] },
    capabilities: { chatTypes: ["direct", "group"], blockStreaming: true },
    reload: { configPrefixes: ["channels.irc"] },
    ...made,
    onboarding: createOnboarding(described),
    outbound: outboundOf(parts),
    gateway: {
      async startAccount(ctx) {
        await parts.plain.load();
        await runAccount(ctx, { waiting, times, ca: options.ca, live: (line) => parts.live.set(ctx.accountId, line) });
      },
    },
    ...conventions(parts),
  };
}
