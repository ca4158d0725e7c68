import type { Clock } from "../base/clock.ts";
import type { OpenClawConfig } from "../config/index.ts";
import { loadChoice, type Discovery, type Found, type ModelEntry } from "../models/index.ts";
import { AppError } from "../base/errors.ts";
import { providerLabel } from "./providers.ts";

export interface LocalServer {
  readonly id: string;
  readonly label: string;
  readonly url: string;
  readonly running: boolean;
  readonly models: readonly string[];
}

/** A server on this machine answers at once, or it is busy with something else. */
const LOOK_MS = 1500;
/** Short, because the page polls and a server that was just started should appear. */
const KEEP_MS = 20_000;

export interface LocalModels {
  /** Every server that is known to run on users' machines, those that answer first. After `waitMs` what was last known has to do. */
  look(signal?: AbortSignal, waitMs?: number): Promise<readonly LocalServer[]>;
  /** A model that was found. */
  entry(provider: string, model: string): ModelEntry | undefined;
}

export async function createLocalModels(deps: { readonly clock: Clock; readonly config: () => OpenClawConfig }): Promise<LocalModels> {
  const { createDiscovery, canonicalProvider, PROVIDERS } = await loadChoice();
  const settings = (provider: string) => Object.entries(deps.config().models?.providers ?? {}).find(([name]) => canonicalProvider(name) === provider)?.[1];
  const discovery: Discovery = createDiscovery({ clock: deps.clock, settings, timeoutMs: LOOK_MS, keepMs: KEEP_MS });
  const nothing = { servers: PROVIDERS.filter(({ presence }) => presence === "local").map(({ id, baseUrl }) => ({ provider: id, baseUrl })), models: [] };

  /** A server that does not answer is no reason to wait for the others. */
  async function soon(looking: Promise<Found>, waitMs: number): Promise<Found> {
    const late = Promise.withResolvers<Found>();
    using _ = deps.clock.after(waitMs, () => late.resolve(discovery.last ?? nothing));
    return await Promise.race([looking, late.promise]);
  }

  return {
    async look(signal, waitMs) {
      const looking = discovery.look(signal);
      const { servers, models } = waitMs === undefined ? await looking : await soon(looking, waitMs);
      return servers
        .map(({ provider, baseUrl, models: count }) => ({
          id: provider,
          label: providerLabel(provider),
          url: baseUrl,
          running: count !== undefined,
          models: models.filter((model) => model.provider === provider).map(({ id }) => id),
        }))
        .sort((a, b) => Number(b.running) - Number(a.running));
    },
    entry: (provider, model) => discovery.last?.models.find((entry) => entry.provider === provider && entry.id === model),
  };
}

export interface LocalChoice {
  readonly provider: string;
  readonly model: string;
  /** Its address, when that is not the usual one. */
  readonly url?: string | undefined;
  readonly contextWindow?: number | undefined;
}

const WINDOW = 128_000;
const OUTPUT = 8192;

/** What has to stand in the configuration for a model on this machine to answer. */
export async function localPatch({
  provider: name,
  model,
  url,
  contextWindow = WINDOW,
}: LocalChoice): Promise<{ readonly provider: string; readonly ref: string; readonly patch: Readonly<Record<string, unknown>> }> {
  const { canonicalProvider, providerFacts } = await loadChoice();
  const provider = canonicalProvider(name);
  const facts = providerFacts(provider);
  const isServer = facts?.presence === "local" || provider === "copilot-proxy";
  if (!facts || !isServer) throw new AppError("INVALID_INPUT", `${JSON.stringify(name)} is not a local server: expected ollama, lmstudio, vllm or llamacpp`);
  const baseUrl = url?.trim().replace(/\/+$/, "") || facts.baseUrl;
  if (!/^https?:\/\/[^/]/.test(baseUrl)) throw new AppError("INVALID_INPUT", `expected a URL such as ${facts.baseUrl}, got ${JSON.stringify(url)}`);
  const entry = { id: model, name: model, contextWindow, maxTokens: OUTPUT };
  return { provider, ref: `${provider}/${model}`, patch: { models: { providers: { [provider]: { baseUrl, api: facts.api, models: [entry] } } } } };
}
