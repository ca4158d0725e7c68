import { isRecord } from "../../../base/records.ts";
import { AppError } from "../../../base/errors.ts";
import type { OptionSpecs, Values } from "../../command.ts";
import type { ChannelSetupInput } from "../../../protocol/index.ts";
import { knownChannel } from "../../../config/index.ts";
import type { PluginEntry } from "../../../plugins/index.ts";

const flag = (value: string, help: string) => ({ type: "string", value, help }) as const;

/** Flags of `channels add`. A channel's plugin declares which of them it takes. */
export const SETUP_OPTIONS = {
  token: flag("text", "Bot token"),
  "token-file": flag("path", "File with the token"),
  "bot-token": flag("text", "Bot token"),
  "app-token": flag("text", "App token"),
  "signing-secret": flag("text", "Signing secret"),
  mode: flag("name", "How messages arrive"),
  "access-token": flag("text", "Access token"),
  "use-env": { type: "boolean", help: "Read credentials from environment variables (default account only)" },
  "signal-number": flag("number", "Phone number of the account, such as +15551234567"),
  "cli-path": flag("path", "Program to run"),
  "db-path": flag("path", "Database file"),
  service: flag("name", "imessage, sms or auto"),
  region: flag("code", "Phone number region"),
  "auth-dir": flag("path", "Folder for credentials"),
  "http-url": flag("url", "Server URL"),
  "http-host": flag("host", "Server host"),
  "http-port": flag("port", "Server port"),
  "webhook-path": flag("path", "Webhook path"),
  "webhook-url": flag("url", "Public webhook URL"),
  "audience-type": flag("kind", "app-url or project-number"),
  audience: flag("text", "Audience"),
  homeserver: flag("url", "Homeserver URL"),
  "user-id": flag("id", "User id"),
  password: flag("text", "Password"),
  "device-name": flag("text", "Device name"),
  "initial-sync-limit": flag("n", "Number of messages in the first sync"),
  ship: flag("name", "Ship"),
  url: flag("url", "URL"),
  code: flag("text", "Login code"),
  "group-channels": flag("list", "Channels, separated by commas"),
  "dm-allowlist": flag("list", "Allowed senders, separated by commas"),
  "auto-discover-channels": { type: "boolean", help: "Discover channels automatically" },
  "no-auto-discover-channels": { type: "boolean", help: "Don't discover channels automatically" },
} as const satisfies OptionSpecs;

type SetupValues = Values<typeof SETUP_OPTIONS>;

const listOf = (text: string | undefined): string[] | undefined =>
  text
    ?.split(/[,\n;]+/)
    .map((part) => part.trim())
    .filter(Boolean);

/** `--http-url` is `httpUrl`. */
const keyOf = (name: string): string => name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

const SPECIAL = new Set(["initial-sync-limit", "group-channels", "dm-allowlist", "auto-discover-channels", "no-auto-discover-channels", "service"]);

function wholeNumber(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw new AppError("INVALID_INPUT", `--initial-sync-limit takes a whole number, not "${text}"`);
  return Number(text);
}

function serviceOf(text: string | undefined): ChannelSetupInput["service"] {
  if (text === undefined || text === "imessage" || text === "sms" || text === "auto") return text;
  throw new AppError("INVALID_INPUT", `--service takes imessage, sms or auto, not "${text}"`);
}

/** The values as plugins take them; flags that were not set are absent. */
export function setupInput(values: SetupValues & { readonly name?: string }): ChannelSetupInput {
  const plain = Object.entries(values).filter(([name]) => name in SETUP_OPTIONS && !SPECIAL.has(name));
  const discover = values["auto-discover-channels"] ? true : values["no-auto-discover-channels"] ? false : undefined;
  const special: ChannelSetupInput = {
    name: values.name,
    service: serviceOf(values.service),
    initialSyncLimit: wholeNumber(values["initial-sync-limit"]),
    groupChannels: listOf(values["group-channels"]),
    dmAllowlist: listOf(values["dm-allowlist"]),
    autoDiscoverChannels: discover,
  };
  return {
    ...Object.fromEntries(plain.map(([name, value]) => [keyOf(name), value])),
    ...Object.fromEntries(Object.entries(special).filter(([, value]) => value !== undefined)),
  };
}

type Flag = keyof typeof SETUP_OPTIONS;
type Fields = Readonly<Record<string, unknown>>;

const FLAGS = Object.keys(SETUP_OPTIONS) as Flag[];

const fieldsOf = (value: unknown): Fields => (isRecord(value) ? value : {});

/** What the plugin declares, what is known of a published channel, else the flags that are settings of its schema; without one, a token. */
function flagsOf({ manifest }: Pick<PluginEntry, "manifest">, channel: string): ReadonlyMap<Flag, string> {
  const declared = fieldsOf(fieldsOf(manifest.rest["channelConfigs"])[channel]);
  const own = declared["setupFlags"];
  if (own !== undefined) return new Map(FLAGS.filter((flag) => typeof fieldsOf(own)[flag] === "string").map((flag) => [flag, String(fieldsOf(own)[flag])]));
  const settings = fieldsOf(fieldsOf(declared["schema"])["properties"]);
  const matching = FLAGS.filter((flag) => settings[keyOf(flag)] !== undefined);
  const token: readonly Flag[] = settings["token"] === undefined && settings["botToken"] === undefined ? [] : ["token", "token-file"];
  const fromSchema = [...new Set<Flag>([...token, ...matching])];
  const published = knownChannel(channel).setupFlags;
  const flags: readonly Flag[] = published
    ? FLAGS.filter((flag) => published.includes(flag))
    : fromSchema.length > 0
      ? fromSchema
      : ["token", "token-file", "use-env"];
  return new Map(flags.map((flag) => [flag, SETUP_OPTIONS[flag].help]));
}

/** The flags of channels that bundled and installed plugins bring, with the channel that each is for. */
export function setupFlags(entries: readonly Pick<PluginEntry, "manifest" | "reason">[]): OptionSpecs {
  const present = entries.filter(({ reason }) => reason?.startsWith("overridden by ") !== true);
  const taken = present.flatMap((entry) => (entry.manifest.channels ?? []).map((channel) => [channel, flagsOf(entry, channel)] as const));
  return Object.fromEntries(
    FLAGS.flatMap((flag) => {
      const texts = taken.flatMap(([channel, flags]) => {
        const text = flags.get(flag);
        return text === undefined ? [] : [{ channel, text }];
      });
      const uses = Map.groupBy(texts, ({ text }) => text);
      const help = [...uses].map(([text, users]) => `${users.map(({ channel }) => channel).join(", ")}: ${text}`).join("; ");
      return uses.size === 0 ? [] : [[flag, { ...SETUP_OPTIONS[flag], help }]];
    }),
  );
}
