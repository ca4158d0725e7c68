/** One account with everything that its configuration says, in the types that the rest of the plugin uses. */
import { resolveTelegramAccount, type ResolvedTelegramAccount } from "openclaw/plugin-sdk";
import { unfit } from "./api/failure.ts";
import { fieldsOf, type Fields, listOf, numberOf, textOf } from "./fields.ts";
import type { DraftChunk } from "./send/preview.ts";

type Config = Parameters<typeof resolveTelegramAccount>[0]["cfg"];

export type ButtonScope = "off" | "dm" | "group" | "all" | "allowlist";

export interface TopicRules {
  readonly systemPrompt?: string;
  readonly skills?: string[];
  readonly requireMention?: boolean;
}

export interface TelegramAccount extends ResolvedTelegramAccount {
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
  readonly groups: Fields;
}

export interface WebhookSettings {
  readonly url: string;
  readonly secret: string;
  readonly path: string;
  readonly host: string;
  readonly port: number;
}

const WEBHOOK_PORT = 8787;

function choice<T extends string>(value: unknown, choices: readonly T[], otherwise: T): T {
  return choices.find((one) => one === value) ?? otherwise;
}

function buttonScope(capabilities: unknown): ButtonScope {
  // The older form is a list of names.
  if (Array.isArray(capabilities)) return capabilities.some((name) => String(name).toLowerCase() === "inlinebuttons") ? "all" : "off";
  return choice(fieldsOf(capabilities)?.["inlineButtons"], ["off", "dm", "group", "all", "allowlist"], "allowlist");
}

function webhookSettings(config: Fields): WebhookSettings | undefined {
  const url = textOf(config["webhookUrl"])?.trim();
  if (!url) return undefined;
  return {
    url,
    secret: textOf(config["webhookSecret"])?.trim() ?? "",
    path: `/${(textOf(config["webhookPath"]) ?? "telegram-webhook").trim().replace(/^\/+/, "")}`,
    host: textOf(config["webhookHost"])?.trim() || "127.0.0.1",
    port: numberOf(config["webhookPort"]) ?? WEBHOOK_PORT,
  };
}

/** The address of another Bot API server, without what would end it. */
function apiRoot(value: unknown): string | undefined {
  const text = textOf(value)?.trim().replace(/\/+$/, "");
  if (!text) return undefined;
  if (!/^https?:$/.test(URL.parse(text)?.protocol ?? ""))
    throw unfit("connect", `channels.telegram.apiRoot has to be an address like http://127.0.0.1:8081, not "${text}"`);
  return text;
}

function draftChunk(value: unknown): DraftChunk {
  const fields = fieldsOf(value) ?? {};
  const maxChars = Math.max(1, numberOf(fields["maxChars"]) ?? 800);
  return {
    minChars: Math.min(Math.max(1, numberOf(fields["minChars"]) ?? 200), maxChars),
    maxChars,
    breakPreference: choice(fields["breakPreference"], ["paragraph", "newline", "sentence"], "paragraph"),
  };
}

function customCommands(value: unknown): TelegramAccount["customCommands"] {
  return listOf(value).flatMap((entry) => {
    const { command, description } = fieldsOf(entry) ?? {};
    return typeof command === "string" && typeof description === "string" ? [{ command, description }] : [];
  });
}

/** The account, with its channel's keys under its own. Defaults come last, so that an account never hides what its channel says. */
export function readAccount(cfg: Config, accountId?: string | null): TelegramAccount {
  const account = resolveTelegramAccount({ cfg, accountId });
  const { config } = account;
  const seconds = numberOf(config["timeoutSeconds"]);
  const select = fieldsOf(config["network"])?.["autoSelectFamily"];
  return {
    ...account,
    buttons: buttonScope(config["capabilities"]),
    reactionNotices: choice(config["reactionNotifications"], ["off", "own", "all"], "own"),
    streamMode: choice(config["streamMode"], ["off", "partial", "block"], "partial"),
    draftChunk: draftChunk(config["draftChunk"]),
    reactionLevel: choice(config["reactionLevel"], ["off", "ack", "minimal", "extensive"], "minimal"),
    linkPreview: config["linkPreview"] !== false,
    replyToMode: choice(config["replyToMode"], ["off", "first", "all"], "off"),
    configWrites: config["configWrites"] !== false,
    webhook: webhookSettings(config),
    proxy: textOf(config["proxy"])?.trim() || undefined,
    apiRoot: apiRoot(config["apiRoot"]),
    autoSelectFamily: typeof select === "boolean" ? select : undefined,
    timeoutMs: seconds !== undefined && seconds > 0 ? seconds * 1000 : undefined,
    tables: choice(config.markdown?.tables, ["off", "bullets", "code"], "code"),
    customCommands: customCommands(config["customCommands"]),
    actions: (fieldsOf(config["actions"]) ?? {}) as TelegramAccount["actions"],
    groups: fieldsOf(config["groups"]) ?? {},
  };
}

/** What is configured for a group or one of its topics: the topic's keys over those of the group, over those of `*`. */
export function groupRules(groups: Fields, chatId: string, topicId: string | number | undefined): TopicRules {
  const all = fieldsOf(groups["*"]);
  const group = fieldsOf(groups[chatId]);
  const topic = (entry: Fields | undefined): Fields | undefined =>
    topicId === undefined ? undefined : fieldsOf(fieldsOf(entry?.["topics"])?.[String(topicId)]);
  const layers = [topic(group), topic(all), group, all].filter((layer) => layer !== undefined);
  const first = <T>(pick: (layer: Fields) => T | undefined): T | undefined => layers.map(pick).find((value) => value !== undefined);
  // A topic adds to what its group says.
  const prompts = [group ?? all, topic(group) ?? topic(all)].flatMap((layer) => textOf(layer?.["systemPrompt"])?.trim() || []);
  const skills = first((layer) => (Array.isArray(layer["skills"]) ? layer["skills"].filter((name) => typeof name === "string") : undefined));
  const requireMention = first((layer) => (typeof layer["requireMention"] === "boolean" ? layer["requireMention"] : undefined));
  return {
    ...(prompts.length > 0 ? { systemPrompt: prompts.join("\n\n") } : {}),
    ...(skills === undefined ? {} : { skills }),
    ...(requireMention === undefined ? {} : { requireMention }),
  };
}
