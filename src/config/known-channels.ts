/**
 * The catalogue of known channels: those of this program and of the documented system, and what differs in each of them from the rest. Plugins of published
 * channels do not declare these differences, so they are kept here, by id; everywhere else a channel is asked about its traits, never by its name.
 */
export interface KnownChannel {
  readonly id: string;
  /** Its plugin comes with this program. */
  readonly bundled?: boolean;
  /** One of those that lists show first, in this order. A tool of the same name is not there in a sandbox. */
  readonly listedFirst?: boolean;
  /** Its name, where the id is not spelled like it. */
  readonly label?: string;
  /** Other names in configurations and calls. */
  readonly aliases?: readonly string[];
  /** Other names on the command line only. */
  readonly shortNames?: readonly string[];
  /** Threads are topics of a chat, or chats of their own; elsewhere they are threads of a chat. */
  readonly threads?: "topic" | "own";
  /** Where its section lists the chats that are answered; `groups` when absent. */
  readonly groupMap?: {
    /** Key of the servers that contain chats; each has its own map. They are identified by id: anybody can copy another server's name. */
    readonly spaces?: "guilds";
    /** Key of the chats. */
    readonly chats: "groups" | "channels";
    /** How a key may name a chat other than by id: `#name`, or also without the `#`. */
    readonly named?: "hash" | "plain";
    /** There is no separate list of senders: in a listed chat everybody may write, or those in `users` and `roles`. */
    readonly listedIsEnough?: boolean;
    /** Group chats are messages with several people, not channels: `dm.groupEnabled` and `dm.groupChannels` let them in. */
    readonly people?: boolean;
  };
  /** Ids of chats that differ only in case are different chats. */
  readonly casedChats?: boolean;
  /** Senders approved by pairing may write in groups, too. */
  readonly pairedInGroups?: boolean;
  /** `allowFrom` is for direct messages only. */
  readonly directAllowFrom?: boolean;
  /** Senders are known by numbers. */
  readonly numericIds?: boolean;
  /** Its menus offer commands: without being asked to, or when the configuration says so. */
  readonly nativeCommands?: "automatic" | "on-request";
  /** Who may use slash commands is named by guild, or by channel of a workspace. */
  readonly slashCommands?: "guilds" | "workspace";
  /** Buttons below a message carry this many bytes, and are sent as `channelData.<id>.buttons`. */
  readonly buttonBytes?: number;
  /** Tables are shown as lists: its formatting has neither tables nor blocks of code worth reading. */
  readonly tablesAsBullets?: boolean;
  /** Flags that `channels add` takes for it. */
  readonly setupFlags?: readonly string[];
  /** Variables that set it up without a line of configuration: all of one group have to be there. */
  readonly variables?: readonly (readonly string[])[];
  /** It has no token: a device that was linked leaves its credentials in a folder of this name. */
  readonly linkedByDevice?: boolean;
  /** Its connection settings stand in this section of the configuration; its own section is read with each use. */
  readonly connectionSection?: string;
  /** Spoken answers go as voice notes, for which it wants Ogg Opus. */
  readonly voiceNotes?: boolean;
  /** Largest file that is taken, in MB, where the configuration says nothing. */
  readonly mediaMaxMb?: number;
}

export const KNOWN_CHANNELS: readonly KnownChannel[] = [
  {
    id: "telegram",
    bundled: true,
    voiceNotes: true,
    listedFirst: true,
    shortNames: ["tg"],
    threads: "topic",
    pairedInGroups: true,
    numericIds: true,
    nativeCommands: "automatic",
    buttonBytes: 64,
    setupFlags: ["token", "token-file", "use-env"],
    variables: [["TELEGRAM_BOT_TOKEN"]],
  },
  {
    id: "whatsapp",
    listedFirst: true,
    voiceNotes: true,
    bundled: true,
    label: "WhatsApp",
    tablesAsBullets: true,
    setupFlags: ["auth-dir"],
    linkedByDevice: true,
    connectionSection: "web",
    mediaMaxMb: 50,
  },
  {
    id: "discord",
    bundled: true,
    listedFirst: true,
    threads: "own",
    groupMap: { spaces: "guilds", chats: "channels", named: "plain", listedIsEnough: true },
    nativeCommands: "automatic",
    slashCommands: "guilds",
    buttonBytes: 100,
    setupFlags: ["token", "use-env"],
    variables: [["DISCORD_BOT_TOKEN"]],
    mediaMaxMb: 8,
  },
  {
    id: "irc",
    bundled: true,
    listedFirst: true,
    aliases: ["internet-relay-chat"],
    pairedInGroups: true,
    directAllowFrom: true,
    variables: [["IRC_HOST", "IRC_NICK"]],
  },
  {
    id: "googlechat",
    bundled: true,
    casedChats: true,
    listedFirst: true,
    label: "Google Chat",
    buttonBytes: 2000,
    aliases: ["google-chat", "gchat"],
    setupFlags: ["token", "token-file", "use-env", "webhook-path", "webhook-url", "audience-type", "audience"],
    mediaMaxMb: 20,
  },
  {
    id: "slack",
    bundled: true,
    listedFirst: true,
    groupMap: { chats: "channels", named: "hash", listedIsEnough: true, people: true },
    nativeCommands: "on-request",
    slashCommands: "workspace",
    buttonBytes: 2000,
    setupFlags: ["bot-token", "app-token", "use-env"],
    variables: [["SLACK_BOT_TOKEN"], ["SLACK_APP_TOKEN"], ["SLACK_USER_TOKEN"]],
    mediaMaxMb: 20,
  },
  {
    id: "signal",
    bundled: true,
    casedChats: true,
    listedFirst: true,
    pairedInGroups: true,
    tablesAsBullets: true,
    setupFlags: ["signal-number", "cli-path", "http-url", "http-host", "http-port"],
    mediaMaxMb: 8,
  },
  {
    id: "imessage",
    bundled: true,
    listedFirst: true,
    label: "iMessage",
    aliases: ["imsg"],
    setupFlags: ["cli-path", "db-path", "service", "region"],
    mediaMaxMb: 16,
  },
  { id: "msteams", label: "Microsoft Teams" },
  { id: "matrix", casedChats: true, setupFlags: ["homeserver", "user-id", "access-token", "password", "device-name", "initial-sync-limit", "use-env"] },
  {
    id: "mattermost",
    bundled: true,
    pairedInGroups: true,
    nativeCommands: "on-request",
    buttonBytes: 1000,
    setupFlags: ["bot-token", "http-url", "use-env"],
    variables: [["MATTERMOST_BOT_TOKEN", "MATTERMOST_URL"]],
  },
  { id: "bluebubbles", setupFlags: ["http-url", "password", "webhook-path"] },
  { id: "line", casedChats: true, pairedInGroups: true },
  { id: "tlon", setupFlags: ["ship", "url", "code", "group-channels", "dm-allowlist", "auto-discover-channels", "no-auto-discover-channels"] },
  ..."feishu nextcloud-talk nostr twitch zalo zalouser synology-chat qqbot wecom dingtalk webchat echo".split(" ").map((id) => ({ id })),
];

/** Where no channel is named and several could be meant; also the one that a login without a name is for. Documented. */
export const DEFAULT_CHANNEL = "whatsapp";

const BY_ID: ReadonlyMap<string, KnownChannel> = new Map(KNOWN_CHANNELS.map((channel) => [channel.id, channel]));
const ALIASES: ReadonlyMap<string, string> = new Map(KNOWN_CHANNELS.flatMap(({ id, aliases = [] }) => aliases.map((alias) => [alias, id] as const)));

/** Whether a channel shows spoken answers as voice notes. */
export const takesVoiceNotes = (channel: string): boolean => BY_ID.get(channel.trim().toLowerCase())?.voiceNotes === true;

export const CHANNEL_IDS: readonly string[] = KNOWN_CHANNELS.map(({ id }) => id);
export const CHANNELS_LISTED_FIRST: readonly string[] = KNOWN_CHANNELS.filter(({ listedFirst }) => listedFirst === true).map(({ id }) => id);

/** What is known about a channel: no more than its id when it is none of these. */
export const knownChannel = (id: string): KnownChannel => BY_ID.get(id) ?? { id };

/** The one spelling of a channel's id. */
export function channelKey(written: string): string {
  const id = written.trim().toLowerCase();
  return ALIASES.get(id) ?? id;
}
