import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { entryOf, type ProviderSettings } from "../catalogue/layer.ts";
import type { ModelEntry } from "../entry.ts";
import { PROVIDERS, type ProviderFacts } from "../providers/index.ts";
import type { Fetch } from "../transport/index.ts";
import { listModels, type ListedModel } from "./listing.ts";

/** One server that was queried. */
export interface AskedServer {
  readonly provider: string;
  readonly baseUrl: string;
  /** How many models it has; undefined when it did not answer like such a server. */
  readonly models?: number;
  readonly error?: string;
}

export interface Found {
  readonly models: readonly ModelEntry[];
  readonly servers: readonly AskedServer[];
}

export interface Discovery {
  /** Queries all servers at once, each for a few seconds at most. Results are cached for a while. A failing server never causes a rejection. */
  look(signal?: AbortSignal): Promise<Found>;
  /** The last result, without a request. */
  readonly last: Found | undefined;
}

export interface DiscoveryDeps {
  readonly clock: Clock;
  /** Settings of a provider, when the user wrote any. */
  readonly settings?: ((provider: string) => ProviderSettings | undefined) | undefined;
  /** Key for a server that requires one. */
  readonly apiKey?: ((provider: string) => string | undefined) | undefined;
  readonly fetch?: Fetch | undefined;
  /** Longest wait for one server. */
  readonly timeoutMs?: number | undefined;
  /** How long a result is cached; an empty one, a tenth of it. */
  readonly keepMs?: number | undefined;
  /** Servers to query; default: those that usually run on users' machines. */
  readonly servers?: readonly ProviderFacts[] | undefined;
}

const TIMEOUT_MS = 5000;
const KEEP_MS = 5 * 60_000;
const WINDOW = 128_000;
const OUTPUT = 8192;
/** Ports that all kinds of servers use: there the server must identify itself. */
const OWNERS: Readonly<Record<string, string>> = { vllm: "vllm", llamacpp: "llamacpp" };
const REASONING: Readonly<Record<string, RegExp>> = { ollama: /r1|reasoning/i };
const REASONING_ELSEWHERE = /r1|reasoning|think/i;

export function createDiscovery(deps: DiscoveryDeps): Discovery {
  const { clock, keepMs = KEEP_MS, servers = PROVIDERS.filter(({ presence }) => presence === "local") } = deps;
  let last: Found | undefined;
  let goodUntil = 0;
  let looking: Promise<Found> | undefined;

  async function ask(facts: ProviderFacts, signal: AbortSignal | undefined): Promise<{ readonly server: AskedServer; readonly models: readonly ModelEntry[] }> {
    const { id: provider } = facts;
    const settings = deps.settings?.(provider);
    const apiKey = deps.apiKey?.(provider);
    const baseUrl = settings?.baseUrl?.trim() || facts.baseUrl;
    const { fetch, timeoutMs = TIMEOUT_MS } = deps;
    try {
      const listed = await listModels({ kind: facts.listing ?? "openai", baseUrl, apiKey, timeoutMs, clock, signal, fetch });
      const owner = settings === undefined && apiKey === undefined ? OWNERS[provider] : undefined;
      if (owner !== undefined && !listed.some((model) => model.owner?.toLowerCase() === owner)) {
        return { server: { provider, baseUrl, error: `something other than ${provider} responds there` }, models: [] };
      }
      return { server: { provider, baseUrl, models: listed.length }, models: listed.map((model) => discovered(provider, model, settings)) };
    } catch (error) {
      return { server: { provider, baseUrl, error: messageOf(error) }, models: [] };
    }
  }

  async function lookNow(signal: AbortSignal | undefined): Promise<Found> {
    const answers = await Promise.all(servers.map((server) => ask(server, signal)));
    const found = { models: answers.flatMap(({ models }) => models), servers: answers.map(({ server }) => server) };
    if (signal?.aborted !== true) {
      last = found;
      goodUntil = clock.now() + (found.models.length > 0 ? keepMs : keepMs / 10);
    }
    return found;
  }

  return {
    get last() {
      return last;
    },
    look(signal) {
      if (last && clock.now() < goodUntil) return Promise.resolve(last);
      looking ??= lookNow(signal).finally(() => (looking = undefined));
      return looking;
    },
  };
}

function discovered(provider: string, { id, contextWindow }: ListedModel, settings: ProviderSettings | undefined): ModelEntry {
  const reasoning = (REASONING[provider] ?? REASONING_ELSEWHERE).test(id);
  return entryOf(provider, { id, reasoning, contextWindow: contextWindow ?? WINDOW, maxTokens: OUTPUT }, settings, "discovery");
}
