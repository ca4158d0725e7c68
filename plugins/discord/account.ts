/** One account with everything that its configuration says. */
import {
  type AccountReader,
  type ChannelAccount,
  choiceOf,
  createAccountReader,
  type CredentialSpec,
  entriesOf,
  type Fields,
  fieldsOf,
  flagOf,
  listOf,
  numberOf,
  textOf,
} from "openclaw/plugin-sdk/channel-kit";
import { guildKeyOf } from "./servers.ts";

export interface Presence {
  readonly since: null;
  readonly activities: readonly Readonly<Record<string, unknown>>[];
  readonly status: string;
  readonly afk: false;
}

export interface DiscordAccount extends ChannelAccount {
  readonly token: string;
  readonly guilds: Fields;
  readonly replyToMode: "off" | "first" | "all";
  /** Lines of one message. */
  readonly maxLines: number;
  readonly mediaMaxBytes: number;
  readonly tables: "off" | "bullets" | "code";
  readonly streaming: "off" | "partial";
  readonly proxy: string | undefined;
  readonly intents: number;
  readonly presence: Presence | undefined;
  /** Messages that PluralKit posts count as their writer's. */
  readonly pluralkit: { readonly token: string | undefined } | undefined;
  /** Who may press the buttons of a question for approval; undefined: everybody who may give commands. */
  readonly approvers: readonly string[] | undefined;
  readonly accentColor: number | undefined;
  readonly actions: Readonly<Record<string, boolean | undefined>>;
}

export const CREDENTIALS: readonly CredentialSpec[] = [
  {
    key: "token",
    env: "DISCORD_BOT_TOKEN",
    inputs: ["token", "botToken"],
    label: "Bot token",
    whenRefused: "On the page Bot of the developer portal choose Reset Token, and set channels.discord.token",
    check: (value) => (/\s|["']/.test(value) ? "the token contains blanks or quotes; copy it again from the developer portal" : undefined),
  },
];

const INTENTS = {
  guilds: 0,
  members: 1,
  presences: 8,
  guildMessages: 9,
  guildReactions: 10,
  directMessages: 12,
  directReactions: 13,
  content: 15,
  guildPolls: 24,
  directPolls: 25,
} as const;
const MAX_LINES = 17;
const MEDIA_MB = 8;

function intentsOf(config: Fields): number {
  const wanted = fieldsOf(config["intents"]) ?? {};
  const { guilds, members, presences, guildMessages, guildReactions, directMessages, directReactions, content, guildPolls, directPolls } = INTENTS;
  const bits: number[] = [
    guilds,
    guildMessages,
    guildReactions,
    directMessages,
    directReactions,
    content,
    guildPolls,
    directPolls,
    ...(wanted["guildMembers"] === true ? [members] : []),
    ...(wanted["presence"] === true ? [presences] : []),
  ];
  return bits.reduce((sum, bit) => sum | (1 << bit), 0);
}

const CUSTOM = 4;
const STREAMING = 1;

/** In the form that the gateway takes. A custom status is text under a name of its own. */
export function presenceOf(config: Fields): Presence | undefined {
  const activity = textOf(config["activity"])?.trim();
  const status = textOf(config["status"]);
  if (!activity && status === undefined) return undefined;
  const type = numberOf(config["activityType"]) ?? CUSTOM;
  const url = textOf(config["activityUrl"]);
  const shown = type === CUSTOM ? { name: "Custom Status", type, state: activity } : { name: activity, type, ...(url === undefined ? {} : { url }) };
  return { since: null, activities: activity ? [shown] : [], status: status ?? "online", afk: false };
}

function presenceProblems(config: Fields): string[] {
  const [activity, type, url] = [textOf(config["activity"]), numberOf(config["activityType"]), textOf(config["activityUrl"])];
  return [
    ...((type !== undefined || url !== undefined) && activity === undefined ? ["channels.discord.activityType and activityUrl need activity"] : []),
    ...(type === STREAMING && url === undefined ? ["channels.discord.activityType 1 (streaming) needs activityUrl"] : []),
    ...(url !== undefined && type !== STREAMING ? ["channels.discord.activityUrl needs activityType 1 (streaming)"] : []),
  ];
}

/** Ids beyond 2^53 lose digits as numbers: such an entry would name someone else. */
function numberProblems(config: Fields): string[] {
  const dm = fieldsOf(config["dm"]) ?? {};
  const lists = { allowFrom: config["allowFrom"], "dm.allowFrom": dm["allowFrom"], "dm.groupChannels": dm["groupChannels"] };
  return Object.entries(lists).flatMap(([key, list]) =>
    listOf(list).some((entry) => typeof entry === "number") ? [`channels.discord.${key} contains a number; put Discord ids in quotes`] : [],
  );
}

/** Such a number names nobody; the list stays closed to everybody else. */
export function inexactIds({ guilds }: Pick<DiscordAccount, "guilds">): readonly string[] {
  const inexact = (at: string, section: Fields | undefined): string[] =>
    ["users", "roles"].flatMap((key) => {
      const has = listOf(section?.[key]).some((entry) => typeof entry === "number" && !Number.isSafeInteger(entry));
      return has ? [`${at}.${key}`] : [];
    });
  return Object.entries(guilds).flatMap(([key, raw]) => {
    const [guild, at] = [fieldsOf(raw), `channels.discord.guilds[${JSON.stringify(key)}]`];
    const channels = Object.entries(fieldsOf(guild?.["channels"]) ?? {});
    return [...inexact(at, guild), ...channels.flatMap(([name, channel]) => inexact(`${at}.channels[${JSON.stringify(name)}]`, fieldsOf(channel)))];
  });
}

function pluralkitOf(config: Fields): DiscordAccount["pluralkit"] {
  const keys = fieldsOf(config["pluralkit"]);
  return keys?.["enabled"] === true ? { token: textOf(keys["token"]) } : undefined;
}

function read(base: ChannelAccount): DiscordAccount {
  const { config } = base;
  const approvals = fieldsOf(config["execApprovals"]);
  const color = textOf(fieldsOf(fieldsOf(config["ui"])?.["components"])?.["accentColor"]);
  return {
    ...base,
    token: (base.credentials["token"] ?? "").replace(/^Bot\s+/i, ""),
    guilds: fieldsOf(config["guilds"]) ?? {},
    replyToMode: choiceOf(config["replyToMode"], ["off", "first", "all"], "off"),
    maxLines: Math.max(1, numberOf(config["maxLinesPerMessage"]) ?? MAX_LINES),
    mediaMaxBytes: (numberOf(config["mediaMaxMb"]) ?? MEDIA_MB) * 1024 * 1024,
    tables: choiceOf(fieldsOf(config["markdown"])?.["tables"], ["off", "bullets", "code"], "code"),
    streaming: choiceOf(config["streaming"], ["off", "partial"], "off"),
    proxy: textOf(config["proxy"])?.trim() || undefined,
    intents: intentsOf(config),
    presence: presenceOf(config),
    pluralkit: pluralkitOf(config),
    approvers: approvals?.["enabled"] === true ? entriesOf(approvals["approvers"]).map(bareId) : undefined,
    accentColor: color === undefined ? undefined : Number.parseInt(color.replace(/^#/, ""), 16),
    actions: (fieldsOf(config["actions"]) ?? {}) as DiscordAccount["actions"],
    problems: [...base.problems, ...presenceProblems(config), ...numberProblems(config)],
  };
}

/** `<@123>`, `user:123`, `discord:123` → `123`. */
export const bareId = (entry: string): string =>
  entry
    .trim()
    .replace(/^<@!?(\d+)>$/, "$1")
    .replace(/^(?:(?:discord|user|pk):)+/i, "");

export const isName = (entry: string): boolean => entry !== "*" && !/^\d+$/.test(entry);

export const createReader = (env?: (name: string) => string | undefined): AccountReader<DiscordAccount> =>
  createAccountReader({ channel: "discord", credentials: CREDENTIALS, read, ...(env ? { env } : {}) });

/** Where something happens, as the configuration may name it. */
export interface Location {
  readonly guildId: string | undefined;
  /** The server's name, where it may stand for the id. */
  readonly guildSlug?: string | undefined;
  readonly channelId: string;
  readonly parentId?: string | undefined;
  /** Of the channel, or of the one that a thread is in. */
  readonly name?: string | undefined;
}

/** The sections for a channel of a server, nearest first: the channel, `*` beside it, the server, `*` beside that. */
export function layersOf({ guilds }: Pick<DiscordAccount, "guilds">, { guildId, guildSlug, channelId, parentId, name }: Location): readonly Fields[] {
  if (guildId === undefined) return [];
  const guild = fieldsOf(guilds[guildKeyOf(guilds, guildId, guildSlug) ?? "*"]);
  const channels = fieldsOf(guild?.["channels"]) ?? {};
  const bare = name?.replace(/^#/, "");
  const keys = [channelId, parentId, bare && `#${bare}`, bare].filter((key): key is string => key !== undefined && key !== "");
  const key = keys.find((one) => Object.hasOwn(channels, one));
  const own = key === undefined ? undefined : fieldsOf(channels[key]);
  return [own, fieldsOf(channels["*"]), guild, fieldsOf(guilds["*"])].filter((layer) => layer !== undefined);
}

/** Whether the configuration says anything about a server, or lets everybody in. */
export const readsGuild = ({ guilds, groupPolicy }: Pick<DiscordAccount, "guilds" | "groupPolicy">, guildId: string, guildSlug?: string): boolean =>
  groupPolicy !== "disabled" && (groupPolicy === "open" || guildKeyOf(guilds, guildId, guildSlug) !== undefined || Object.hasOwn(guilds, "*"));

/** Whether roles decide about anybody: then the roles of people have to be known. */
export const usesRoles = (layers: readonly Fields[]): boolean => layers.some((layer) => listOf(layer["roles"]).length > 0);

export const flagIn = (layers: readonly Fields[], key: string): boolean | undefined =>
  layers.map((layer) => flagOf(layer[key])).find((flag) => flag !== undefined);
