import { dirname } from "node:path";
import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Ids } from "../base/ids.ts";
import type { Logger } from "../base/log/logger.ts";
import type { Random } from "../base/random.ts";
import type { Redactor } from "../base/redaction.ts";
import type { Env, OpenClawConfig, SecretInput } from "../config/index.ts";
import type { Hooks } from "../hooks/index.ts";
import type { AuthProfileCredential } from "../protocol/index.ts";
import { createAuthProfiles, createRequestAccess, type AuthProfiles } from "./auth/index.ts";
import { createCallCredentials } from "./call/credentials.ts";
import { callModel, type CallEvent, type CallRequest } from "./call/call.ts";
import { createDrivers, type OtherDriver, type RawLog } from "./call/driver.ts";
import * as choice from "./choice.ts";
import { createAgentModelsCache } from "./agent-models.ts";
import { modelFailed } from "./failure.ts";
import type { Catalogue, DescribedChoice, ModelEntry, PluginProvider, Selection, SelectionInput } from "./index.ts";
import { OFFLINE_MODEL } from "./offline/entry.ts";
import type { Quota, QuotaOptions, QuotaReport } from "./quota/index.ts";
import type { Fetch } from "./transport/index.ts";

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
  /** Folders to resolve the long-tail package from. */
  readonly packagesFrom?: readonly string[];
  /** Makes the commands in the offline model's texts runnable as printed. */
  readonly runnable?: ((text: string) => string) | undefined;
  /** Receives every event of every provider. */
  readonly rawLog?: RawLog;
  /** Fetches a configured key from a file or a program. */
  readonly secret?: ((input: SecretInput, path: string) => Promise<string>) | undefined;
  readonly fetch?: Fetch | undefined;
}

export interface ModelRequest {
  readonly agentId: string;
  readonly session?: SelectionInput["session"];
  readonly override?: string;
}

/** Chooses models and calls them. */
export interface Models {
  select(wish: ModelRequest): Promise<Selection>;
  /** What `select` would choose, even if it is unusable: reports the problem instead of throwing. */
  describe(wish: Omit<ModelRequest, "override">): Promise<DescribedChoice>;
  /** The last event is the result; see `CallEvent`. */
  call(agentId: string, request: CallRequest): AsyncIterable<CallEvent>;
  /** The models to choose from. */
  choices(agentId: string): Promise<{ readonly catalogue: Catalogue; readonly hasCredential: (provider: string) => boolean }>;
  auth(agentId: string): AuthProfiles;
  /** Whether a provider works without a key: see `needsNoKey` of the providers. */
  needsNoKey(provider: string): boolean;
  /**
   * Models that can look at an image for a run, best first: the requested one, the image model, other models with vision. Throws like `select` for a
   * requested one.
   */
  imageModels(wish: ModelRequest & { readonly model?: string | undefined }): Promise<readonly ModelEntry[]>;
  /** How much of each provider's allowance is used. The result of the method `usage.status`. */
  quota(agentId: string, options?: QuotaOptions): Promise<QuotaReport>;
}

export function createModels(deps: ModelsDeps): Models {
  const { clock, ids, random, log, redactor, hooks, version, fetch } = deps;
  const profiles = new Map<string, AuthProfiles>();
  const quotas = new Map<string, Quota>();
  const drivers = createDrivers({
    version,
    other: (api) => otherDriver(deps, api),
    ...(fetch ? { fetch } : {}),
    ...(deps.rawLog ? { rawLog: deps.rawLog } : {}),
  });
  const folder = deps.oauthFile === undefined ? undefined : dirname(deps.oauthFile);
  const requestAccess = createRequestAccess({ clock, ids, redactor, version, fetch, folder });
  const agentModels = createAgentModelsCache(deps, auth);
  const probed = new Map<string, number>();
  const callDeps = { clock, ids, random, log, drivers, redact: redactor.text, ...(hooks ? { hooks } : {}) };

  // A plugin's provider has the plugin's login.
  const needsNoKey = (provider: string): boolean => choice.needsNoKey(provider, pluginFor(deps, provider) ? undefined : deps.config());

  function auth(agentId: string): AuthProfiles {
    let found = profiles.get(agentId);
    if (!found) profiles.set(agentId, (found = openProfiles(deps, agentId)));
    return found;
  }

  return {
    auth,
    needsNoKey,
    choices: agentModels.get,
    async select({ agentId, session, override }) {
      const { selections, ...models } = await agentModels.get(agentId);
      const key = JSON.stringify([override, session?.providerOverride, session?.modelOverride]);
      let selection = selections.get(key);
      if (!selection) selections.set(key, (selection = choice.selectModel({ ...models, agentId, session, override })));
      return selection;
    },
    async describe({ agentId, session }) {
      const { config, catalogue, hasCredential, local } = await agentModels.get(agentId);
      return choice.describeChoice({ config, catalogue, hasCredential, agentId, session, local });
    },
    async imageModels({ agentId, session, override, model }) {
      const { config, catalogue, hasCredential, local } = await agentModels.get(agentId);
      return choice.imageModels({ config, catalogue, hasCredential, agentId, session, override, local }, model);
    },
    call(agentId, request) {
      const credentials = createCallCredentials({ auth: auth(agentId), requestAccess, probed, needsNoKey, now: clock.now });
      const isLong = deps.env()["PI_CACHE_RETENTION"]?.trim() === "long";
      return callModel({ ...callDeps, credentials }, isLong ? { cacheRetention: "long", ...request } : request);
    },
    async quota(agentId, options) {
      const { createQuota } = await import("./quota/index.ts");
      let found = quotas.get(agentId);
      if (!found) quotas.set(agentId, (found = createQuota({ auth: auth(agentId), env: deps.env, clock, redactor, version, fetch })));
      return found.load(options);
    },
  };
}

function openProfiles(deps: ModelsDeps, agentId: string): AuthProfiles {
  const { config, env, clock, ids, log, redactor, version, mainAgentDir, oauthFile, secret } = deps;
  return createAuthProfiles({
    agentDir: deps.agentDir(agentId),
    mainAgentDir,
    config,
    env,
    clock,
    ids,
    log,
    redactor,
    envNames: (provider) => [...choice.keyVariables(provider), ...(pluginFor(deps, provider)?.envVars ?? [])],
    refresh: (provider) => pluginFor(deps, provider)?.refreshOAuth,
    formatKey: (provider) => formatKeyOf(pluginFor(deps, provider)),
    canonical: choice.canonicalProvider,
    // An SDK finds this credential; the variables only show that it exists.
    ambient(provider) {
      const facts = choice.providerFacts(provider);
      return facts?.ambient === true && facts.env.some((name) => (env()[name]?.trim() ?? "") !== "");
    },
    oauthFile,
    secret,
    // Other programs' logins are looked for in the home folder of the user's environment.
    home: env()["HOME"]?.trim() || env()["USERPROFILE"]?.trim() || undefined,
    version,
  });
}

function pluginFor({ plugins }: ModelsDeps, provider: string): PluginProvider | undefined {
  const wanted = choice.canonicalProvider(provider);
  for (const plugin of plugins?.() ?? []) {
    for (const name of [plugin.id, ...(plugin.aliases ?? [])]) if (choice.canonicalProvider(name) === wanted) return plugin;
  }
  return undefined;
}

/** A plugin error here makes this credential unusable, and nothing else. */
function formatKeyOf(plugin: PluginProvider | undefined): ((credential: AuthProfileCredential) => string) | undefined {
  const { id, formatApiKey } = plugin ?? {};
  if (formatApiKey === undefined) return undefined;
  return (credential) => {
    try {
      return formatApiKey.call(plugin, credential);
    } catch (error) {
      throw modelFailed({ phase: "connect", status: 401, text: `the plugin for ${id} cannot use this credential: ${messageOf(error)}` }, error);
    }
  };
}

async function otherDriver({ version, packagesFrom = [], runnable }: ModelsDeps, api: string): Promise<OtherDriver> {
  if (api === OFFLINE_MODEL.api) return (await import("./offline/index.ts")).createOfflineModel({ runnable });
  return (await import("./long-tail/index.ts")).loadLongTail(api, { from: packagesFrom, version });
}
