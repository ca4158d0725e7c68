import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Logger } from "../base/log/logger.ts";
import type { Random } from "../base/random.ts";
import type { Redactor } from "../base/redaction.ts";
import type { Env, OpenClawConfig } from "../config/index.ts";
import type { Hooks } from "../hooks/index.ts";
import { createAuthProfiles, type AuthProfiles } from "./auth/index.ts";
import { createCallCredentials } from "./auth/call-credentials.ts";
import { callModel, type CallEvent, type CallRequest } from "./call/call.ts";
import { createDrivers, type Drivers, type OtherDriver, type RawLog } from "./call/driver.ts";
import * as choice from "./choice.ts";
import type { Catalogue, Discovery, PluginProvider, Selection, SelectionInput } from "./index.ts";
import { OFFLINE_MODEL } from "./offline/entry.ts";

export interface ModelsDeps {
  readonly config: () => OpenClawConfig;
  readonly env: () => Env;
  /** Folder with an agent's `auth-profiles.json` and `models.json`. */
  readonly agentDir: (agentId: string) => string;
  readonly mainAgentDir: string;
  readonly oauthFile?: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly log: Logger;
  readonly redactor: Pick<Redactor, "register" | "text">;
  readonly hooks?: Pick<Hooks, "has" | "run">;
  readonly version: string;
  /** Providers that plugins brought. */
  readonly plugins?: () => readonly PluginProvider[];
  /** Folders from which the package of the long tail is looked for. */
  readonly packagesFrom?: readonly string[];
  /** Sees every event of every provider. */
  readonly rawLog?: RawLog;
}

export interface ModelWish {
  readonly agentId: string;
  readonly session?: SelectionInput["session"];
  readonly override?: string;
}

/** Chooses models and calls them. */
export interface Models {
  select(wish: ModelWish): Promise<Selection>;
  /** The last event says how it went; see `CallEvent`. */
  call(agentId: string, request: CallRequest): AsyncIterable<CallEvent>;
  /** What there is to choose from. */
  choices(agentId: string): Promise<{ readonly catalogue: Catalogue; readonly hasCredential: (provider: string) => boolean }>;
  auth(agentId: string): AuthProfiles;
}

/** What is known for one agent: good until the configuration changes or a while has passed. */
interface Desk {
  readonly config: OpenClawConfig;
  readonly until: number;
  readonly catalogue: Catalogue;
  readonly hasCredential: (provider: string) => boolean;
  readonly local: SelectionInput["local"];
}

/** Keys that were added with the command line are seen after this. */
const DESK_MS = 10_000;

export function createModels(deps: ModelsDeps): Models {
  const { clock, log } = deps;
  const profiles = new Map<string, AuthProfiles>();
  const desks = new Map<string, Promise<Desk>>();
  const drivers = createDrivers({ other: (api) => otherDriver(deps, api), ...(deps.rawLog ? { rawLog: deps.rawLog } : {}) });
  let discovery: Discovery | undefined;

  function auth(agentId: string): AuthProfiles {
    let found = profiles.get(agentId);
    if (!found) profiles.set(agentId, (found = openProfiles(deps, agentId)));
    return found;
  }

  async function openDesk(agentId: string): Promise<Desk> {
    const config = deps.config();
    const hasCredential = await credentials(auth(agentId), config);
    const base = { config, agentDir: deps.agentDir(agentId), hasCredential, plugins: deps.plugins?.(), warn: (text: string) => log.warn(text) };
    let catalogue = await choice.openCatalogue(base);
    let local: SelectionInput["local"];
    if (choice.standardChoice({ config, catalogue, hasCredential, agentId }).source === "offline") {
      discovery ??= choice.createDiscovery({ clock, settings: (provider) => catalogue.settings(provider) });
      local = (await discovery.look()).models;
      if (local.length > 0) catalogue = await choice.openCatalogue({ ...base, discovered: local });
    }
    return { config, until: clock.monotonic() + DESK_MS, catalogue, hasCredential, local };
  }

  async function desk(agentId: string): Promise<Desk> {
    const known = await desks.get(agentId)?.catch(() => undefined);
    if (known && known.config === deps.config() && clock.monotonic() < known.until) return known;
    const opening = openDesk(agentId);
    desks.set(agentId, opening);
    return opening;
  }

  return {
    auth,
    choices: desk,
    async select({ agentId, session, override }) {
      const { config, catalogue, hasCredential, local } = await desk(agentId);
      return choice.selectModel({ config, catalogue, hasCredential, agentId, session, override, local });
    },
    call: (agentId, request) => callWith(deps, drivers, auth(agentId), request),
  };
}

function callWith(deps: ModelsDeps, drivers: Drivers, auth: AuthProfiles, request: CallRequest): AsyncIterable<CallEvent> {
  const { clock, ids, random, log, redactor, hooks } = deps;
  const credentials = createCallCredentials({ auth, needsNoKey: choice.needsNoKey, now: clock.now });
  return callModel({ clock, ids, random, log, credentials, drivers, redact: redactor.text, ...(hooks ? { hooks } : {}) }, request);
}

function openProfiles(deps: ModelsDeps, agentId: string): AuthProfiles {
  const { config, env, clock, ids, log, redactor, version, mainAgentDir, oauthFile } = deps;
  return createAuthProfiles({
    agentDir: deps.agentDir(agentId),
    mainAgentDir,
    config,
    env,
    clock,
    ids,
    log,
    redactor,
    envNames: choice.keyVariables,
    canonical: choice.canonicalProvider,
    ambient: (provider) => isAmbient(provider, env()),
    oauthFile,
    version,
  });
}

/** Others find this credential; the variables only tell that it is there. */
function isAmbient(provider: string, env: Env): boolean {
  const facts = choice.providerFacts(provider);
  return facts?.ambient === true && facts.env.some((name) => (env[name]?.trim() ?? "") !== "");
}

async function credentials(auth: AuthProfiles, config: OpenClawConfig): Promise<(provider: string) => boolean> {
  const names = new Set([...choice.PROVIDERS.map(({ id }) => id), ...Object.keys(config.models?.providers ?? {}).map(choice.canonicalProvider)]);
  const found = await Promise.all([...names].map(async (name) => [name, (await auth.candidates(name)).length > 0] as const));
  const there = new Set(found.flatMap(([name, any]) => (any ? [name] : [])));
  return (provider) => provider === OFFLINE_MODEL.provider || there.has(choice.canonicalProvider(provider));
}

async function otherDriver({ version, packagesFrom = [] }: ModelsDeps, api: string): Promise<OtherDriver> {
  if (api === OFFLINE_MODEL.api) return (await import("./offline/index.ts")).createOfflineModel();
  return (await import("./long-tail/index.ts")).loadLongTail(api, { from: packagesFrom, version });
}
