import type { Env, OpenClawConfig, SecretInput } from "../../config/index.ts";
import type { CredentialType } from "./profiles.ts";

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

export interface OtherKeysInput {
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
export function otherKeys({ provider, config, env, envNames, canonical, ambient }: OtherKeysInput): readonly OtherKey[] {
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
export const wantsNextKey = (words: string): boolean => NEXT_KEY.test(words);

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
