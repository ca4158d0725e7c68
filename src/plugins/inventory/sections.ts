import { isObject, type ConfigSections, type DescribedSections, type JsonSchema, type SectionText } from "../../config/index.ts";
import type { PluginEntry } from "../record.ts";
import { configSchemaOf, secretPaths, withMarks } from "./plugin-config.ts";
import { child, DEFAULT_MEMORY } from "./settings.ts";
import { isWaiting } from "./waiting.ts";

type Fields = Readonly<Record<string, unknown>>;
type Schemas = Record<string, JsonSchema>;

/** A channel as the code of its plugin describes it. */
interface RegisteredChannel {
  readonly id: string;
  readonly plugin: Fields;
}

/** What the plugins that are on bring to the check of the configuration: schemas of their settings and of their channels, and all names. */
export function configSections(entries: readonly PluginEntry[]): ConfigSections {
  const on = entries.filter(({ enabled }) => enabled);
  const off = entries.filter(({ enabled }) => !enabled);
  return { ...schemasOf(on), unchecked: schemasOf(off), secrets: entries.flatMap(secretsOf), knownPlugins: knownIds(entries) };
}

/**
 * The same for forms: with labels and help. Channels that wait to be set up are described as well, and those whose schema only their code knows; against
 * the latter nothing is checked, since commands could not say the same.
 */
export function describedSections(entries: readonly PluginEntry[], registered: readonly RegisteredChannel[] = []): DescribedSections {
  const sections = configSections(entries);
  const there = entries.filter((entry) => entry.enabled || isWaiting(entry));
  const declared = new Set(there.flatMap(({ manifest }) => Object.keys(channelSchemas(manifest.rest))));
  const coded = registered.filter(({ id }) => !declared.has(id)).flatMap(codedChannel);
  const channels = { ...sections.unchecked?.channels, ...Object.fromEntries(coded.map(({ text, schema }) => [text.id, schema])) };
  return {
    ...sections,
    unchecked: { ...sections.unchecked, channels },
    secrets: [...(sections.secrets ?? []), ...coded.flatMap(({ text }) => secretPaths(text.hints).map((path) => ["channels", text.id, ...path]))],
    texts: [...there.flatMap(textsOf), ...coded.map(({ text }) => text)],
  };
}

/** Every id that a configuration may name: what was found, also by its former names, and the host's own memory. */
export function knownIds(entries: readonly PluginEntry[]): string[] {
  const former = entries.flatMap(({ manifest }) => {
    const ids = manifest.rest["legacyPluginIds"];
    return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
  });
  return [...new Set([...entries.map(({ id }) => id), ...former, DEFAULT_MEMORY])];
}

function channelSchemas(rest: Fields): Schemas {
  const configs = child(rest, "channelConfigs");
  return Object.fromEntries(
    Object.keys(configs).flatMap((id) => {
      const { schema } = child(configs, id);
      return isObject(schema) ? [[id, withMarks(schema, child(child(configs, id), "uiHints"))]] : [];
    }),
  );
}

/** Of two plugins of one name the first counts: the others are overridden. */
function schemasOf(entries: readonly PluginEntry[]): { readonly channels: Schemas; readonly plugins: Schemas } {
  const channels: Schemas = {};
  const plugins: Schemas = {};
  for (const { id, manifest } of entries.toReversed()) {
    Object.assign(channels, channelSchemas(manifest.rest));
    plugins[id] = configSchemaOf(manifest);
  }
  return { channels, plugins };
}

function secretsOf({ id, manifest }: PluginEntry): string[][] {
  const configs = child(manifest.rest, "channelConfigs");
  const ofChannels = Object.keys(configs).flatMap((channel) =>
    secretPaths(child(child(configs, channel), "uiHints")).map((path) => ["channels", channel, ...path]),
  );
  return [...secretPaths(manifest.uiHints).map((path) => ["plugins", "entries", id, "config", ...path]), ...ofChannels];
}

const text = (value: unknown): string | undefined => (typeof value === "string" && value.trim() !== "" ? value.trim() : undefined);

function textsOf({ id, name, description, manifest, enabled, channelCard = {} }: PluginEntry): SectionText[] {
  const configs = child(manifest.rest, "channelConfigs");
  const channels = Object.keys(channelSchemas(manifest.rest)).map((channel): SectionText => {
    const declared = child(configs, channel);
    const label = text(declared["label"]) ?? text(channelCard["label"]) ?? name;
    return { kind: "channels", id: channel, label, help: description, hints: child(declared, "uiHints") };
  });
  return enabled ? [{ kind: "plugins", id, label: name, help: description, hints: manifest.uiHints }, ...channels] : channels;
}

/** What a channel's code says of its section; nothing when that is no plain JSON. */
function codedChannel({ id, plugin }: RegisteredChannel): { readonly text: SectionText; readonly schema: JsonSchema }[] {
  try {
    const { schema, uiHints }: Fields = JSON.parse(JSON.stringify(child(plugin, "configSchema")));
    if (!isObject(schema)) return [];
    const hints = isObject(uiHints) ? uiHints : {};
    const meta = child(plugin, "meta");
    return [{ text: { kind: "channels", id, label: text(meta["label"]) ?? id, help: text(meta["blurb"]), hints }, schema: withMarks(schema, hints) }];
  } catch {
    return [];
  }
}
