import { AppError } from "../../../base/errors.ts";
import type { OptionSpecs, Values } from "../../command.ts";
import type { ChannelSetupInput } from "../../../protocol/index.ts";

const flag = (value: string, help: string) => ({ type: "string", value, help }) as const;

/** Flags of `channels add`; which of them a channel takes, its plugin says. */
export const SETUP_OPTIONS = {
  token: flag("text", "the bot's token"),
  "token-file": flag("path", "a file with the token"),
  "bot-token": flag("text", "Slack bot token"),
  "app-token": flag("text", "Slack app token"),
  "access-token": flag("text", "Matrix access token"),
  "use-env": { type: "boolean", help: "take credentials from the environment (default account only)" },
  "signal-number": flag("number", "Signal account, as +1555…"),
  "cli-path": flag("path", "the program that is run (signal-cli, imsg)"),
  "db-path": flag("path", "iMessage database"),
  service: flag("name", "iMessage service: imessage, sms, auto"),
  region: flag("code", "iMessage region of phone numbers"),
  "auth-dir": flag("path", "WhatsApp credentials folder"),
  "http-url": flag("url", "address of the Signal daemon"),
  "http-host": flag("host", "host of the Signal daemon"),
  "http-port": flag("port", "port of the Signal daemon"),
  "webhook-path": flag("path", "where the platform's calls come in"),
  "webhook-url": flag("url", "the same as the platform sees it"),
  "audience-type": flag("kind", "Google Chat: app-url or project-number"),
  audience: flag("text", "Google Chat audience"),
  homeserver: flag("url", "Matrix homeserver"),
  "user-id": flag("id", "Matrix user"),
  password: flag("text", "Matrix password"),
  "device-name": flag("text", "Matrix device name"),
  "initial-sync-limit": flag("n", "Matrix: messages of the first sync"),
  ship: flag("name", "Tlon ship"),
  url: flag("url", "Tlon ship's address"),
  code: flag("text", "Tlon login code"),
  "group-channels": flag("list", "Tlon channels, separated by commas"),
  "dm-allowlist": flag("list", "Tlon ships that may write, separated by commas"),
  "auto-discover-channels": { type: "boolean", help: "Tlon: find channels by itself" },
  "no-auto-discover-channels": { type: "boolean", help: "Tlon: do not" },
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

/** What was given, as plugins take it; keys that were not given are absent. */
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
