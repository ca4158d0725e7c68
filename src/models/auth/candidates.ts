import type { Env, OpenClawConfig, SecretInput } from "../../config/index.ts";
import type { AuthProfileCredential } from "../../protocol/index.ts";
import { createAccess } from "./access.ts";
import { cooldownFor, type Cooldown } from "./cooldowns.ts";
import { credentialOf, whyUnusable, type AuthDocument } from "./document.ts";
import { createEdits } from "./edits.ts";
import { createOutcomes } from "./outcomes.ts";
import type { AuthProfiles, AuthProfilesDeps, Candidate, CredentialType } from "./profiles.ts";
import { createStores } from "./stores.ts";

/** All credentials of one agent. Nothing is read before it is needed. */
export function createAuthProfiles(deps: AuthProfilesDeps): AuthProfiles {
  const { clock } = deps;
  const canonical = deps.canonical ?? ((provider: string) => provider.trim().toLowerCase());
  const stores = createStores(deps);
  const { view, forget, ...outcomes } = createOutcomes({ stores, canonical, clock, log: deps.log, config: deps.config });

  const keysFor = (provider: string): readonly OtherKey[] =>
    otherKeys({
      provider,
      canonical,
      config: deps.config(),
      env: deps.env(),
      envNames: deps.envNames(provider),
      ambient: deps.ambient?.(provider) ?? false,
    });

  const candidates: AuthProfiles["candidates"] = async (provider, options = {}) => {
    await stores.prepare();
    const document = view();
    const now = clock.now();
    const input: OrderInput = { ...options, provider, document, canonical, config: deps.config(), now };
    const profiles = orderProfiles(input).map(({ credential, ...ordered }): Candidate => ({ ...ordered, source: "profile", provider, type: credential.type }));
    if (options.userPin !== undefined && isFor(options.userPin, input)) return profiles;
    const pinned = profiles.filter(({ id }) => id === options.sessionPin);
    const first: Candidate[] = [];
    const last: Candidate[] = [];
    for (const { source, id, type, why, secret, isFirst } of keysFor(provider)) {
      if (secret !== undefined) deps.redactor.register(secret);
      const cooldown = cooldownFor(document, id, options.modelId, now);
      (isFirst ? first : last).push({ source, id, provider, type, why, ...(cooldown ? { cooldown } : {}) });
    }
    const all = [...pinned, ...first, ...profiles.filter((profile) => !pinned.includes(profile)), ...last];
    // Usable ones in their order, then those in cooldown, soonest first.
    return all.every(({ cooldown }) => !cooldown) ? all : all.toSorted((a, b) => endOf(a) - endOf(b));
  };

  return {
    storePath: stores.own.path,
    candidates,
    credential: createAccess(deps, stores, keysFor),
    ...createEdits({ stores, view, canonical, now: () => clock.now(), forget }),
    ...outcomes,
  };
}

export interface OrderInput {
  readonly provider: string;
  readonly document: AuthDocument;
  readonly config: OpenClawConfig;
  readonly canonical: (provider: string) => string;
  readonly modelId?: string | undefined;
  readonly sessionPin?: string | undefined;
  readonly userPin?: string | undefined;
  readonly now: number;
}

export interface Ordered {
  readonly id: string;
  readonly credential: AuthProfileCredential;
  readonly why: string;
  readonly cooldown?: Cooldown;
  readonly locked?: boolean;
}

const TYPE_RANK: Readonly<Record<AuthProfileCredential["type"], number>> = { oauth: 0, token: 1, api_key: 2 };

interface Named {
  readonly ids: readonly string[];
  /** The order was configured, not derived. */
  readonly explicit: boolean;
  readonly why: string;
}

function forProvider<T>(map: Readonly<Record<string, T>> | undefined, { provider, canonical }: OrderInput): T | undefined {
  return Object.entries(map ?? {}).find(([name]) => canonical(name) === canonical(provider))?.[1];
}

/** Profiles to try, most specific source first: the agent's order, the configured order, the configured profiles, all stored ones. */
function named(input: OrderInput): Named {
  const { document, config, canonical, provider } = input;
  const own = forProvider(document.order, input);
  if (own && own.length > 0) return { ids: own, explicit: true, why: "the agent's order" };
  const configured = forProvider(config.auth?.order, input);
  if (configured && configured.length > 0) return { ids: configured, explicit: true, why: "auth.order" };
  const profiles = Object.entries(config.auth?.profiles ?? {}).filter(([, profile]) => canonical(profile.provider) === canonical(provider));
  if (profiles.length > 0) return { ids: profiles.map(([id]) => id), explicit: false, why: "auth.profiles" };
  return { ids: Object.keys(document.profiles), explicit: false, why: "stored" };
}

/** The credential of an id when it may serve this provider; otherwise why not. */
export function usable(id: string, { document, config, canonical, provider, now }: OrderInput): AuthProfileCredential | string {
  const credential = credentialOf(document.profiles[id]);
  if (!credential) return document.profiles[id] === undefined ? "no such profile is stored" : "its entry is invalid";
  if (canonical(credential.provider) !== canonical(provider)) return `it belongs to ${credential.provider}`;
  const meta = config.auth?.profiles?.[id];
  if (meta && canonical(meta.provider) !== canonical(provider)) return `auth.profiles gives it to ${meta.provider}`;
  if (meta && meta.mode !== credential.type && !(meta.mode === "oauth" && credential.type === "token")) {
    return `auth.profiles says ${meta.mode}, but it is of type ${credential.type}`;
  }
  return whyUnusable(credential, now) ?? credential;
}

/** A pin applies to its own provider only, not to fallbacks of other providers. */
export function isFor(id: string, { document, canonical, provider }: OrderInput): boolean {
  const owner = credentialOf(document.profiles[id])?.provider ?? id.replace(/:.*$/s, "");
  return canonical(owner) === canonical(provider);
}

const endOf = ({ cooldown }: Pick<Ordered, "cooldown">): number => cooldown?.until ?? 0;

/** The profiles that may serve a provider, in the order in which they are to be tried. Pure. */
export function orderProfiles(input: OrderInput): readonly Ordered[] {
  const { document, modelId, userPin, sessionPin, now } = input;
  if (Object.keys(document.profiles).length === 0) return [];
  const entry = (id: string, why: string): Ordered | undefined => {
    const credential = usable(id, input);
    if (typeof credential === "string") return undefined;
    const cooldown = cooldownFor(document, id, modelId, now);
    return { id, credential, why, ...(cooldown ? { cooldown } : {}) };
  };
  if (userPin !== undefined && isFor(userPin, input)) {
    const pinned = entry(userPin, "chosen by the user for this session");
    return pinned ? [{ ...pinned, locked: true }] : [];
  }
  const { ids, explicit, why } = named(input);
  const found = [...new Set(ids)].map((id) => entry(id, why)).filter((item) => item !== undefined);
  const lastUsed = ({ id }: Ordered): number => document.usageStats?.[id]?.lastUsed ?? 0;
  const well = found.filter(({ cooldown }) => !cooldown);
  if (!explicit) well.sort((a, b) => TYPE_RANK[a.credential.type] - TYPE_RANK[b.credential.type] || lastUsed(a) - lastUsed(b));
  const inCooldown = found.filter(({ cooldown }) => cooldown).sort((a, b) => endOf(a) - endOf(b));
  const pinned = well.find(({ id }) => id === sessionPin);
  const first = pinned ? [{ ...pinned, why: "used by this session before" }] : [];
  return [
    ...first,
    ...well.filter((item) => item !== pinned),
    ...inCooldown.map((item) => ({ ...item, why: `${item.why}; in cooldown after ${item.cooldown?.kind}` })),
  ];
}

/** A key without a profile. */
export interface OtherKey {
  readonly source: "env" | "config" | "ambient";
  readonly id: string;
  readonly type: CredentialType;
  readonly why: string;
  readonly secret?: string;
  /** Where to fetch the secret, when it is in a file or comes from a program. */
  readonly input?: SecretInput;
  /** It comes before every profile. */
  readonly isFirst?: true;
}

interface OtherKeysInput {
  readonly provider: string;
  readonly config: OpenClawConfig;
  readonly env: Env;
  readonly envNames: readonly string[];
  readonly canonical: (provider: string) => string;
  /** The provider's SDK finds a credential here. */
  readonly ambient: boolean;
}

const BEDROCK = "amazon-bedrock";
const VARIABLE = /^(?:\$\{([A-Z_][A-Z0-9_]*)\}|([A-Z][A-Z0-9_]*))$/;
const AWS_VARIABLES = ["AWS_BEARER_TOKEN_BEDROCK", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"];

const variable = (env: Env, name: string): string | undefined => env[name]?.trim() || undefined;

/** The value of a configured key: itself, or the variable it names. A name whose variable is not set is not a key. */
function configuredKey(value: SecretInput | undefined, env: Env): { readonly secret: string; readonly why: string } | undefined {
  if (typeof value === "object") {
    const secret = value.source === "env" ? variable(env, value.id) : undefined;
    return secret === undefined || value.source !== "env" ? undefined : { secret, why: `names ${value.id}` };
  }
  if (value === undefined || value.trim() === "") return undefined;
  const match = VARIABLE.exec(value.trim());
  const name = match?.[1] ?? match?.[2];
  if (name === undefined) return { secret: value.trim(), why: "holds the key" };
  const secret = variable(env, name);
  if (secret !== undefined) return { secret, why: `names ${name}` };
  // A text in capitals with an underscore is a variable's name; "OLLAMA" may be a placeholder key.
  return match?.[1] !== undefined || name.includes("_") ? undefined : { secret: name, why: "holds the key" };
}

/**
 * Keys of the environment, then of the configuration, then the AWS chain for Bedrock. They come after the profiles, except the AWS chain where
 * `models.providers.*.auth` is "aws-sdk".
 */
function otherKeys({ provider, config, env, envNames, canonical, ambient }: OtherKeysInput): readonly OtherKey[] {
  const name = canonical(provider);
  const isBedrock = name === BEDROCK;
  const found: OtherKey[] = [];
  const { auth, apiKey } = Object.entries(config.models?.providers ?? {}).find(([other]) => canonical(other) === name)?.[1] ?? {};
  const isAwsFirst = auth === "aws-sdk";
  if (isAwsFirst) found.push({ source: "ambient", id: "aws-sdk", type: "ambient", why: `models.providers.${provider}.auth is "aws-sdk"`, isFirst: true });
  for (const envName of isBedrock ? [] : envNames) {
    const secret = variable(env, envName);
    if (secret === undefined) continue;
    found.push({ source: "env", id: `env:${envName}`, type: envName.endsWith("OAUTH_TOKEN") ? "token" : "api_key", why: `${envName} is set`, secret });
  }
  const path = `models.providers.${provider}.apiKey`;
  if (typeof apiKey === "object" && apiKey.source !== "env")
    found.push({ source: "config", id: `config:${path}`, type: "api_key", why: `${path} says where it is`, input: apiKey });
  const configured = configuredKey(apiKey, env);
  if (configured && !found.some(({ secret }) => secret === configured.secret)) {
    found.push({ source: "config", id: `config:${path}`, type: "api_key", why: `${path} ${configured.why}`, secret: configured.secret });
  }
  if (isBedrock && !isAwsFirst && hasAwsCredentials(env)) {
    found.push({ source: "ambient", id: "aws-sdk", type: "ambient", why: "AWS credentials are in the environment" });
  } else if (!isBedrock && ambient) {
    found.push({ source: "ambient", id: "ambient", type: "ambient", why: `${provider}'s own library finds it` });
  }
  return found;
}

function hasAwsCredentials(env: Env): boolean {
  const keys = variable(env, "AWS_ACCESS_KEY_ID") !== undefined && variable(env, "AWS_SECRET_ACCESS_KEY") !== undefined;
  return keys || AWS_VARIABLES.some((name) => variable(env, name) !== undefined);
}

const NEXT_KEY = /rate[_ -]?limit|quota exceeded|resource[_ ]exhausted|too many requests|\b429\b/i;

/** Only after this kind of failure is the next key worth a try. */
export const wantsNextKey = (error: string): boolean => NEXT_KEY.test(error);

/**
 * All keys of a provider, for work that switches to the next key at a rate limit (transcription, vision, embeddings): the one for live tests alone,
 * else
 * the first choice, the list, the plain variable and its numbered ones, each once.
 */
export function keysInRotation(provider: string, env: Env, primary?: string): readonly string[] {
  const name = provider
    .trim()
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, "_");
  const read = (variable: string): string | undefined => env[variable]?.trim() || undefined;
  const only = read(`OPENCLAW_LIVE_${name}_KEY`);
  if (only !== undefined) return [only];
  const list = read(name === "ANTHROPIC" ? "OPENCLAW_LIVE_ANTHROPIC_KEYS" : `${nameOf(name)}_API_KEYS`);
  const base = `${nameOf(name)}_API_KEY`;
  const numbered = Object.keys(env)
    .filter((variable) => variable.startsWith(`${base}_`))
    .sort();
  const found = [primary?.trim(), ...(list?.split(/[,;\s]+/) ?? []), read(base), ...numbered.map(read), ...(name === "GOOGLE" ? [read("GOOGLE_API_KEY")] : [])];
  return [...new Set(found.filter((key): key is string => key !== undefined && key !== ""))];
}

/** Google's keys are named after its models. */
const nameOf = (name: string): string => (name === "GOOGLE" ? "GEMINI" : name);
