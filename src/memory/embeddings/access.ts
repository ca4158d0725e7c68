import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { messageOf } from "../../base/errors.ts";
import { expandHome, type Config, type SecretInput } from "../../config/index.ts";
import { loadChoice, loadProfiles, type AuthProfiles } from "../../models/index.ts";
import type { MemorySettings } from "../settings.ts";
import type { EmbeddingSettings, ProviderAccess, ProviderId } from "./types.ts";

/** Credentials of an agent, as far as embeddings need them. */
export type EmbeddingAuth = Pick<AuthProfiles, "candidates" | "credential">;

export interface AccessDeps {
  readonly config: Config;
  readonly home: string;
  readonly version: string;
  /** Without it, only `memorySearch.remote.apiKey` is a key. */
  readonly auth?: EmbeddingAuth | undefined;
}

interface Known {
  /** Its name among the providers of models. */
  readonly provider: string;
  readonly model: string;
  /** USD per million tokens, by model. */
  readonly costs: Readonly<Record<string, number>>;
}

const KNOWN: Readonly<Record<Exclude<ProviderId, "local">, Known>> = {
  openai: {
    provider: "openai",
    model: "text-embedding-3-small",
    costs: { "text-embedding-3-small": 0.02, "text-embedding-3-large": 0.13, "text-embedding-ada-002": 0.1 },
  },
  gemini: { provider: "google", model: "gemini-embedding-001", costs: { "gemini-embedding-001": 0.15 } },
  voyage: { provider: "voyage", model: "voyage-4-large", costs: { "voyage-4-large": 0.12, "voyage-4": 0.06, "voyage-4-lite": 0.02, "voyage-3-large": 0.18 } },
  mistral: { provider: "mistral", model: "mistral-embed", costs: { "mistral-embed": 0.1 } },
  ollama: { provider: "ollama", model: "nomic-embed-text", costs: {} },
};
const DOWNLOADED = /^(?:hf|https?):/;
const LOCAL_MODEL = "hf:ggml-org/embeddinggemma-300m-qat-q8_0-GGUF/embeddinggemma-300m-qat-Q8_0.gguf";
/** By what is tried when the configuration names none. */
const AUTOMATIC = ["openai", "gemini", "voyage"] as const;

type Outcome = { readonly access: ProviderAccess } | { readonly why: string };

const withoutSlash = (url: string): string => url.trim().replace(/\/+$/, "");

/** Finds what each provider would be asked with. */
class Accesses {
  readonly #settings: MemorySettings;
  readonly #deps: AccessDeps;

  constructor(settings: MemorySettings, deps: AccessDeps) {
    this.#settings = settings;
    this.#deps = deps;
  }

  /** `isOwn`: the settings beside the provider's name are for it. */
  async of(id: ProviderId, isOwn: boolean): Promise<Outcome> {
    return id === "local" ? this.#local() : this.#remote(id, isOwn);
  }

  async automatic(): Promise<Outcome> {
    const { local, remote } = this.#settings.written;
    const path = local?.modelPath?.trim() ?? "";
    if (path !== "" && !DOWNLOADED.test(path) && existsSync(this.#fileOf(path))) return this.#local();
    // A key that the configuration gives without a name is for the first of them.
    const order = remote?.apiKey === undefined ? AUTOMATIC : AUTOMATIC.slice(0, 1);
    for (const id of order) {
      const found = await this.#remote(id, id === order[0]);
      if ("access" in found) return found;
    }
    return { why: "no embedding provider is set up: no local model and no key for openai, gemini or voyage found" };
  }

  #fileOf(path: string): string {
    return resolve(this.#deps.home, expandHome(path, this.#deps.home));
  }

  async #keysOf(id: Exclude<ProviderId, "local">, own: SecretInput | undefined): Promise<readonly string[]> {
    const { config, auth } = this.#deps;
    if (own !== undefined && own !== "") return [await config.resolveSecret(own, "agents.defaults.memorySearch.remote.apiKey")];
    const { provider } = KNOWN[id];
    const found: string[] = [];
    for (const candidate of (await auth?.candidates(provider)) ?? []) {
      // A login for chats is no key for embeddings.
      if (candidate.type !== "api_key") continue;
      const { apiKey } = (await auth?.credential(candidate).catch(() => undefined)) ?? {};
      if (apiKey !== undefined) found.push(apiKey);
    }
    if (id !== "gemini") return found.slice(0, 1);
    const { keysInRotation } = await loadProfiles();
    return keysInRotation(provider, auth ? config.env() : {}, found[0]);
  }

  async #remote(id: Exclude<ProviderId, "local">, isOwn: boolean): Promise<Outcome> {
    const { written } = this.#settings;
    const { provider, model: usual, costs } = KNOWN[id];
    const { providerFacts, needsNoKey } = await loadChoice();
    const entry = Object.entries(this.#deps.config.current.models?.providers ?? {}).find(([name]) => name.trim().toLowerCase() === provider)?.[1];
    const own = isOwn ? written.remote : undefined;
    let keys: readonly string[];
    try {
      keys = await this.#keysOf(id, own?.apiKey);
    } catch (error) {
      return { why: messageOf(error) };
    }
    const baseUrl = withoutSlash(own?.baseUrl || entry?.baseUrl || providerFacts(provider)?.baseUrl || "");
    if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol))
      return { why: `the address of ${id} is not an http or https URL: ${JSON.stringify(baseUrl.slice(0, 100))}` };
    if (keys.length === 0 && !needsNoKey(provider)) {
      return { why: `No API key found for provider "${provider}". Add one with: openclaw models auth add --provider ${provider}` };
    }
    const model = (isOwn ? written.model?.trim() : "") || usual;
    const listed = entry?.models?.find((known) => known.id === model)?.cost?.input;
    const headers = { ...stringsOf(entry?.headers), ...own?.headers };
    const bare = id === "ollama" ? baseUrl.replace(/\/v1$/, "") : baseUrl;
    return { access: { id, model, baseUrl: bare, headers, keys, cost: listed ?? costs[model] ?? 0 } };
  }

  #local(): Outcome {
    const { local } = this.#settings.written;
    const modelPath = local?.modelPath?.trim() || LOCAL_MODEL;
    const file = DOWNLOADED.test(modelPath) ? modelPath : this.#fileOf(modelPath);
    const cacheDir = local?.modelCacheDir === undefined ? undefined : this.#fileOf(local.modelCacheDir);
    const packagesFrom = [this.#deps.config.paths.state, import.meta.dirname];
    return {
      access: {
        id: "local",
        model: file,
        baseUrl: "",
        headers: {},
        keys: [],
        cost: 0,
        local: { modelPath: file, packagesFrom, ...(cacheDir === undefined ? {} : { cacheDir }) },
      },
    };
  }
}

/** Which provider embeds for an agent, and with what. Keys are read here, on the main thread, and go along with each request. */
export async function embeddingSettings(settings: MemorySettings, deps: AccessDeps): Promise<EmbeddingSettings> {
  const { fallback, remote, cache, store, provider: requested = "auto" } = settings.written;
  const accesses = new Accesses(settings, deps);
  const primary = await (requested === "auto" ? accesses.automatic() : accesses.of(requested, true));
  const second = fallback === undefined || fallback === "none" || fallback === requested ? undefined : await accesses.of(fallback, false);
  const isSame = second && "access" in second && "access" in primary && second.access.id === primary.access.id;
  const { batch } = remote ?? {};
  return {
    requested,
    ...("access" in primary ? { primary: primary.access } : { unavailable: primary.why }),
    ...(second && "access" in second && !isSame ? { fallback: second.access } : {}),
    batch: {
      enabled: batch?.enabled ?? false,
      wait: batch?.wait ?? true,
      concurrency: batch?.concurrency ?? 2,
      pollIntervalMs: batch?.pollIntervalMs ?? 2000,
      timeoutMinutes: batch?.timeoutMinutes ?? 60,
    },
    cache: { enabled: cache?.enabled ?? true, ...(cache?.maxEntries === undefined ? {} : { maxEntries: cache.maxEntries }) },
    vector: {
      enabled: store?.vector?.enabled ?? true,
      ...(store?.vector?.extensionPath === undefined ? {} : { extensionPath: resolve(deps.home, expandHome(store.vector.extensionPath, deps.home)) }),
    },
    vectorsOnly: settings.ranking.vectorsOnly ?? false,
    version: deps.version,
  };
}

/** Headers of a provider that are plain texts. */
function stringsOf(headers: Readonly<Record<string, unknown>> | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers ?? {}).filter((pair): pair is [string, string] => typeof pair[1] === "string"));
}
