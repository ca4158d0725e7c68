/** State of the accounts while the plugin is loaded: connections, DM channels, which messages are ours, and what runs. */
import type { ChannelPlugin } from "openclaw/plugin-sdk";
import { type AccountReader, type Fields, fieldsOf, type Transport, unfit, type Waiting } from "openclaw/plugin-sdk/channel-kit";
import { type DiscordAccount, flagIn, layersOf } from "./account.ts";
import type { Line } from "./gateway/line.ts";
import { isThread, readPlace } from "./inbound/places.ts";
import type { Answers } from "./interactions.ts";
import { codeOf, createRest, type Rest } from "./rest.ts";
import type { Sender } from "./send/sender.ts";
import { createServers, type Servers } from "./servers.ts";
import type { Config } from "./types.ts";

type Commands = Parameters<NonNullable<ChannelPlugin["nativeCommands"]>["register"]>[0]["commands"];

export interface AccountsOptions {
  readonly reader: AccountReader<DiscordAccount>;
  readonly waiting: Waiting;
  readonly apiRoot?: string | undefined;
  readonly transport?: Transport | undefined;
}

/** What is known of an account. */
export interface Known {
  readonly directs: Map<string, string>;
  /** Our own messages, for reactions to them. */
  readonly ours: Set<string>;
  /** Texts that threads may be named after, by message. */
  readonly texts: Map<string, string>;
  readonly servers: Servers;
  line: Line | undefined;
  answers: Answers | undefined;
  botId: string | undefined;
  /** What its menu offers. */
  commands: Commands;
}

export interface Accounts extends Disposable {
  account(cfg: Config, accountId?: string | null): DiscordAccount;
  list(cfg: Config): DiscordAccount[];
  rest(account: DiscordAccount): Rest;
  sender(cfg: Config, accountId?: string | null): Sender;
  of(accountId: string): Known;
}

const MAX_OURS = 5000;
const MAX_TEXTS = 500;
const ARCHIVE_MINUTES = 60;
const MAX_NAME = 100;
const THREAD_EXISTS = 160_004;

/** Adds, and lets the oldest go. */
export function bounded<T>(set: Set<T>, value: T, most = MAX_OURS): void {
  set.add(value);
  const [oldest] = set.size > most ? set : [];
  if (oldest !== undefined) set.delete(oldest);
}

export function notice(texts: Map<string, string>, messageId: string, text: string): void {
  texts.set(messageId, text.slice(0, MAX_NAME));
  const [oldest] = texts.size > MAX_TEXTS ? texts.keys() : [];
  if (oldest !== undefined) texts.delete(oldest);
}

/** Any channel with `autoThread`: without one nothing has to be looked up. */
const hasAutoThread = ({ guilds }: DiscordAccount): boolean =>
  Object.values(guilds).some((guild) =>
    Object.values(fieldsOf(fieldsOf(guild)?.["channels"]) ?? {}).some((channel) => fieldsOf(channel)?.["autoThread"] === true),
  );

/** A thread is named after the message that begins it, without what only a program reads. */
const threadName = (text: string): string =>
  text
    .replaceAll(/<[@#:a][^>]*>/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, MAX_NAME) || "Conversation";

export function createAccounts({ reader, waiting, apiRoot, transport }: AccountsOptions): Accounts {
  const rests = new Map<string, { readonly made: string; readonly rest: Rest }>();
  const known = new Map<string, Known>();
  const channels = new Map<string, Promise<Fields>>();

  function rest(account: DiscordAccount): Rest {
    const made = JSON.stringify([account.token, account.proxy]);
    const before = rests.get(account.accountId);
    if (before?.made === made) return before.rest;
    before?.rest.close();
    const next = createRest({ token: account.token, apiRoot, proxy: account.proxy, waiting, transport });
    rests.set(account.accountId, { made, rest: next });
    return next;
  }

  function of(accountId: string): Known {
    const found = known.get(accountId) ?? {
      directs: new Map<string, string>(),
      ours: new Set<string>(),
      texts: new Map<string, string>(),
      servers: createServers(),
      line: undefined,
      answers: undefined,
      botId: undefined,
      commands: [],
    };
    known.set(accountId, found);
    return found;
  }

  /** The thread's id is that of the message it begins with, so a second try finds the same. */
  async function autoThread(account: DiscordAccount, channelId: string, answersId: string): Promise<string | undefined> {
    if (!hasAutoThread(account) || !/^\d+$/.test(answersId)) return undefined;
    const client = rest(account);
    const asked = channels.get(channelId) ?? client.fields("GET", `/channels/${channelId}`);
    channels.set(channelId, asked);
    const place = readPlace(await asked.catch(() => channels.delete(channelId) && undefined));
    if (!place || place.guildId === undefined || isThread(place)) return undefined;
    const guildSlug = of(account.accountId).servers.slugOf(place.guildId);
    if (flagIn(layersOf(account, { guildId: place.guildId, guildSlug, channelId, name: place.name }), "autoThread") !== true) return undefined;
    const name = threadName(of(account.accountId).texts.get(answersId) ?? "");
    const json = { name, auto_archive_duration: ARCHIVE_MINUTES };
    try {
      await client.call("POST", `/channels/${channelId}/messages/${answersId}/threads`, { json, isPatient: true });
    } catch (error) {
      // A message that is gone, or a missing permission: the answer goes to the channel.
      if (codeOf(error) === undefined) throw error;
      if (codeOf(error) !== THREAD_EXISTS) return undefined;
    }
    return answersId;
  }

  return {
    account: (cfg, accountId) => reader.read(cfg, accountId),
    list: (cfg) => reader.listAccountIds(cfg).map((id) => reader.read(cfg, id)),
    rest,
    of,
    sender(cfg, accountId) {
      const account = reader.read(cfg, accountId);
      if (account.token === "") throw unfit("send", `Discord account "${account.accountId}" has no bot token; set channels.discord.token or DISCORD_BOT_TOKEN`);
      const { directs, ours, answers } = of(account.accountId);
      return {
        account,
        rest: rest(account),
        answers,
        directs,
        sent: (messageId) => bounded(ours, messageId),
        autoThread: (channelId, answersId) => autoThread(account, channelId, answersId),
      };
    },
    [Symbol.dispose]() {
      for (const { rest: client } of rests.values()) client.close();
      rests.clear();
    },
  };
}
