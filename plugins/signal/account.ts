/** What an account's configuration says. */
import {
  type AccountReader,
  type ChannelAccount,
  choiceOf,
  createAccountReader,
  type CredentialSpec,
  entriesOf,
  type Fields,
  flagOf,
  groupLayers,
  numberOf,
  textOf,
  trimmedOf,
  wholeOf,
} from "openclaw/plugin-sdk/channel-kit";
import { allowEntry, groupIn, numberIn, uuidIn } from "./target.ts";

export interface SignalAccount extends ChannelAccount {
  /** E.164; empty: the only one that the daemon has. */
  readonly number: string;
  readonly uuid: string | undefined;
  /** Of the daemon or container, without a slash at its end. */
  readonly baseUrl: string;
  readonly apiMode: "auto" | "native" | "container";
  /** How to start signal-cli; undefined: it runs already. */
  readonly program: ProgramSettings | undefined;
  readonly ignoreAttachments: boolean;
  readonly ignoreStories: boolean;
  readonly sendReadReceipts: boolean;
  readonly reactionNotices: "off" | "own" | "all" | "allowlist";
  readonly reactionAllowlist: readonly string[];
  readonly reactionLevel: "off" | "ack" | "minimal" | "extensive";
  /** Of files that are sent. */
  readonly maxFileBytes: number;
}

export interface ProgramSettings {
  readonly cliPath: string;
  readonly args: readonly string[];
  readonly startupMs: number;
}

const [HOST, PORT, STARTUP_MS, MEDIA_MB] = ["127.0.0.1", 8080, 30_000, 8];
const MB = 1024 * 1024;

const isAddress = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? "");
/** Whether something says where a daemon is, so that its only account can be meant. */
const saysWhere = (config: Fields): boolean => ["httpUrl", "httpHost", "httpPort"].some((key) => config[key] !== undefined);

export const CREDENTIALS: readonly CredentialSpec[] = [
  {
    key: "account",
    inputs: ["signalNumber"],
    label: "Number of the bot",
    isPublic: true,
    isOptional: saysWhere,
    placeholder: "+491701234567",
    check: (number) => (numberIn(number) === undefined ? `expected a number with its country code such as +491701234567, not "${number}"` : undefined),
  },
  {
    key: "httpUrl",
    inputs: ["httpUrl"],
    label: "URL of signal-cli",
    isPublic: true,
    isOptional: true,
    placeholder: "empty: the gateway starts signal-cli itself",
    check: (url) => (isAddress(url) ? undefined : `expected a URL such as http://127.0.0.1:8080, not "${url}"`),
  },
];

/** It is run without a shell; what no file is called is a mistake. */
const isProgram = (path: string): boolean => !/[\p{Cc};&|`$<>"'*?]/u.test(path) && !path.startsWith("-");

function addressOf(config: Fields, httpUrl: string): string {
  if (httpUrl !== "") return httpUrl.replace(/\/+$/, "");
  const host = trimmedOf(config["httpHost"]) ?? HOST;
  return `http://${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${wholeOf(config["httpPort"]) ?? PORT}`;
}

/** Flags of the daemon. It receives only while a client listens, unless the configuration says otherwise: nothing is lost then. */
function programOf(config: Fields, number: string, baseUrl: string): ProgramSettings {
  const { hostname, port } = URL.parse(baseUrl) ?? { hostname: HOST, port: String(PORT) };
  const configPath = trimmedOf(config["configPath"]);
  const mode = choiceOf(config["receiveMode"], ["on-start", "manual", "on-connection"], "on-connection");
  return {
    cliPath: trimmedOf(config["cliPath"]) ?? "signal-cli",
    startupMs: Math.min(120_000, Math.max(1000, numberOf(config["startupTimeoutMs"]) ?? STARTUP_MS)),
    args: [
      ...(configPath === undefined ? [] : ["--config", configPath]),
      ...(number === "" ? [] : ["-a", number]),
      "daemon",
      "--http",
      `${hostname}:${port || 80}`,
      "--no-receive-stdout",
      "--receive-mode",
      mode,
      ...(config["ignoreAttachments"] === true ? ["--ignore-attachments"] : []),
      ...(config["ignoreStories"] === true ? ["--ignore-stories"] : []),
    ],
  };
}

function problemsOf(config: Fields, isStarted: boolean, apiMode: string): string[] {
  const cliPath = trimmedOf(config["cliPath"]);
  return [
    ...(cliPath === undefined || isProgram(cliPath) ? [] : [`channels.signal.cliPath: expected the path of a program, not "${cliPath}"`]),
    ...(isStarted && apiMode === "container" ? ['channels.signal.apiMode is "container": set httpUrl to its URL and autoStart to false'] : []),
  ];
}

export function createAccounts(): AccountReader<SignalAccount> {
  return createAccountReader<SignalAccount>({
    channel: "signal",
    credentials: CREDENTIALS,
    read(account) {
      const { config, credentials } = account;
      const number = numberIn(credentials["account"] ?? "") ?? "";
      const httpUrl = credentials["httpUrl"] ?? "";
      const baseUrl = addressOf(config, httpUrl);
      const isStarted = flagOf(config["autoStart"]) ?? httpUrl === "";
      const apiMode = choiceOf(config["apiMode"], ["auto", "native", "container"], "auto");
      return {
        ...account,
        problems: [...account.problems, ...problemsOf(config, isStarted, apiMode)],
        number,
        uuid: uuidIn(textOf(config["accountUuid"]) ?? ""),
        baseUrl,
        apiMode,
        program: isStarted ? programOf(config, number, baseUrl) : undefined,
        ignoreAttachments: config["ignoreAttachments"] === true,
        ignoreStories: config["ignoreStories"] === true,
        sendReadReceipts: config["sendReadReceipts"] === true,
        reactionNotices: choiceOf(config["reactionNotifications"], ["off", "own", "all", "allowlist"], "own"),
        reactionAllowlist: entriesOf(config["reactionAllowlist"]).map(allowEntry),
        reactionLevel: choiceOf(config["reactionLevel"], ["off", "ack", "minimal", "extensive"], "minimal"),
        maxFileBytes: (numberOf(config["mediaMaxMb"]) ?? MEDIA_MB) * MB,
      };
    },
  });
}

/** The sections of a group: its own, then that of `*`. Ids are base64: their case matters. */
export const layersOf = ({ groups }: SignalAccount, groupId: string): readonly Fields[] => groupLayers(groups, groupId, groupIn);
