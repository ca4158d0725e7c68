/** Which flags of `channels add` the channels that are here take. */
import type { PluginEntry } from "../../../plugins/index.ts";
import type { OptionSpecs } from "../../command.ts";
import { keyOf, SETUP_OPTIONS } from "./setup-input.ts";

type Flag = keyof typeof SETUP_OPTIONS;
type Fields = Readonly<Record<string, unknown>>;

const FLAGS = Object.keys(SETUP_OPTIONS) as Flag[];

/** Published channels whose plugins do not declare their flags. */
const PUBLISHED: Readonly<Record<string, readonly Flag[]>> = {
  telegram: ["token", "token-file", "use-env"],
  discord: ["token", "use-env"],
  slack: ["bot-token", "app-token", "use-env"],
  signal: ["signal-number", "cli-path", "http-url", "http-host", "http-port"],
  imessage: ["cli-path", "db-path", "service", "region"],
  whatsapp: ["auth-dir"],
  bluebubbles: ["http-url", "password", "webhook-path"],
  googlechat: ["token", "token-file", "use-env", "webhook-path", "webhook-url", "audience-type", "audience"],
  matrix: ["homeserver", "user-id", "access-token", "password", "device-name", "initial-sync-limit", "use-env"],
  mattermost: ["bot-token", "http-url", "use-env"],
  tlon: ["ship", "url", "code", "group-channels", "dm-allowlist", "auto-discover-channels", "no-auto-discover-channels"],
};

const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {});

/** What the plugin declares, what is known of a published channel, else the flags that are settings of its schema; without one, a token. */
function flagsOf({ manifest }: Pick<PluginEntry, "manifest">, channel: string): ReadonlyMap<Flag, string> {
  const declared = fieldsOf(fieldsOf(manifest.rest["channelConfigs"])[channel]);
  const own = declared["setupFlags"];
  if (own !== undefined) return new Map(FLAGS.filter((flag) => typeof fieldsOf(own)[flag] === "string").map((flag) => [flag, String(fieldsOf(own)[flag])]));
  const settings = fieldsOf(fieldsOf(declared["schema"])["properties"]);
  const matching = FLAGS.filter((flag) => settings[keyOf(flag)] !== undefined);
  const token: readonly Flag[] = settings["token"] === undefined && settings["botToken"] === undefined ? [] : ["token", "token-file"];
  const fromSchema = [...new Set<Flag>([...token, ...matching])];
  const flags: readonly Flag[] = PUBLISHED[channel] ?? (fromSchema.length > 0 ? fromSchema : ["token", "token-file", "use-env"]);
  return new Map(flags.map((flag) => [flag, SETUP_OPTIONS[flag].help]));
}

/** The flags of channels that bundled and installed plugins bring, with the channel that each is for. */
export function setupFlags(entries: readonly Pick<PluginEntry, "manifest" | "reason">[]): OptionSpecs {
  const present = entries.filter(({ reason }) => reason?.startsWith("overridden by ") !== true);
  const taken = present.flatMap((entry) => (entry.manifest.channels ?? []).map((channel) => [channel, flagsOf(entry, channel)] as const));
  return Object.fromEntries(
    FLAGS.flatMap((flag) => {
      const uses = Map.groupBy(
        taken.filter(([, flags]) => flags.has(flag)),
        ([, flags]) => flags.get(flag)!,
      );
      const help = [...uses].map(([text, users]) => `${users.map(([channel]) => channel).join(", ")}: ${text}`).join("; ");
      return uses.size === 0 ? [] : [[flag, { ...SETUP_OPTIONS[flag], help }]];
    }),
  );
}
