import type { ModelEntry } from "../entry.ts";
import { canonicalProvider, PROVIDERS, providerFacts } from "../providers/index.ts";
import type { FrozenTables } from "./frozen.ts";
import { entryOf, type ProviderSettings } from "./layer.ts";

/** Where models come from. */
export interface LayersDeps {
  readonly tables: FrozenTables;
  /** `models.providers`. */
  readonly config?: Readonly<Record<string, ProviderSettings>> | undefined;
  /** Providers of `models.json`. */
  readonly file?: Readonly<Record<string, ProviderSettings>> | undefined;
  /** Providers from plugins. */
  readonly plugins?: Readonly<Record<string, ProviderSettings>> | undefined;
  /** Models found on this machine. */
  readonly discovered?: readonly ModelEntry[] | undefined;
}

/** All sources as one. */
export interface Layers {
  /** Models of one provider by lower-case id, configured ones first. */
  modelsOf(provider: string): ReadonlyMap<string, ModelEntry>;
  /** Settings of a provider from file, plugins and configuration, the last one strongest. */
  settingsOf(provider: string): ProviderSettings | undefined;
  /** Every provider that is known or named. */
  names(): readonly string[];
}

const byCanonicalName = (settings: Readonly<Record<string, ProviderSettings>> | undefined): ReadonlyMap<string, ProviderSettings> =>
  new Map(Object.entries(settings ?? {}).flatMap(([name, value]) => (name.trim() === "" ? [] : [[canonicalProvider(name), value] as const])));

export function createLayers(deps: LayersDeps): Layers {
  const config = byCanonicalName(deps.config);
  const file = byCanonicalName(deps.file);
  const plugins = byCanonicalName(deps.plugins);
  const made = new Map<string, ReadonlyMap<string, ModelEntry>>();
  const settingsOf = (provider: string): ProviderSettings | undefined => {
    const layers = [file.get(provider), plugins.get(provider), config.get(provider)].filter((layer) => layer !== undefined);
    return layers.length === 0 ? undefined : Object.assign({}, ...layers);
  };

  function modelsOf(provider: string): ReadonlyMap<string, ModelEntry> {
    const known = made.get(provider);
    if (known) return known;
    const settings = settingsOf(provider);
    const facts = providerFacts(provider);
    const hidden = provider === "opencode" && config.has(provider);
    const entries = [
      ...(config.get(provider)?.models ?? []).map((model) => entryOf(provider, model, settings, "config")),
      ...(plugins.get(provider)?.models ?? []).map((model) => entryOf(provider, model, settings, "plugin")),
      ...(file.get(provider)?.models ?? []).map((model) => entryOf(provider, model, settings, "models.json")),
      ...(deps.discovered ?? []).filter((entry) => entry.provider === provider),
      ...(hidden ? [] : [...(facts?.models ?? []), ...deps.tables.of(provider)]).map((model) =>
        entryOf(provider, model, settings, provider === "builtin" ? "builtin" : "catalogue"),
      ),
    ];
    // The first of several wins; ids that differ only in case are one model.
    const models = new Map<string, ModelEntry>();
    for (const entry of entries) if (!models.has(entry.id.toLowerCase())) models.set(entry.id.toLowerCase(), entry);
    made.set(provider, models);
    return models;
  }

  const names = (): readonly string[] => [
    ...new Set([
      ...config.keys(),
      ...plugins.keys(),
      ...file.keys(),
      ...(deps.discovered ?? []).map(({ provider }) => provider),
      ...PROVIDERS.filter(({ api }) => api !== "").map(({ id }) => id),
    ]),
  ];
  return { modelsOf, settingsOf, names };
}
