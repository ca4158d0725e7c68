import { messageOf } from "../base/errors.ts";
import type { Env, OpenClawConfig } from "../config/index.ts";
import type { AuthProfiles, Candidate } from "./auth/index.ts";
import * as choice from "./choice.ts";
import type { ModelsDeps } from "./create-models.ts";
import type { Catalogue, Discovery, ModelEntry, Selection, SelectionInput } from "./index.ts";
import { OFFLINE_MODEL } from "./offline/entry.ts";

/** The models of one agent, cached until the configuration changes or a short time has passed. */
export interface AgentModels {
  readonly config: OpenClawConfig;
  readonly until: number;
  readonly catalogue: Catalogue;
  readonly hasCredential: (provider: string) => boolean;
  readonly local: SelectionInput["local"];
  /** What was selected from them, by the choices of runs and sessions. */
  readonly selections: Map<string, Selection>;
}

/** Keys added with the command line are seen after this time. */
const CACHE_MS = 10_000;

export interface AgentModelsCache {
  get(agentId: string): Promise<AgentModels>;
}

/** The model context of each agent, created when first needed. */
export function createAgentModelsCache(deps: ModelsDeps, auth: (agentId: string) => AuthProfiles): AgentModelsCache {
  const { clock, log } = deps;
  const cached = new Map<string, Promise<AgentModels>>();
  const warned = new Set<string>();
  const { version, env, config, fetch } = deps;
  const lists = choice.createHostedLists({ clock, env, config, version, fetch, warn: (text) => log.warn(text) });
  let discovery: Discovery | undefined;

  /** Lists of hosts: awaited when one of their models may be called, fetched in the background otherwise. */
  async function hosted(current: OpenClawConfig, hasCredential: (provider: string) => boolean): Promise<ReadonlyMap<string, choice.ProviderSettings>> {
    const hosts = lists.hosts(hasCredential);
    const used = hosts.length === 0 ? "" : usedModels(current);
    const found = await Promise.all(hosts.map(async (host) => [host, used.includes(`${host}/`) ? await lists.look(host) : lists.known(host)] as const));
    return new Map(found.flatMap(([host, settings]) => (settings ? [[host, settings] as const] : [])));
  }

  function updateModelsFile(agentDir: string, current: OpenClawConfig, keys: Keys, listed: ReadonlyMap<string, choice.ProviderSettings>): void {
    const values = new Map(Object.entries(env()).flatMap(([name, value]) => (isLong(value) ? [[value.trim(), name] as const] : [])));
    try {
      choice.writeModelsFile(
        agentDir,
        {
          mode: current.models?.mode ?? "merge",
          explicit: current.models?.providers ?? {},
          impliedBy: (provider) => keyVariable(provider, keys.get(provider), env()),
          listed: (provider) => listed.get(provider),
          variableOf: (value) => values.get(value.trim()),
        },
        deps.ids,
      );
    } catch (error) {
      if (!warned.has(agentDir)) log.warn(`the list of models could not be written; the gateway does not need it: ${messageOf(error)}`);
      warned.add(agentDir);
    }
  }

  async function open(agentId: string): Promise<AgentModels> {
    const current = config();
    const plugins = deps.plugins?.() ?? [];
    const keys = await findKeys(auth(agentId), current, plugins);
    const isOwn = (name: string): boolean => !plugins.some(({ id }) => choice.canonicalProvider(id) === name) && choice.isKeylessServer(name, current);
    const hasKey = (name: string): boolean => keys.has(name) || isOwn(name);
    const hasCredential = (provider: string): boolean => provider === OFFLINE_MODEL.provider || hasKey(choice.canonicalProvider(provider));
    const listed = await hosted(current, hasCredential);
    const agentDir = deps.agentDir(agentId);
    updateModelsFile(agentDir, current, keys, listed);
    const base = { config: current, agentDir, hasCredential, plugins: deps.plugins?.(), warn: (text: string) => log.warn(text) };
    const remote = entriesOf(listed);
    let catalogue = await choice.openCatalogue({ ...base, discovered: remote });
    let local: SelectionInput["local"];
    if (choice.standardChoice({ config: current, catalogue, hasCredential, agentId }).source === "offline") {
      discovery ??= choice.createDiscovery({ clock, settings: (provider) => catalogue.settings(provider) });
      local = (await discovery.look()).models;
      if (local.length > 0) catalogue = await choice.openCatalogue({ ...base, discovered: [...remote, ...local] });
    }
    return { config: current, until: clock.monotonic() + CACHE_MS, catalogue, hasCredential, local, selections: new Map() };
  }

  return {
    async get(agentId) {
      const known = await cached.get(agentId)?.catch(() => undefined);
      if (known && known.config === config() && clock.monotonic() < known.until) return known;
      const opening = open(agentId);
      cached.set(agentId, opening);
      return opening;
    },
  };
}

/** The first candidate of each provider; providers without a credential are missing. */
type Keys = ReadonlyMap<string, Candidate>;

async function findKeys(auth: AuthProfiles, config: OpenClawConfig, plugins: readonly { readonly id: string }[]): Promise<Keys> {
  const names = new Set([
    ...choice.PROVIDERS.map(({ id }) => id),
    ...Object.keys(config.models?.providers ?? {}).map(choice.canonicalProvider),
    ...plugins.map(({ id }) => choice.canonicalProvider(id)),
  ]);
  const found = await Promise.all([...names].map(async (name) => [name, (await auth.candidates(name))[0]] as const));
  return new Map(found.flatMap(([name, first]) => (first ? [[name, first] as const] : [])));
}

/** A text that may be a secret; short ones are not. */
const isLong = (value: string | undefined): value is string => value !== undefined && value.trim().length >= 8;

/** The variable that holds a provider's key, or would. */
function keyVariable(provider: string, first: Candidate | undefined, env: Env): string | undefined {
  if (first === undefined) return undefined;
  if (first.source === "env") return first.id.replace(/^env:/, "");
  const names = choice.providerFacts(provider)?.env ?? [];
  return names.find((name) => (env[name]?.trim() ?? "") !== "") ?? names[0] ?? provider;
}

/** Every model that the configuration names, as one text to search. */
function usedModels({ agents }: OpenClawConfig): string {
  return JSON.stringify([
    agents?.defaults?.model,
    agents?.defaults?.imageModel,
    agents?.defaults?.models,
    agents?.list?.map(({ model }) => model),
  ]).toLowerCase();
}

const entriesOf = (listed: ReadonlyMap<string, choice.ProviderSettings>): readonly ModelEntry[] =>
  [...listed].flatMap(([provider, settings]) => (settings.models ?? []).map((model) => choice.entryOf(provider, model, settings, "discovery")));
