import { AppError } from "../../base/errors.ts";
import { nearest } from "../../base/text.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { AuthProfileCredential, OAuthCredential } from "../../protocol/index.ts";
import type { ModelEntry } from "../entry.ts";
import { canonicalProvider, PROVIDERS, providerFacts } from "../providers/index.ts";
import { loadTables, type FrozenTables } from "./frozen.ts";
import { entryOf, type ProviderSettings } from "./layer.ts";
import { readModelsFile } from "./models-json.ts";

/** Models that are newer than the tables, and the older one whose facts they inherit. */
const RULES: readonly { readonly provider: string | undefined; readonly id: RegExp; readonly from: (match: RegExpExecArray) => readonly string[] }[] = [
  {
    provider: undefined,
    id: /^(.*)claude-(opus|sonnet)-4[-.]6(?!\d)(.*)$/,
    from: ([, before = "", family, after = ""]) => [
      `${before}claude-${family}-4-5${after}`,
      `${before}claude-${family}-4.5${after}`,
      `${before}claude-${family}-4-5`,
      `${before}claude-${family}-4.5`,
    ],
  },
  { provider: "zai", id: /^glm-5(?!\d)/, from: () => ["glm-4.7"] },
  { provider: "openai-codex", id: /^gpt-5\.3-codex(?:-|$)/, from: () => ["gpt-5.2-codex"] },
];

/** Ids whose facts stand in for those of an unknown model, best first. */
function predecessorsOf(provider: string, id: string): readonly string[] {
  for (const rule of RULES) {
    const match = rule.provider === undefined || rule.provider === provider ? rule.id.exec(id) : null;
    if (match) return rule.from(match);
  }
  return [];
}

export interface ModelName {
  readonly provider: string;
  readonly id: string;
}

export interface CatalogueFilter {
  readonly provider?: string | undefined;
  /** Only models on this machine or its network. */
  readonly local?: boolean | undefined;
  /** Includes models of providers that are listed only with a credential. */
  readonly absent?: boolean | undefined;
}

/** All known models, with facts from the most specific source. */
export interface Catalogue {
  /** Throws `NOT_FOUND` with `Unknown model: p/m` and a suggestion. */
  get(name: ModelName): ModelEntry;
  /** Also finds successors of known models and any model of a configured provider. */
  find(name: ModelName): ModelEntry | undefined;
  /** Only listed models; nothing is inferred. */
  listed(name: ModelName): ModelEntry | undefined;
  list(filter?: CatalogueFilter): readonly ModelEntry[];
  /** Every provider with models or settings. */
  providers(): readonly string[];
  /** Settings of a provider from the user or a plugin. */
  settings(provider: string): ProviderSettings | undefined;
}

export interface CatalogueDeps extends LayersDeps {
  /** There is a key or profile for it. */
  readonly hasCredential: (provider: string) => boolean;
}

const LOOPBACK = /^https?:\/\/(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1\]|[^/:]+\.local)(?=[:/]|$)/i;

/** Served by this machine, by a `.local` neighbour, or by no server at all. */
export const isLocal = ({ baseUrl, api }: Pick<ModelEntry, "baseUrl" | "api">): boolean => LOOPBACK.test(baseUrl) || api === "builtin-offline";

export function createCatalogue(deps: CatalogueDeps): Catalogue {
  const { modelsOf, settingsOf, names } = createLayers(deps);
  const isOffered = (provider: string): boolean => {
    if (settingsOf(provider) !== undefined) return true;
    const presence = providerFacts(provider)?.presence;
    return presence === "catalog" || presence === "local" || deps.hasCredential(provider);
  };
  const listed = ({ provider, id }: ModelName): ModelEntry | undefined => modelsOf(canonicalProvider(provider)).get(id.toLowerCase());

  function find(name: ModelName): ModelEntry | undefined {
    const direct = listed(name);
    if (direct) return direct;
    const provider = canonicalProvider(name.provider);
    for (const older of predecessorsOf(provider, name.id)) {
      const entry = listed({ provider, id: older });
      if (entry) return { ...entry, id: name.id, name: name.id, source: "predecessor" };
    }
    const settings = settingsOf(provider);
    return settings ? entryOf(provider, { id: name.id }, settings, "generic") : undefined;
  }

  return {
    find,
    listed,
    get(name) {
      const entry = find(name);
      if (entry) return entry;
      const ref = `${name.provider}/${name.id}`;
      const close = nearest(
        ref,
        names().flatMap((provider) => [...modelsOf(provider).values()].map(({ id }) => `${provider}/${id}`)),
      );
      throw new AppError("NOT_FOUND", `Unknown model: ${ref}; ${close ? `did you mean ${close}?` : "openclaw models list --all shows the known ones"}`, {
        details: { ref, ...(close ? { suggestion: close } : {}) },
      });
    },
    list({ provider, local, absent } = {}) {
      const wanted = provider === undefined ? names() : [canonicalProvider(provider)];
      return wanted
        .filter((name) => absent === true || isOffered(name))
        .flatMap((name) => [...modelsOf(name).values()])
        .filter((entry) => local !== true || isLocal(entry));
    },
    providers: () => names().filter((name) => modelsOf(name).size > 0 || settingsOf(name) !== undefined),
    settings: settingsOf,
  };
}

/** Where models come from. */
interface LayersDeps {
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
interface Layers {
  /** Models of one provider by lower-case id, configured ones first. */
  modelsOf(provider: string): ReadonlyMap<string, ModelEntry>;
  /** Settings of a provider from file, plugins and configuration, the last one strongest. */
  settingsOf(provider: string): ProviderSettings | undefined;
  /** Every provider that is known or named. */
  names(): readonly string[];
}

const byCanonicalName = (settings: Readonly<Record<string, ProviderSettings>> | undefined): ReadonlyMap<string, ProviderSettings> =>
  new Map(Object.entries(settings ?? {}).flatMap(([name, value]) => (name.trim() === "" ? [] : [[canonicalProvider(name), value] as const])));

function createLayers(deps: LayersDeps): Layers {
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

/** A provider that a plugin registered, in the SDK's shape. */
export interface PluginProvider {
  readonly id: string;
  readonly models?: ProviderSettings | undefined;
  /** Alternative names. */
  readonly aliases?: readonly string[] | undefined;
  /** Variables that may hold its key. */
  readonly envVars?: readonly string[] | undefined;
  /** Renews a login of it. */
  readonly refreshOAuth?: ((credential: OAuthCredential) => Promise<OAuthCredential>) | undefined;
  /** Formats a credential for authenticating its requests. */
  readonly formatApiKey?: ((credential: AuthProfileCredential) => string) | undefined;
}

export interface OpenCatalogueDeps {
  readonly config: OpenClawConfig;
  /** Folder with `models.json`. */
  readonly agentDir: string;
  readonly hasCredential: (provider: string) => boolean;
  readonly plugins?: readonly PluginProvider[] | undefined;
  readonly discovered?: readonly ModelEntry[] | undefined;
  readonly warn?: ((message: string) => void) | undefined;
}

/** The catalogue of one agent, from the tables, its `models.json`, the configuration, plugins and discovery. */
export async function openCatalogue({ config, agentDir, hasCredential, plugins = [], discovered, warn }: OpenCatalogueDeps): Promise<Catalogue> {
  const tables = await loadTables();
  const { providers, damage } = readModelsFile(agentDir);
  if (damage !== undefined) warn?.(damage);
  return createCatalogue({
    tables,
    config: config.models?.providers,
    file: config.models?.mode === "replace" ? undefined : providers,
    plugins: Object.fromEntries(plugins.flatMap(({ id, models }) => (models ? [[id, models]] : []))),
    discovered,
    hasCredential,
  });
}
