/** One account with everything that its configuration and the environment say. */
import {
  type AccountReader,
  type ChannelAccount,
  createAccountReader,
  type CredentialSpec,
  type Fields,
  fieldsOf,
  listOf,
  numberOf,
  readSecret,
  trimmedOf,
} from "openclaw/plugin-sdk/channel-kit";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface NickServ {
  readonly service: string;
  readonly password: string;
  /** Where the nick is to be registered. */
  readonly registerEmail: string | undefined;
}

export interface IrcAccount extends ChannelAccount {
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
  readonly mentionPatterns: readonly string[];
  /** Nicks and user names on allow lists count, though anybody can take them. */
  readonly trustsNames: boolean;
  readonly flood: { readonly burst: number; readonly intervalMs: number };
  /** Bytes of one line of text. */
  readonly textLimit: number;
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

/** `#name`, or `#name key`. */
export function readChannel(entry: string): JoinedChannel | undefined {
  const [name = "", key] = entry.trim().split(/\s+/);
  return /^[#&+!][^\s,\p{Cc}]{1,199}$/u.test(name) ? { name, key } : undefined;
}

/** `irc.libera.chat`, `host:port`, `ircs://host:port`. */
function readServer(text: string): { readonly host: string; readonly port?: number; readonly tls?: boolean } | undefined {
  const [, scheme, host, port] = /^(?:(ircs?):\/\/)?(\[[\da-f:]+\]|[\w.-]+)(?::(\d{1,5}))?\/?$/i.exec(text.trim()) ?? [];
  if (host === undefined) return undefined;
  return {
    host: host.replace(/^\[|\]$/g, ""),
    ...(port === undefined ? {} : { port: Number(port) }),
    ...(scheme === undefined ? {} : { tls: scheme.toLowerCase() === "ircs" }),
  };
}

const isWord = (text: string): boolean => /^[^\s\0:][^\s\0]*$/.test(text);
// A line break in a value would be a command of its own.
// oxlint-disable-next-line no-control-regex
const isLine = (text: string): boolean => !/[\r\n\0]/.test(text);

/** The environment wins for all of them. */
export const CREDENTIALS: readonly CredentialSpec[] = [
  {
    key: "host",
    env: "IRC_HOST",
    envWins: true,
    inputs: ["url", "httpHost", "homeserver"],
    label: "Server",
    placeholder: "irc.libera.chat",
    isPublic: true,
    keys: (value) => readServer(value) ?? {},
    check: (value) => (/^[\w.:-]+$/.test(value) ? undefined : `"${value}" is not a host name; use a name such as irc.libera.chat`),
    checkEntry: (value) =>
      readServer(value) ? undefined : `"${value}" is not an IRC server; use a name such as irc.libera.chat or ircs://irc.libera.chat:6697`,
  },
  {
    key: "nick",
    env: "IRC_NICK",
    envWins: true,
    inputs: ["userId"],
    label: "Nick",
    isPublic: true,
    check: (value) => (/^[^\s\0@!,#&:][^\s\0@!,#&]*$/.test(value) ? undefined : `"${value}" is not a valid nick: spaces and @ ! , # & : are not allowed`),
  },
  {
    key: "password",
    fileKey: "passwordFile",
    env: "IRC_PASSWORD",
    envWins: true,
    inputs: ["password"],
    label: "Password",
    isOptional: true,
    isAsked: false,
    check: (value) => (isLine(value) ? undefined : "it must be one line"),
  },
];

function portOf(written: number | undefined, tls: boolean): number {
  if (written === undefined) return tls ? TLS_PORT : PLAIN_PORT;
  return Number.isInteger(written) && written >= 1 && written <= 65_535 ? written : Number.NaN;
}

const PASSWORD = { key: "password", fileKey: "passwordFile" } as const;

function saslOf(config: Fields, nick: string): IrcAccount["sasl"] {
  const keys = fieldsOf(config["sasl"]);
  const password = keys && keys["enabled"] !== false ? readSecret(keys, "channels.irc.sasl", PASSWORD)?.value : undefined;
  return password ? { account: trimmedOf(keys?.["account"]) ?? nick, password } : undefined;
}

function nickservOf(config: Fields, env: (name: string) => string | undefined): NickServ | undefined {
  const keys = fieldsOf(config["nickserv"]) ?? {};
  const password = env("IRC_NICKSERV_PASSWORD") ?? readSecret(keys, "channels.irc.nickserv", PASSWORD)?.value;
  if (!password || keys["enabled"] === false) return undefined;
  const email = env("IRC_NICKSERV_REGISTER_EMAIL") ?? trimmedOf(keys["registerEmail"]);
  return { service: trimmedOf(keys["service"]) ?? "NickServ", password, registerEmail: keys["register"] === true ? email : undefined };
}

function problemsOf({ nick, username, realname, port, nickserv, sasl }: Omit<IrcAccount, "problems">, config: Fields): string[] {
  const wanted = fieldsOf(config["sasl"]);
  const wrong: (string | false)[] = [
    !(isWord(username) || nick === "") && "channels.irc.username must be one word",
    !isLine(realname) && "channels.irc.realname must be one line",
    !Number.isInteger(port) && "channels.irc.port must be a whole number from 1 to 65535",
    fieldsOf(config["nickserv"])?.["register"] === true &&
      trimmedOf(fieldsOf(config["nickserv"])?.["registerEmail"]) === undefined &&
      "channels.irc.nickserv.register needs registerEmail",
    nickserv !== undefined && !isWord(nickserv.password) && "channels.irc.nickserv.password must be one word",
    nickserv !== undefined && !isWord(nickserv.service) && "channels.irc.nickserv.service must be one word",
    wanted !== undefined && wanted["enabled"] !== false && sasl === undefined && "channels.irc.sasl needs a password or passwordFile that can be read",
  ];
  return wrong.filter((one) => one !== false);
}

const textsIn = (value: unknown): string[] => listOf(value).flatMap((entry) => trimmedOf(entry) ?? []);

/** Reads accounts. The environment is for the default one and wins there. */
export function createAccounts(env: Environment): AccountReader<IrcAccount> {
  return createAccountReader<IrcAccount>({
    channel: "irc",
    credentials: CREDENTIALS,
    env: (name) => env[name],
    read(base) {
      const { config, credentials, accountId, sources } = base;
      const own = (name: string): string | undefined => (accountId === "default" ? trimmedOf(env[name]) : undefined);
      const envTls = own("IRC_TLS")?.toLowerCase();
      const tls = envTls === undefined ? config["tls"] !== false : !["0", "false", "no", "off"].includes(envTls);
      const { host = "", nick = "", password = "" } = credentials;
      const source = sources["password"] ?? "none";
      const envPort = own("IRC_PORT");
      const flood = fieldsOf(config["flood"]) ?? {};
      const account = {
        ...base,
        host,
        port: portOf(envPort === undefined ? numberOf(config["port"]) : Number(envPort), tls),
        tls,
        nick,
        username: own("IRC_USERNAME") ?? trimmedOf(config["username"]) ?? nick,
        realname: own("IRC_REALNAME") ?? trimmedOf(config["realname"]) ?? "OpenClaw",
        password,
        passwordSource: source === "file" ? ("passwordFile" as const) : source,
        sasl: saslOf(config, nick),
        nickserv: nickservOf(config, own),
        channels: (own("IRC_CHANNELS")?.split(/[,;]/) ?? textsIn(config["channels"])).flatMap((entry) => readChannel(entry) ?? []),
        mentionPatterns: textsIn(config["mentionPatterns"]),
        trustsNames: config["dangerouslyAllowNameMatching"] === true,
        flood: { burst: Math.max(1, numberOf(flood["burst"]) ?? BURST), intervalMs: Math.max(0, numberOf(flood["intervalMs"]) ?? INTERVAL_MS) },
        textLimit: Math.max(1, numberOf(config["textChunkLimit"]) ?? TEXT_LIMIT),
      };
      return { ...account, problems: [...base.problems, ...problemsOf(account, config)] };
    },
  });
}
