/** `runtime.channel.<id>`: what plugins reach of the channels that older hosts carried themselves. Messages take the way of all others, through the outbox. */
import { AppError } from "../../../base/errors.ts";
import type { Logger } from "../../../base/log/logger.ts";
import { receiptOf, type Receipt } from "../../../conversation/index.ts";
import type { ChannelDirectoryEntry, ChannelPlugin, ChannelResolveKind, HostConfig, PollInput } from "../../../protocol/index.ts";
import { DEFAULT_ACCOUNT } from "../../../routing/index.ts";
import type { PluginTalk } from "./parts.ts";

export interface TransportDeps {
  readonly talk: () => Pick<PluginTalk, "messages" | "channels">;
  readonly config: () => HostConfig;
  readonly log: Logger;
}

type Options = Readonly<Record<string, unknown>>;

const PROBE_MS = 10_000;

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value.trim() !== "" ? value.trim() : undefined);
const idOf = (value: unknown): string | undefined => (typeof value === "number" ? String(value) : textOf(value));

function defined<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [K in keyof T]: Exclude<T[K], undefined> };
}

/** The channels' names for the same things. */
function addressIn(channel: string, to: string, options: Options) {
  return defined({
    channel,
    to,
    accountId: textOf(options["accountId"]),
    threadId: idOf(options["messageThreadId"]) ?? idOf(options["threadId"]) ?? idOf(options["threadTs"]),
    silent: options["silent"] === true ? true : undefined,
  });
}

const urlsIn = ({ mediaUrl, mediaUrls }: Options): string[] =>
  [mediaUrl, ...(Array.isArray(mediaUrls) ? (mediaUrls as unknown[]) : [])].flatMap((url) => textOf(url) ?? []);

function senders({ talk }: TransportDeps, channel: string) {
  return {
    async message(to: string, text: string, options: Options = {}): Promise<Receipt> {
      const { buttons } = options;
      const request = defined({
        text,
        mediaUrls: urlsIn(options),
        replyToId: idOf(options["replyTo"]) ?? idOf(options["replyToId"]) ?? idOf(options["replyToMessageId"]),
        gifPlayback: options["gifPlayback"] === true ? true : undefined,
        asVoice: options["asVoice"] === true ? true : undefined,
        channelData: buttons === undefined ? undefined : { [channel]: { buttons } },
      });
      return receiptOf(await (await talk().messages()).send({ ...addressIn(channel, to, options), ...request }));
    },
    async poll(to: string, poll: PollInput, options: Options = {}): Promise<Receipt> {
      const isAnonymous = typeof options["isAnonymous"] === "boolean" ? { isAnonymous: options["isAnonymous"] } : {};
      return receiptOf(await (await talk().messages()).poll({ ...addressIn(channel, to, options), poll: { ...poll, ...isAnonymous } }));
    },
  };
}

/** The configuration with these credentials alone. */
function withCredentials(cfg: HostConfig, channel: string, keys: Options): HostConfig {
  const { accounts: _accounts, ...section } = (cfg.channels?.[channel] ?? {}) as Record<string, unknown>;
  return { ...cfg, channels: { ...cfg.channels, [channel]: { ...section, ...keys } } };
}

interface Found {
  readonly input: string;
  readonly resolved: boolean;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly note?: string | undefined;
}

function questions({ talk, config, log }: TransportDeps, channel: string, credential: string) {
  const runtime = {
    log: (...args: unknown[]) => log.info(args.map(String).join(" ")),
    error: (...args: unknown[]) => log.warn(args.map(String).join(" ")),
    exit(): never {
      throw new AppError("INTERNAL", "a plugin may not end the gateway");
    },
  };
  function plugin(): ChannelPlugin {
    const found = talk().channels.get(channel);
    if (!found)
      throw new AppError(
        "UNAVAILABLE",
        `the channel ${channel} is not loaded: configure it (openclaw channels add --channel ${channel}), and turn its plugin on`,
        {
          details: { channel },
        },
      );
    return found;
  }
  const lookUp =
    (kind: ChannelResolveKind) =>
    async ({ token, entries, accountId }: { readonly token?: string; readonly entries: readonly string[]; readonly accountId?: string }): Promise<Found[]> => {
      const cfg = token === undefined ? config() : withCredentials(config(), channel, { [credential]: token });
      return (await plugin().resolver?.resolveTargets({ cfg, accountId: accountId ?? null, inputs: [...entries], kind, runtime })) ?? [];
    };
  const list =
    (what: "listGroupsLive" | "listPeersLive") =>
    async (params: Options = {}): Promise<ChannelDirectoryEntry[]> => {
      const {
        cfg = config(),
        accountId,
        query,
        limit,
      } = params as Partial<Parameters<NonNullable<NonNullable<ChannelPlugin["directory"]>["listPeersLive"]>>[0]>;
      return (await plugin().directory?.[what]?.({ cfg, accountId, query, limit, runtime })) ?? [];
    };
  return {
    /** With other credentials than those of the configuration, where some are given. */
    async probe(given: unknown, timeoutMs: unknown): Promise<unknown> {
      const { config: accounts, status } = plugin();
      const cfg = given === undefined ? config() : withCredentials(config(), channel, { [credential]: given });
      const account = accounts.resolveAccount(cfg, DEFAULT_ACCOUNT);
      return status?.probeAccount?.({ account, timeoutMs: typeof timeoutMs === "number" ? timeoutMs : PROBE_MS, cfg });
    },
    groups: list("listGroupsLive"),
    peers: list("listPeersLive"),
    resolveGroups: lookUp("group"),
    resolveUsers: lookUp("user"),
  };
}

/** Members of `runtime.channel`, by their places. */
export function transportParts(deps: TransportDeps) {
  const send = (channel: string) => senders(deps, channel);
  const ask = (channel: string, credential: string) => questions(deps, channel, credential);
  const [discord, slack] = [ask("discord", "token"), ask("slack", "botToken")];
  return {
    "channel.discord.sendMessageDiscord": send("discord").message,
    "channel.discord.sendPollDiscord": send("discord").poll,
    "channel.discord.probeDiscord": discord.probe,
    "channel.discord.listDirectoryGroupsLive": discord.groups,
    "channel.discord.listDirectoryPeersLive": discord.peers,
    "channel.discord.resolveChannelAllowlist": discord.resolveGroups,
    "channel.discord.resolveUserAllowlist": discord.resolveUsers,
    "channel.slack.sendMessageSlack": send("slack").message,
    "channel.slack.probeSlack": slack.probe,
    "channel.slack.listDirectoryGroupsLive": slack.groups,
    "channel.slack.listDirectoryPeersLive": slack.peers,
    "channel.slack.resolveChannelAllowlist": slack.resolveGroups,
    "channel.slack.resolveUserAllowlist": slack.resolveUsers,
    "channel.telegram.sendMessageTelegram": send("telegram").message,
    "channel.telegram.sendPollTelegram": send("telegram").poll,
    "channel.telegram.probeTelegram": ask("telegram", "botToken").probe,
    "channel.signal.sendMessageSignal": send("signal").message,
    "channel.signal.probeSignal": ask("signal", "httpUrl").probe,
    "channel.imessage.sendMessageIMessage": send("imessage").message,
    "channel.imessage.probeIMessage": (timeoutMs: unknown) => ask("imessage", "cliPath").probe(undefined, timeoutMs),
    "channel.whatsapp.sendMessageWhatsApp": send("whatsapp").message,
    "channel.whatsapp.sendPollWhatsApp": send("whatsapp").poll,
  };
}
