import { messageOf } from "../base/errors.ts";
import type { Env, OpenClawConfig } from "../config/index.ts";
import type { AuthProfiles, Candidate } from "./auth/index.ts";
import * as choice from "./choice.ts";
import type { ModelsDeps } from "./create-models.ts";
import type { Catalogue, Discovery, ModelEntry, SelectionInput } from "./index.ts";
import { OFFLINE_MODEL } from "./offline/entry.ts";

/** What is known for one agent: good until the configuration changes or a while has passed. */
export interface Desk {
  readonly config: OpenClawConfig;
  readonly until: number;
  readonly catalogue: Catalogue;
  readonly hasCredential: (provider: string) => boolean;
  readonly local: SelectionInput["local"];
}

/** Keys that were added with the command line are seen after this. */
const DESK_MS = 10_000;

export interface Desks {
  at(agentId: string): Promise<Desk>;
}

/** One desk per agent, opened when first needed. */
export function createDesks(deps: ModelsDeps, auth: (agentId: string) => AuthProfiles): Desks {
  const { clock, log } = deps;
  const desks = new Map<string, Promise<Desk>>();
  const told = new Set<string>();
  const { version, env, config, fetch } = deps;
  const lists = choice.createHostedLists({ clock, env, config, version, fetch, warn: (text) => log.warn(text) });
  let discovery: Discovery | undefined;

  /** Lists of hosts: waited for where a model of theirs may be the one that is called, fetched for later elsewhere. */
  async function hosted(current: OpenClawConfig, hasCredential: (provider: string) => boolean): Promise<ReadonlyMap<string, choice.ProviderSettings>> {
    const hosts = lists.hosts(hasCredential);
    const used = hosts.length === 0 ? "" : usedModels(current);
    const found = await Promise.all(hosts.map(async (host) => [host, used.includes(`${host}/`) ? await lists.look(host) : lists.known(host)] as const));
    return new Map(found.flatMap(([host, settings]) => (settings ? [[host, settings] as const] : [])));
  }

  function keepFile(agentDir: string, current: OpenClawConfig, keys: Keys, listed: ReadonlyMap<string, choice.ProviderSettings>): void {
    const values = new Map(Object.entries(env()).flatMap(([name, value]) => (isLong(value) ? [[value.trim(), name] as const] : [])));
    try {
      choice.writeModelsFile(
        agentDir,
        {
          mode: current.models?.mode ?? "merge",
          explicit: current.models?.providers ?? {},
          impliedBy: (provider) => markOf(provider, keys.get(provider), env()),
          listed: (provider) => listed.get(provider),
          variableOf: (value) => values.get(value.trim()),
        },
        deps.ids,
      );
    } catch (error) {
      if (!told.has(agentDir)) log.warn(`the list of models could not be written; nothing here depends on it: ${messageOf(error)}`);
      told.add(agentDir);
    }
  }

  async function open(agentId: string): Promise<Desk> {
    const current = config();
    const keys = await keysOf(auth(agentId), current, deps.plugins?.() ?? []);
    const hasCredential = (provider: string): boolean => provider === OFFLINE_MODEL.provider || keys.has(choice.canonicalProvider(provider));
    const listed = await hosted(current, hasCredential);
    const agentDir = deps.agentDir(agentId);
    keepFile(agentDir, current, keys, listed);
    const base = { config: current, agentDir, hasCredential, plugins: deps.plugins?.(), warn: (text: string) => log.warn(text) };
    const remote = entriesOf(listed);
    let catalogue = await choice.openCatalogue({ ...base, discovered: remote });
    let local: SelectionInput["local"];
    if (choice.standardChoice({ config: current, catalogue, hasCredential, agentId }).source === "offline") {
      discovery ??= choice.createDiscovery({ clock, settings: (provider) => catalogue.settings(provider) });
      local = (await discovery.look()).models;
      if (local.length > 0) catalogue = await choice.openCatalogue({ ...base, discovered: [...remote, ...local] });
    }
    return { config: current, until: clock.monotonic() + DESK_MS, catalogue, hasCredential, local };
  }

  return {
    async at(agentId) {
      const known = await desks.get(agentId)?.catch(() => undefined);
      if (known && known.config === config() && clock.monotonic() < known.until) return known;
      const opening = open(agentId);
      desks.set(agentId, opening);
      return opening;
    },
  };
}

/** Who may be let in where; providers without a credential are not in it. */
type Keys = ReadonlyMap<string, Candidate>;

async function keysOf(auth: AuthProfiles, config: OpenClawConfig, plugins: readonly { readonly id: string }[]): Promise<Keys> {
  const names = new Set([
    ...choice.PROVIDERS.map(({ id }) => id),
    ...Object.keys(config.models?.providers ?? {}).map(choice.canonicalProvider),
    ...plugins.map(({ id }) => choice.canonicalProvider(id)),
  ]);
  const found = await Promise.all([...names].map(async (name) => [name, (await auth.candidates(name))[0]] as const));
  return new Map(found.flatMap(([name, first]) => (first ? [[name, first] as const] : [])));
}

/** A text that may be a secret; short ones are words. */
const isLong = (value: string | undefined): value is string => value !== undefined && value.trim().length >= 8;

/** The variable a provider's key is in, or would be in. */
function markOf(provider: string, first: Candidate | undefined, env: Env): string | undefined {
  if (first === undefined) return undefined;
  if (first.source === "env") return first.id.replace(/^env:/, "");
  const names = choice.providerFacts(provider)?.env ?? [];
  return names.find((name) => (env[name]?.trim() ?? "") !== "") ?? names[0] ?? provider;
}

/** Every model that the configuration names, as one text to look in. */
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
