/** Accounts of the channels that everybody knows: who there is, and what an account has to sign in with. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ChannelSection, ConfigSection, DmPolicy, GroupPolicy, HostConfig, ReplyToMode } from "../../../protocol/index.ts";
import { accountSection, channelSection, createAccountListHelpers, DEFAULT_ACCOUNT_ID, mergedAccount, normalizeAccountId } from "../account-ids.ts";
import { envValue, sdkHost } from "../host-binding.ts";
import type { LineAccountConfig, LineConfig } from "./config-types.ts";

interface AccountParams {
  cfg: HostConfig;
  accountId?: string | null | undefined;
}

interface Resolved<Config = ChannelSection> {
  accountId: string;
  enabled: boolean;
  name?: string | undefined;
  config: Config;
}

type Source = "env" | "config" | "file" | "tokenFile" | "none";

const filled = (value: unknown) => (typeof value === "string" ? value.trim() || undefined : undefined);

/** The account's keys over the channel's; on unless one of them says otherwise. */
function resolved(channel: string, { cfg, accountId: given }: AccountParams): Resolved {
  const accountId = normalizeAccountId(given);
  const config = mergedAccount(cfg, channel, accountId) as ChannelSection;
  const enabled = channelSection(cfg, channel)?.["enabled"] !== false && config.enabled !== false;
  return { accountId, enabled, name: filled(config.name), config };
}

function fromFile(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim() || undefined;
  } catch {
    // An account whose file cannot be read has no credential; status shows it.
    return undefined;
  }
}

interface CredentialPlace {
  readonly channel: string;
  readonly key: string;
  readonly fileKey?: string;
  /** Only for the default account. */
  readonly env: string;
  /** What a token from a file is said to come from. */
  readonly fileSource?: Source;
}

/** The account's own file or text, then, for the default account, the channel's file or text, then the environment. */
function credential({ cfg, accountId }: { cfg: HostConfig; accountId: string }, place: CredentialPlace): { value: string; source: Source } {
  const none = { value: "", source: "none" as const };
  const read = (section: ConfigSection | undefined): { value: string; source: Source } | undefined => {
    const file = place.fileKey ? filled(section?.[place.fileKey]) : undefined;
    if (file !== undefined) {
      const value = fromFile(file);
      return value === undefined ? none : { value, source: place.fileSource ?? "file" };
    }
    const value = filled(section?.[place.key]);
    return value === undefined ? undefined : { value, source: "config" };
  };
  const own = read(accountSection(cfg, place.channel, accountId));
  if (own || accountId !== DEFAULT_ACCOUNT_ID) return own ?? none;
  const shared = read(channelSection(cfg, place.channel));
  if (shared) return shared;
  const env = envValue(place.env);
  return env === undefined ? none : { value: env, source: "env" };
}

const discord = createAccountListHelpers("discord");
const slack = createAccountListHelpers("slack");
const telegram = createAccountListHelpers("telegram");
const signal = createAccountListHelpers("signal");
const imessage = createAccountListHelpers("imessage");
const whatsapp = createAccountListHelpers("whatsapp");

export const listDiscordAccountIds = discord.listAccountIds;
export const resolveDefaultDiscordAccountId = discord.resolveDefaultAccountId;
export const listSlackAccountIds = slack.listAccountIds;
export const resolveDefaultSlackAccountId = slack.resolveDefaultAccountId;
export const resolveDefaultTelegramAccountId = telegram.resolveDefaultAccountId;
export const listTelegramAccountIds = telegram.listAccountIds;
export const listSignalAccountIds = signal.listAccountIds;
export const resolveDefaultSignalAccountId = signal.resolveDefaultAccountId;
export const listIMessageAccountIds = imessage.listAccountIds;
export const resolveDefaultIMessageAccountId = imessage.resolveDefaultAccountId;
export const listWhatsAppAccountIds = whatsapp.listAccountIds;
export const resolveDefaultWhatsAppAccountId = whatsapp.resolveDefaultAccountId;

export interface ResolvedDiscordAccount extends Resolved {
  token: string;
  tokenSource: "env" | "config" | "none";
}

export function resolveDiscordAccount(params: AccountParams): ResolvedDiscordAccount {
  const account = resolved("discord", params);
  const { value, source } = credential({ ...params, accountId: account.accountId }, { channel: "discord", key: "token", env: "DISCORD_BOT_TOKEN" });
  return { ...account, token: value.replace(/^Bot\s+/i, ""), tokenSource: source as ResolvedDiscordAccount["tokenSource"] };
}

export interface ResolvedTelegramAccount extends Resolved {
  token: string;
  tokenSource: "env" | "tokenFile" | "config" | "none";
}

/** Without a name: the default account, or the first that has a token. */
export function resolveTelegramAccount(params: AccountParams): ResolvedTelegramAccount {
  const read = (accountId: string): ResolvedTelegramAccount => {
    const place = { channel: "telegram", key: "botToken", fileKey: "tokenFile", env: "TELEGRAM_BOT_TOKEN", fileSource: "tokenFile" } as const;
    const { value, source } = credential({ cfg: params.cfg, accountId }, place);
    return { ...resolved("telegram", { cfg: params.cfg, accountId }), token: value, tokenSource: source as ResolvedTelegramAccount["tokenSource"] };
  };
  const named = read(normalizeAccountId(params.accountId));
  if (params.accountId?.trim() || named.tokenSource !== "none") return named;
  const other = read(resolveDefaultTelegramAccountId(params.cfg));
  return other.tokenSource === "none" ? named : other;
}

export interface ResolvedSlackAccount extends Resolved {
  botToken?: string | undefined;
  appToken?: string | undefined;
  botTokenSource: "env" | "config" | "none";
  appTokenSource: "env" | "config" | "none";
  groupPolicy?: GroupPolicy | undefined;
  textChunkLimit?: number | undefined;
  mediaMaxMb?: number | undefined;
  reactionNotifications?: string | undefined;
  reactionAllowlist?: (string | number)[] | undefined;
  replyToMode?: ReplyToMode | undefined;
  replyToModeByChatType?: Partial<Record<string, ReplyToMode>> | undefined;
  actions?: Record<string, boolean | undefined> | undefined;
  slashCommand?: ConfigSection | undefined;
  dm?: ConfigSection | undefined;
  channels?: Record<string, ConfigSection> | undefined;
}

export function resolveSlackAccount(params: AccountParams): ResolvedSlackAccount {
  const account = resolved("slack", params);
  const at = { cfg: params.cfg, accountId: account.accountId };
  const bot = credential(at, { channel: "slack", key: "botToken", env: "SLACK_BOT_TOKEN" });
  const app = credential(at, { channel: "slack", key: "appToken", env: "SLACK_APP_TOKEN" });
  const keys = ["groupPolicy", "textChunkLimit", "mediaMaxMb", "reactionNotifications", "reactionAllowlist", "replyToMode"] as const;
  const more = ["replyToModeByChatType", "actions", "slashCommand", "dm", "channels"] as const;
  return {
    ...account,
    botToken: bot.value || undefined,
    appToken: app.value || undefined,
    botTokenSource: bot.source as ResolvedSlackAccount["botTokenSource"],
    appTokenSource: app.source as ResolvedSlackAccount["appTokenSource"],
    ...Object.fromEntries([...keys, ...more].map((key) => [key, account.config[key]])),
  };
}

export function listEnabledSlackAccounts(cfg: HostConfig): ResolvedSlackAccount[] {
  return listSlackAccountIds(cfg)
    .map((accountId) => resolveSlackAccount({ cfg, accountId }))
    .filter((account) => account.enabled);
}

export interface ResolvedSignalAccount extends Resolved {
  baseUrl: string;
  configured: boolean;
}

export function resolveSignalAccount(params: AccountParams): ResolvedSignalAccount {
  const account = resolved("signal", params);
  const { config } = account;
  const host = filled(config["httpHost"]) ?? "127.0.0.1";
  const baseUrl = filled(config["httpUrl"]) ?? `http://${host}:${typeof config["httpPort"] === "number" ? config["httpPort"] : 8080}`;
  const configured =
    ["account", "httpUrl", "cliPath", "httpHost"].some((key) => filled(config[key])) ||
    typeof config["httpPort"] === "number" ||
    typeof config["autoStart"] === "boolean";
  return { ...account, baseUrl, configured };
}

export interface ResolvedIMessageAccount extends Resolved {
  configured: boolean;
}

const IMESSAGE_SIGNS = ["cliPath", "dbPath", "service", "region", "allowFrom", "groupAllowFrom", "dmPolicy", "groupPolicy", "includeAttachments"];
const IMESSAGE_MORE = ["attachmentRoots", "remoteAttachmentRoots", "mediaMaxMb", "textChunkLimit", "groups"];

export function resolveIMessageAccount(params: AccountParams): ResolvedIMessageAccount {
  const account = resolved("imessage", params);
  const said = (value: unknown) =>
    typeof value === "object" && value !== null
      ? Object.keys(value).length > 0
      : typeof value === "string"
        ? value.trim() !== ""
        : value !== undefined && value !== null;
  return { ...account, configured: [...IMESSAGE_SIGNS, ...IMESSAGE_MORE].some((key) => said(account.config[key])) };
}

export interface ResolvedWhatsAppAccount {
  accountId: string;
  name?: string | undefined;
  enabled: boolean;
  sendReadReceipts: boolean;
  messagePrefix?: string | undefined;
  authDir: string;
  isLegacyAuthDir: boolean;
  selfChatMode?: boolean | undefined;
  allowFrom?: string[] | undefined;
  groupAllowFrom?: string[] | undefined;
  groupPolicy?: GroupPolicy | undefined;
  dmPolicy?: DmPolicy | undefined;
  textChunkLimit?: number | undefined;
  chunkMode?: "length" | "newline" | undefined;
  mediaMaxMb?: number | undefined;
  blockStreaming?: boolean | undefined;
  ackReaction?: unknown;
  groups?: Record<string, ConfigSection> | undefined;
  debounceMs?: number | undefined;
}

export function resolveWhatsAppAccount(params: AccountParams): ResolvedWhatsAppAccount {
  const accountId = params.accountId?.trim() || resolveDefaultWhatsAppAccountId(params.cfg);
  const { config, name } = resolved("whatsapp", { cfg: params.cfg, accountId });
  const { enabled: _enabled, name: _name, ...keys } = config;
  return {
    ...(keys as Partial<ResolvedWhatsAppAccount>),
    accountId,
    name,
    enabled: config.enabled !== false,
    sendReadReceipts: config["sendReadReceipts"] !== false,
    messagePrefix: filled(config["messagePrefix"]) ?? params.cfg.messages?.messagePrefix,
    authDir: filled(config["authDir"]) ?? join(sdkHost()?.stateDir ?? "", "credentials", "whatsapp", normalizeAccountId(accountId)),
    isLegacyAuthDir: false,
  };
}

export interface ResolvedLineAccount {
  accountId: string;
  name?: string | undefined;
  enabled: boolean;
  channelAccessToken: string;
  channelSecret: string;
  tokenSource: "config" | "env" | "file" | "none";
  config: LineConfig & LineAccountConfig;
}

export const normalizeLineAccountId = (accountId: string | undefined): string => accountId?.trim().toLowerCase() || DEFAULT_ACCOUNT_ID;

/** The default account counts when the channel's own keys or the environment have its token. */
export function listLineAccountIds(cfg: HostConfig): string[] {
  const listed = createAccountListHelpers("line").listConfiguredAccountIds(cfg);
  const section = channelSection(cfg, "line");
  const base = filled(section?.["channelAccessToken"]) ?? filled(section?.["tokenFile"]) ?? envValue("LINE_CHANNEL_ACCESS_TOKEN");
  const ids = new Set([...(base === undefined ? [] : [DEFAULT_ACCOUNT_ID]), ...listed]);
  return ids.size > 0 ? [...ids] : [DEFAULT_ACCOUNT_ID];
}

export function resolveDefaultLineAccountId(cfg: HostConfig): string {
  const ids = listLineAccountIds(cfg);
  return ids.includes(DEFAULT_ACCOUNT_ID) ? DEFAULT_ACCOUNT_ID : ids[0]!;
}

export function resolveLineAccount(params: { cfg: HostConfig; accountId?: string | undefined }): ResolvedLineAccount {
  const accountId = normalizeLineAccountId(params.accountId);
  const at = { cfg: params.cfg, accountId };
  const token = credential(at, { channel: "line", key: "channelAccessToken", fileKey: "tokenFile", env: "LINE_CHANNEL_ACCESS_TOKEN" });
  const secret = credential(at, { channel: "line", key: "channelSecret", fileKey: "secretFile", env: "LINE_CHANNEL_SECRET" });
  const own = accountSection(params.cfg, "line", accountId);
  const source = own ?? (accountId === DEFAULT_ACCOUNT_ID ? channelSection(params.cfg, "line") : undefined);
  return {
    accountId,
    name: filled(source?.["name"]),
    enabled: source === undefined ? accountId === DEFAULT_ACCOUNT_ID : source["enabled"] !== false,
    channelAccessToken: token.value,
    channelSecret: secret.value,
    tokenSource: token.source as ResolvedLineAccount["tokenSource"],
    config: mergedAccount(params.cfg, "line", accountId),
  };
}
