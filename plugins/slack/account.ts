/** What the configuration says about an account. */

import {
  type ChannelAccount,
  choiceOf,
  createAccountReader,
  type CredentialSpec,
  entriesOf,
  type Fields,
  fieldsOf,
  flagOf,
  numberOf,
  textOf,
} from "openclaw/plugin-sdk/channel-kit";

import type { ReplyToMode } from "./types.ts";

export interface SlackAccount extends ChannelAccount {
  readonly mode: "socket" | "http";
  readonly botToken: string;
  readonly appToken: string;
  readonly userToken: string;
  readonly signingSecret: string;
  /** The user's token only reads. */
  readonly isUserReadOnly: boolean;
  readonly webhookPath: string;
  /** By id or `#name`. */
  readonly channels: Fields;
  readonly tables: "off" | "bullets" | "code";
  readonly hasNativeStream: boolean;
  readonly streamMode: "replace" | "append" | "status_final" | "off";
  readonly reactionNotices: "off" | "own" | "all" | "allowlist";
  readonly reactionAllowlist: readonly string[];
  readonly threads: { readonly history: "thread" | "channel"; readonly initialLimit: number };
  readonly historyLimit: number;
  readonly slash: { readonly isOn: boolean; readonly name: string; readonly sessionPrefix: string; readonly isEphemeral: boolean };
  readonly actions: Record<string, boolean | undefined>;
  readonly maxBytes: number;
  readonly configWrites: boolean;
}

const isHttp = (config: Fields): boolean => config["mode"] === "http";
const isToken = (prefix: string) => (value: string) => (value.startsWith(prefix) ? undefined : `expected a token that starts with ${prefix}`);
/** A user's token that may write stands in for a bot's. */
const isUserAccount = (config: Fields): boolean => textOf(config["userToken"]) !== undefined && config["userTokenReadOnly"] === false;

export const CREDENTIALS: readonly CredentialSpec[] = [
  {
    key: "botToken",
    env: "SLACK_BOT_TOKEN",
    inputs: ["botToken", "token"],
    label: "Bot token",
    whenRefused: "Install the app again and copy the Bot User OAuth Token from OAuth & Permissions into channels.slack.botToken",
    placeholder: "xoxb-…",
    check: isToken("xoxb-"),
    isOptional: isUserAccount,
  },
  {
    key: "appToken",
    env: "SLACK_APP_TOKEN",
    inputs: ["appToken"],
    label: "App token",
    placeholder: "xapp-…",
    check: isToken("xapp-"),
    isOptional: isHttp,
    isUsed: (config) => !isHttp(config),
  },
  {
    key: "signingSecret",
    inputs: ["signingSecret"],
    label: "Signing secret",
    whenRefused: "Copy the Signing Secret from Basic Information, App Credentials into channels.slack.signingSecret",
    isOptional: (config) => !isHttp(config),
    isUsed: isHttp,
  },
  {
    key: "userToken",
    env: "SLACK_USER_TOKEN",
    label: "User token",
    placeholder: "xoxp-… (optional: search, and reading where the bot is not)",
    check: isToken("xoxp-"),
    isOptional: true,
  },
];

export const DEFAULT_WEBHOOK_PATH = "/slack/events";
const DEFAULT_MEDIA_MB = 20;
const DEFAULT_HISTORY = 50;

const modeProblems = ({ mode }: Fields): string[] =>
  mode === undefined || mode === "socket" || mode === "http" ? [] : [`channels.slack.mode: expected socket or http, not ${JSON.stringify(mode)}`];

function read(account: ChannelAccount): SlackAccount {
  const { config, credentials } = account;
  const thread = fieldsOf(config["thread"]) ?? {};
  const slash = fieldsOf(config["slashCommand"]) ?? {};
  const channels = fieldsOf(config["channels"]) ?? {};
  return {
    ...account,
    problems: [...account.problems, ...modeProblems(config)],
    groups: channels,
    mode: isHttp(config) ? "http" : "socket",
    botToken: credentials["botToken"] ?? "",
    appToken: credentials["appToken"] ?? "",
    userToken: credentials["userToken"] ?? "",
    signingSecret: credentials["signingSecret"] ?? "",
    isUserReadOnly: flagOf(config["userTokenReadOnly"]) ?? true,
    webhookPath: textOf(config["webhookPath"]) ?? DEFAULT_WEBHOOK_PATH,
    channels,
    tables: choiceOf(fieldsOf(config["markdown"])?.["tables"], ["off", "bullets", "code"], "code"),
    hasNativeStream: flagOf(config["streaming"]) ?? true,
    streamMode: choiceOf(config["streamMode"], ["replace", "append", "status_final", "off"], "replace"),
    reactionNotices: choiceOf(config["reactionNotifications"], ["off", "own", "all", "allowlist"], "own"),
    reactionAllowlist: entriesOf(config["reactionAllowlist"]).map(userEntry),
    threads: { history: choiceOf(thread["historyScope"], ["thread", "channel"], "thread"), initialLimit: numberOf(thread["initialHistoryLimit"]) ?? 20 },
    historyLimit: numberOf(config["historyLimit"]) ?? DEFAULT_HISTORY,
    slash: {
      isOn: flagOf(slash["enabled"]) ?? false,
      name: (textOf(slash["name"]) ?? "openclaw").replace(/^\//, ""),
      sessionPrefix: textOf(slash["sessionPrefix"]) ?? "slack:slash",
      isEphemeral: flagOf(slash["ephemeral"]) ?? true,
    },
    actions: (fieldsOf(config["actions"]) ?? {}) as Record<string, boolean | undefined>,
    maxBytes: (numberOf(config["mediaMaxMb"]) ?? DEFAULT_MEDIA_MB) * 1024 * 1024,
    configWrites: flagOf(config["configWrites"]) ?? true,
  };
}

export const accounts = createAccountReader<SlackAccount>({ channel: "slack", credentials: CREDENTIALS, read });

/** `slack:U1`, `user:U1`, `<@U1>` → `U1`. Ids are capitals, however a list writes them. */
export function userEntry(entry: string): string {
  const bare = entry
    .trim()
    .replace(/^(?:(?:slack|user):)+/i, "")
    .replace(/^<@([A-Z0-9]+)(?:\|[^>]*)?>$/i, "$1");
  return isUserId(bare.toUpperCase()) ? bare.toUpperCase() : bare;
}

/** People and workspaces' guests `U`, `W`; bots `B`. Names such as `bob` and `will` begin like ids: these have a digit or are longer. */
export const isUserId = (text: string): boolean => /^[UWB](?=.*\d|.{8})[A-Z0-9]{2,}$/.test(text);

/** What is no id is a name, which its owner can change. */
export const isName = (entry: string): boolean => entry !== "*" && !isUserId(entry);

/** The entries of the configuration for a conversation: its own, then that of `*`. */
export function channelLayers(channels: Fields, id: string, name: string | undefined): readonly Fields[] {
  const wanted = [id.toLowerCase(), ...(name ? [`#${name.replace(/^#/, "").toLowerCase()}`] : [])];
  const keys = Object.keys(channels);
  const own = wanted.map((want) => keys.find((key) => key.toLowerCase() === want)).find((key) => key !== undefined);
  return [own === undefined ? undefined : fieldsOf(channels[own]), fieldsOf(channels["*"])].filter((layer) => layer !== undefined);
}

/** By kind of chat, then the older key for direct messages, then the account's. */
export function replyModeOf({ config }: SlackAccount, chatType: string | null | undefined): ReplyToMode {
  const modes = ["off", "first", "all"] as const;
  const kind = chatType === "dm" ? "direct" : (chatType ?? "");
  const chosen =
    fieldsOf(config["replyToModeByChatType"])?.[kind] ?? (kind === "direct" ? fieldsOf(config["dm"])?.["replyToMode"] : undefined) ?? config["replyToMode"];
  return choiceOf(chosen, modes, "off");
}
