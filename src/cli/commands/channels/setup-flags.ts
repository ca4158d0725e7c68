/** Which flags of `channels add` the channels that are here take. */
import { knownChannel } from "../../../config/index.ts";
import type { PluginEntry } from "../../../plugins/index.ts";
import type { OptionSpecs } from "../../command.ts";
import { keyOf, SETUP_OPTIONS } from "./setup-input.ts";

type Flag = keyof typeof SETUP_OPTIONS;
type Fields = Readonly<Record<string, unknown>>;

const FLAGS = Object.keys(SETUP_OPTIONS) as Flag[];

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
      const uses = Map.groupBy(
        taken.filter(([, flags]) => flags.has(flag)),
        ([, flags]) => flags.get(flag)!,
      );
      const help = [...uses].map(([text, users]) => `${users.map(([channel]) => channel).join(", ")}: ${text}`).join("; ");
      return uses.size === 0 ? [] : [[flag, { ...SETUP_OPTIONS[flag], help }]];
    }),
  );
}
