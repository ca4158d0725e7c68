import { AppError } from "../../base/errors.ts";
import { nearest } from "../../base/text.ts";
import type { ModelEntry } from "../entry.ts";
import { canonicalProvider, providerFacts } from "../providers/index.ts";
import { entryOf, type ProviderSettings } from "./layer.ts";
import { createLayers, type LayersDeps } from "./layers.ts";

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
