/** One account with everything that its configuration and the environment say. */
import { DEFAULT_ACCOUNT_ID, normalizeAccountId, type ChannelPlugin } from "openclaw/plugin-sdk";
import { createAccountListHelpers } from "openclaw/plugin-sdk/account-helpers";
import { tryReadSecretFileSync } from "openclaw/plugin-sdk/secret-file-runtime";
import { fieldsOf, type Fields, flagOf, numberOf, textOf, textsOf } from "./fields.ts";

export type HostConfig = Parameters<ChannelPlugin["config"]["listAccountIds"]>[0];
export type Environment = Readonly<Record<string, string | undefined>>;

export interface NickServ {
  readonly service: string;
  readonly password: string;
  /** Where the nick is to be registered. */
  readonly registerEmail: string | undefined;
}

export interface IrcAccount {
  readonly accountId: string;
  readonly name: string | undefined;
  readonly enabled: boolean;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly nick: string;
  readonly username: string;
  readonly realname: string;
  readonly password: string;
  readonly passwordSource: "env" | "config" | "passwordFile" | "none";
  readonly sasl: { readonly account: string; readonly password: string } | undefined;
  readonly nickserv: NickServ | undefined;
  readonly channels: readonly JoinedChannel[];
  readonly groups: Fields;
  readonly mentionPatterns: readonly string[];
  /** Nicks and user names on allow lists count, though anybody can take them. */
  readonly trustsNames: boolean;
  readonly flood: { readonly burst: number; readonly intervalMs: number };
  /** Bytes of one line of text. */
  readonly textLimit: number;
  readonly dmPolicy: string;
  readonly groupPolicy: string;
  readonly allowFrom: readonly string[];
  readonly groupAllowFrom: readonly string[];
  /** What has to be changed before it can run. */
  readonly problems: readonly string[];
}

export interface JoinedChannel {
  readonly name: string;
  readonly key: string | undefined;
}

const TLS_PORT = 6697;
const PLAIN_PORT = 6667;
export const TEXT_LIMIT = 350;
const BURST = 5;
const INTERVAL_MS = 2000;

const ENV_NAMES = [
  "IRC_HOST",
  "IRC_PORT",
  "IRC_TLS",
  "IRC_NICK",
  "IRC_USERNAME",
  "IRC_REALNAME",
  "IRC_PASSWORD",
  "IRC_CHANNELS",
  "IRC_NICKSERV_PASSWORD",
  "IRC_NICKSERV_REGISTER_EMAIL",
] as const;
type EnvName = (typeof ENV_NAMES)[number];

/** `#name`, or `#name key`. */
export function readChannel(entry: string): JoinedChannel | undefined {
  const [name = "", key] = entry.trim().split(/\s+/);
  return /^[#&+!][^\s,\p{Cc}]{1,199}$/u.test(name) ? { name, key } : undefined;
}

const isWord = (text: string): boolean => /^[^\s\0:][^\s\0]*$/.test(text);
// A line break in a value would be a command of its own.
// oxlint-disable-next-line no-control-regex
const isLine = (text: string): boolean => !/[\r\n\0]/.test(text);

function problemsOf(account: Omit<IrcAccount, "problems">, config: Fields): string[] {
  const nickserv = fieldsOf(config["nickserv"]);
  const sasl = fieldsOf(config["sasl"]);
  const wrong: (string | false)[] = [
    account.host === "" && "no server: set channels.irc.host or IRC_HOST",
    account.nick === "" && "no nick: set channels.irc.nick or IRC_NICK",
    account.host !== "" && !/^[\w.:-]+$/.test(account.host) && `"${account.host}" is no host name: set channels.irc.host to something like irc.libera.chat`,
    account.nick !== "" && !(isWord(account.nick) && !/[@!,#&]/.test(account.nick)) && `"${account.nick}" is no nick: it has no blanks and none of @ ! , # & :`,
    !(isWord(account.username) || account.nick === "") && "channels.irc.username must be one word",
    !isLine(account.realname) && "channels.irc.realname must be one line",
    !isLine(account.password) && "channels.irc.password must be one line",
    !Number.isInteger(account.port) && "channels.irc.port must be a whole number from 1 to 65535",
    flagOf(nickserv?.["register"]) === true && textOf(nickserv?.["registerEmail"]) === undefined && "channels.irc.nickserv.register needs registerEmail",
    account.nickserv !== undefined && !isWord(account.nickserv.password) && "channels.irc.nickserv.password must be one word",
    account.nickserv !== undefined && !isWord(account.nickserv.service) && "channels.irc.nickserv.service must be one word",
    sasl !== undefined && sasl["enabled"] !== false && account.sasl === undefined && "channels.irc.sasl needs a password or passwordFile that can be read",
  ];
  return wrong.filter((one) => one !== false);
}

function portOf(written: number | undefined, tls: boolean): number {
  if (written === undefined) return tls ? TLS_PORT : PLAIN_PORT;
  return Number.isInteger(written) && written >= 1 && written <= 65_535 ? written : Number.NaN;
}

/** Reads accounts. The environment is for the default one and wins there. */
export function createAccountReader(env: Environment) {
  const envText = (name: EnvName, accountId: string): string | undefined => (accountId === DEFAULT_ACCOUNT_ID ? textOf(env[name]) : undefined);
  const lists = createAccountListHelpers("irc", {
    normalizeAccountId,
    resolveImplicitAccountId(cfg) {
      const section = fieldsOf(cfg.channels?.["irc"]) ?? {};
      const isThere = textOf(section["host"]) !== undefined || (textOf(env["IRC_HOST"]) !== undefined && textOf(env["IRC_NICK"]) !== undefined);
      // With accounts of their own, what stands in the section is what they share.
      return isThere && fieldsOf(section["accounts"]) === undefined ? DEFAULT_ACCOUNT_ID : undefined;
    },
  });

  function secret(keys: Fields, key: string, fileKey: string): { readonly value: string; readonly source: IrcAccount["passwordSource"] } {
    const written = textOf(keys[key]);
    if (written !== undefined) return { value: written, source: "config" };
    const read = tryReadSecretFileSync(textOf(keys[fileKey]), `channels.irc ${fileKey}`);
    return read === undefined ? { value: "", source: "none" } : { value: read, source: "passwordFile" };
  }

  function nickservOf(config: Fields, accountId: string): NickServ | undefined {
    const keys = fieldsOf(config["nickserv"]) ?? {};
    const password = envText("IRC_NICKSERV_PASSWORD", accountId) ?? secret(keys, "password", "passwordFile").value;
    if (password === "" || keys["enabled"] === false) return undefined;
    const email = envText("IRC_NICKSERV_REGISTER_EMAIL", accountId) ?? textOf(keys["registerEmail"]);
    return { service: textOf(keys["service"]) ?? "NickServ", password, registerEmail: keys["register"] === true ? email : undefined };
  }

  function saslOf(config: Fields, nick: string): IrcAccount["sasl"] {
    const keys = fieldsOf(config["sasl"]);
    if (!keys || keys["enabled"] === false) return undefined;
    const { value } = secret(keys, "password", "passwordFile");
    return value === "" ? undefined : { account: textOf(keys["account"]) ?? nick, password: value };
  }

  function readAccount(cfg: HostConfig, wanted?: string | null): IrcAccount {
    const accountId = wanted?.trim() ? normalizeAccountId(wanted) : lists.resolveDefaultAccountId(cfg);
    const config: Fields = lists.resolveAccountConfig(cfg, accountId);
    const own = (name: EnvName): string | undefined => envText(name, accountId);
    const envTls = own("IRC_TLS")?.toLowerCase();
    const tls = envTls === undefined ? config["tls"] !== false : !["0", "false", "no", "off"].includes(envTls);
    const nick = own("IRC_NICK") ?? textOf(config["nick"]) ?? "";
    const envPassword = own("IRC_PASSWORD");
    const password = envPassword === undefined ? secret(config, "password", "passwordFile") : ({ value: envPassword, source: "env" } as const);
    const envPort = own("IRC_PORT");
    const flood = fieldsOf(config["flood"]) ?? {};
    const account: Omit<IrcAccount, "problems"> = {
      accountId,
      name: textOf(config["name"]),
      enabled: config["enabled"] !== false && fieldsOf(cfg.channels?.["irc"])?.["enabled"] !== false,
      host: own("IRC_HOST") ?? textOf(config["host"]) ?? "",
      port: portOf(envPort === undefined ? numberOf(config["port"]) : Number(envPort), tls),
      tls,
      nick,
      username: own("IRC_USERNAME") ?? textOf(config["username"]) ?? nick,
      realname: own("IRC_REALNAME") ?? textOf(config["realname"]) ?? "OpenClaw",
      password: password.value,
      passwordSource: password.source,
      sasl: saslOf(config, nick),
      nickserv: nickservOf(config, accountId),
      channels: (own("IRC_CHANNELS")?.split(/[,;]/) ?? textsOf(config["channels"])).flatMap((entry) => readChannel(entry) ?? []),
      groups: fieldsOf(config["groups"]) ?? {},
      mentionPatterns: textsOf(config["mentionPatterns"]),
      trustsNames: config["dangerouslyAllowNameMatching"] === true,
      flood: { burst: Math.max(1, numberOf(flood["burst"]) ?? BURST), intervalMs: Math.max(0, numberOf(flood["intervalMs"]) ?? INTERVAL_MS) },
      textLimit: Math.max(1, numberOf(config["textChunkLimit"]) ?? TEXT_LIMIT),
      dmPolicy: textOf(config["dmPolicy"]) ?? "pairing",
      groupPolicy: textOf(config["groupPolicy"]) ?? "allowlist",
      allowFrom: entriesOf(config["allowFrom"]),
      groupAllowFrom: entriesOf(config["groupAllowFrom"]),
    };
    return { ...account, problems: problemsOf(account, config) };
  }
  return { readAccount, listAccountIds: lists.listAccountIds, defaultAccountId: lists.resolveDefaultAccountId };
}

export type AccountReader = ReturnType<typeof createAccountReader>;

function entriesOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string" || typeof entry === "number").map((entry) => String(entry).trim()) : [];
}

export interface GroupRules {
  readonly systemPrompt: string | undefined;
  readonly skills: string[] | undefined;
  readonly requireMention: boolean;
}

/** The channel's entry, then that of `*`. Names are compared whatever their case. */
export function groupLayers(groups: Fields, channel: string): readonly Fields[] {
  const key = Object.keys(groups).find((name) => name !== "*" && name.toLowerCase() === channel.trim().toLowerCase());
  return [key === undefined ? undefined : fieldsOf(groups[key]), fieldsOf(groups["*"])].filter((layer) => layer !== undefined);
}

/** What is configured for a channel: its own keys, else those of `*`. */
export function groupRules(groups: Fields, channel: string): GroupRules {
  const layers = groupLayers(groups, channel);
  const skills = layers.map((layer) => layer["skills"]).find((value) => Array.isArray(value));
  return {
    systemPrompt: layers.map((layer) => textOf(layer["systemPrompt"])).find((text) => text !== undefined),
    skills: skills && textsOf(skills),
    requireMention: layers.map((layer) => flagOf(layer["requireMention"])).find((flag) => flag !== undefined) ?? true,
  };
}
