/** One account with everything that its configuration says, in the types that the rest of the plugin uses. */
import { DEFAULT_ACCOUNT_ID } from "openclaw/plugin-sdk";
import {
  type AccountReader,
  type ChannelAccount,
  choiceOf,
  createAccountReader,
  type CredentialSpec,
  defined,
  fieldsOf,
  type Fields,
  flagOf,
  listOf,
  numberOf,
  rulesOf,
  trimmedOf,
} from "openclaw/plugin-sdk/channel-kit";
import type { DraftChunk } from "./send/preview.ts";

export type ButtonScope = "off" | "dm" | "group" | "all" | "allowlist";

export interface TopicRules {
  readonly systemPrompt?: string;
  readonly skills?: string[];
  readonly requireMention?: boolean;
}

export interface TelegramAccount extends ChannelAccount {
  readonly token: string;
  readonly tokenSource: "env" | "tokenFile" | "config" | "none";
  readonly buttons: ButtonScope;
  readonly reactionNotices: "off" | "own" | "all";
  readonly streamMode: "off" | "partial" | "block";
  /** The pieces that the preview grows by, in the block mode. */
  readonly draftChunk: DraftChunk;
  readonly reactionLevel: "off" | "ack" | "minimal" | "extensive";
  readonly linkPreview: boolean;
  readonly replyToMode: "off" | "first" | "all";
  readonly configWrites: boolean;
  readonly webhook: WebhookSettings | undefined;
  readonly proxy: string | undefined;
  /** Where the Bot API is. */
  readonly apiRoot: string | undefined;
  readonly autoSelectFamily: boolean | undefined;
  readonly timeoutMs: number | undefined;
  readonly tables: "off" | "bullets" | "code";
  readonly customCommands: readonly { readonly command: string; readonly description: string }[];
  readonly actions: Readonly<Record<string, boolean | undefined>>;
}

export interface WebhookSettings {
  readonly url: string;
  readonly secret: string;
  readonly path: string;
  readonly host: string;
  readonly port: number;
}

const WEBHOOK_PORT = 8787;

function buttonScope(capabilities: unknown): ButtonScope {
  // The older form is a list of names.
  if (Array.isArray(capabilities)) return capabilities.some((name) => String(name).toLowerCase() === "inlinebuttons") ? "all" : "off";
  return choiceOf(fieldsOf(capabilities)?.["inlineButtons"], ["off", "dm", "group", "all", "allowlist"], "allowlist");
}

function webhookSettings(config: Fields): WebhookSettings | undefined {
  const url = trimmedOf(config["webhookUrl"]);
  if (url === undefined) return undefined;
  return {
    url,
    secret: trimmedOf(config["webhookSecret"]) ?? "",
    path: `/${(trimmedOf(config["webhookPath"]) ?? "telegram-webhook").replace(/^\/+/, "")}`,
    host: trimmedOf(config["webhookHost"]) ?? "127.0.0.1",
    port: numberOf(config["webhookPort"]) ?? WEBHOOK_PORT,
  };
}

function draftChunk(value: unknown): DraftChunk {
  const fields = fieldsOf(value) ?? {};
  const maxChars = Math.max(1, numberOf(fields["maxChars"]) ?? 800);
  return {
    minChars: Math.min(Math.max(1, numberOf(fields["minChars"]) ?? 200), maxChars),
    maxChars,
    breakPreference: choiceOf(fields["breakPreference"], ["paragraph", "newline", "sentence"], "paragraph"),
  };
}

function customCommands(value: unknown): TelegramAccount["customCommands"] {
  return listOf(value).flatMap((entry) => {
    const { command, description } = fieldsOf(entry) ?? {};
    return typeof command === "string" && typeof description === "string" ? [{ command, description }] : [];
  });
}

export const CREDENTIALS: readonly CredentialSpec[] = [
  {
    key: "botToken",
    fileKey: "tokenFile",
    env: "TELEGRAM_BOT_TOKEN",
    isOwn: true,
    fileWins: true,
    inputs: ["token", "botToken"],
    label: "Bot token",
    whenRefused: "Copy the token from @BotFather again (/mybots), and set channels.telegram.botToken",
    placeholder: "123456789:AA…",
  },
];

/** Settings in the types that the rest uses. Defaults come last, so that an account never hides what its channel says. */
function readSettings(base: ChannelAccount): TelegramAccount {
  const { config, credentials, sources } = base;
  const source = sources["botToken"] ?? "none";
  const seconds = numberOf(config["timeoutSeconds"]);
  const apiRoot = trimmedOf(config["apiRoot"])?.replace(/\/+$/, "");
  const isAddress = apiRoot === undefined || /^https?:$/.test(URL.parse(apiRoot)?.protocol ?? "");
  const wrong = `channels.telegram.apiRoot must be a URL such as http://127.0.0.1:8081, not "${apiRoot}"`;
  return {
    ...base,
    problems: isAddress ? base.problems : [...base.problems, wrong],
    token: credentials["botToken"] ?? "",
    tokenSource: source === "file" ? "tokenFile" : source,
    buttons: buttonScope(config["capabilities"]),
    reactionNotices: choiceOf(config["reactionNotifications"], ["off", "own", "all"], "own"),
    streamMode: choiceOf(config["streamMode"], ["off", "partial", "block"], "partial"),
    draftChunk: draftChunk(config["draftChunk"]),
    reactionLevel: choiceOf(config["reactionLevel"], ["off", "ack", "minimal", "extensive"], "minimal"),
    linkPreview: config["linkPreview"] !== false,
    replyToMode: choiceOf(config["replyToMode"], ["off", "first", "all"], "off"),
    configWrites: config["configWrites"] !== false,
    webhook: webhookSettings(config),
    proxy: trimmedOf(config["proxy"]),
    apiRoot,
    autoSelectFamily: flagOf(fieldsOf(config["network"])?.["autoSelectFamily"]),
    timeoutMs: seconds !== undefined && seconds > 0 ? seconds * 1000 : undefined,
    tables: choiceOf(fieldsOf(config["markdown"])?.["tables"], ["off", "bullets", "code"], "code"),
    customCommands: customCommands(config["customCommands"]),
    actions: (fieldsOf(config["actions"]) ?? {}) as TelegramAccount["actions"],
  };
}

/** Without a name: the default account, or the first that has a token. */
export function createSettings(): AccountReader<TelegramAccount> {
  const reader = createAccountReader({ channel: "telegram", credentials: CREDENTIALS, read: readSettings });
  return {
    ...reader,
    read(cfg, accountId) {
      if (accountId?.trim()) return reader.read(cfg, accountId);
      const named = reader.read(cfg, DEFAULT_ACCOUNT_ID);
      const other = named.token === "" ? reader.read(cfg) : named;
      return other.token === "" ? named : other;
    },
  };
}

/** The topic's keys, then those of its group. */
export function layersOf(groups: Fields, chatId: string, topicId: string | number | undefined): readonly Fields[] {
  const [group, all] = [fieldsOf(groups[chatId]), fieldsOf(groups["*"])];
  const topic = (entry: Fields | undefined): Fields | undefined =>
    topicId === undefined ? undefined : fieldsOf(fieldsOf(entry?.["topics"])?.[String(topicId)]);
  return [topic(group), topic(all), group, all].filter((layer) => layer !== undefined);
}

/** What is configured for a group or one of its topics: the topic's keys over those of the group, over those of `*`. */
export function groupRules(groups: Fields, chatId: string, topicId: string | number | undefined): TopicRules {
  const layers = layersOf(groups, chatId, topicId);
  const { skills, requireMention } = rulesOf(layers);
  const isTopic = (layer: Fields): boolean => layer !== groups[chatId] && layer !== groups["*"];
  // A topic adds to what its group says.
  const prompts = [layers.find((layer) => !isTopic(layer)), layers.find(isTopic)].flatMap((layer) => trimmedOf(layer?.["systemPrompt"]) ?? []);
  return defined({ systemPrompt: prompts.length > 0 ? prompts.join("\n\n") : undefined, skills, requireMention });
}
