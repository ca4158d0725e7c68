import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Env, OpenClawConfig } from "../../config/index.ts";
import type { ModelSettings, ProviderSettings } from "../catalogue/layer.ts";
import { providerFacts } from "../providers/index.ts";
import type { Fetch } from "../transport/index.ts";
import { canListBedrock, listBedrock } from "./bedrock.ts";
import { listModels, type ListedModel } from "./listing.ts";

/** Cached model lists of hosts; built-in facts stand in until they are loaded. */
export interface HostedLists {
  /** Hosts that can be queried now. */
  hosts(hasCredential: (provider: string) => boolean): readonly string[];
  /** The last list, without waiting; refreshes in the background when it is old. */
  known(provider: string): ProviderSettings | undefined;
  /** The same, but waits when there is no list yet. Never rejects: a host that does not answer has no list. */
  look(provider: string): Promise<ProviderSettings | undefined>;
}

export interface HostedListsDeps {
  readonly clock: Clock;
  readonly env: () => Env;
  readonly config: () => OpenClawConfig;
  readonly version: string;
  readonly warn: (text: string) => void;
  readonly fetch?: Fetch | undefined;
}

const BEDROCK = "amazon-bedrock";
const HOSTS = ["venice", "huggingface", BEDROCK];
const TIMEOUT_MS = 5000;
const KEEP_MS = 60 * 60_000;
/** Delay before a failed host is queried again. */
const AGAIN_MS = 5 * 60_000;
const WINDOW = 128_000;
const OUTPUT = 8192;
const REASONS = /r1|reason|think/i;

interface CachedList {
  readonly settings: ProviderSettings | undefined;
  readonly until: number;
}

const modelOf = ({ id, name, reasoning, images, contextWindow, maxTokens, cost }: ListedModel): ModelSettings => ({
  id,
  name: name ?? id,
  reasoning: reasoning ?? REASONS.test(id),
  input: images === true ? ["text", "image"] : ["text"],
  contextWindow: contextWindow ?? WINDOW,
  maxTokens: maxTokens ?? OUTPUT,
  ...(cost === undefined ? {} : { cost }),
});

export function createHostedLists(deps: HostedListsDeps): HostedLists {
  const { clock } = deps;
  const cache = new Map<string, CachedList>();
  const asking = new Map<string, Promise<void>>();
  const bedrock = () => ({ env: deps.env(), settings: deps.config().models?.bedrockDiscovery });

  async function load(provider: string): Promise<ProviderSettings> {
    const { version, fetch } = deps;
    if (provider === BEDROCK) return listBedrock({ ...bedrock(), clock, version, fetch, timeoutMs: TIMEOUT_MS });
    // These lists are public: no key is sent.
    const listed = await listModels({ kind: "openai", baseUrl: providerFacts(provider)!.baseUrl, timeoutMs: TIMEOUT_MS, clock, version, fetch });
    return { models: listed.map(modelOf) };
  }

  const keepMs = (provider: string): number => {
    const seconds = provider === BEDROCK ? deps.config().models?.bedrockDiscovery?.refreshInterval : undefined;
    return seconds === undefined || seconds <= 0 ? KEEP_MS : seconds * 1000;
  };

  async function askNow(provider: string): Promise<void> {
    const before = cache.get(provider)?.settings;
    try {
      const settings = await load(provider);
      const isEmpty = (settings.models ?? []).length === 0;
      cache.set(provider, { settings: isEmpty ? before : settings, until: clock.monotonic() + (isEmpty ? AGAIN_MS : keepMs(provider)) });
    } catch (error) {
      if (before === undefined) deps.warn(`the models of ${provider} could not be listed; the built-in ones are used: ${messageOf(error)}`);
      cache.set(provider, { settings: before, until: clock.monotonic() + AGAIN_MS });
    }
  }

  function ask(provider: string): Promise<void> {
    let running = asking.get(provider);
    if (!running) {
      running = askNow(provider).finally(() => asking.delete(provider));
      asking.set(provider, running);
    }
    return running;
  }

  const isOld = (provider: string): boolean => clock.monotonic() >= (cache.get(provider)?.until ?? Number.NEGATIVE_INFINITY);
  return {
    hosts: (hasCredential) => HOSTS.filter((provider) => hasCredential(provider) && (provider !== BEDROCK || canListBedrock(bedrock()))),
    known(provider) {
      if (isOld(provider)) void ask(provider);
      return cache.get(provider)?.settings;
    },
    async look(provider) {
      if (!cache.has(provider)) await ask(provider);
      else if (isOld(provider)) void ask(provider);
      return cache.get(provider)?.settings;
    },
  };
}
