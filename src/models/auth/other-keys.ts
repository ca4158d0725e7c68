import { isObject, type Env, type OpenClawConfig, type SecretInput } from "../../config/index.ts";
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

function providerConfig({ provider, config, canonical }: OtherKeysInput): Readonly<Record<string, unknown>> | undefined {
  const found = Object.entries(config.models?.providers ?? {}).find(([name]) => canonical(name) === canonical(provider))?.[1];
  return isObject(found) ? found : undefined;
}

/** `models.providers.*.auth: "aws-sdk"`: the SDK's credential chain comes before every profile. */
export function awsFirst(input: OtherKeysInput): readonly OtherKey[] {
  const asked = providerConfig(input)?.["auth"] === "aws-sdk";
  return asked ? [{ source: "ambient", id: "aws-sdk", type: "ambient", why: `models.providers.${input.provider}.auth is "aws-sdk"` }] : [];
}

/** The value of a configured key: itself, or the variable it names. A name whose variable is not set is not a key. */
function configuredKey(value: unknown, env: Env): { readonly secret: string; readonly why: string } | undefined {
  if (isObject(value)) {
    const name = value["source"] === "env" ? value["id"] : undefined;
    const secret = typeof name === "string" ? variable(env, name) : undefined;
    return secret === undefined ? undefined : { secret, why: `names ${String(name)}` };
  }
  if (typeof value !== "string" || value.trim() === "") return undefined;
  const match = VARIABLE.exec(value.trim());
  const name = match?.[1] ?? match?.[2];
  if (name === undefined) return { secret: value.trim(), why: "holds the key" };
  const secret = variable(env, name);
  if (secret !== undefined) return { secret, why: `names ${name}` };
  // A text in capitals with an underscore is a variable's name; "OLLAMA" may be a placeholder key.
  return match?.[1] !== undefined || name.includes("_") ? undefined : { secret: name, why: "holds the key" };
}

/** Keys after the profiles: the environment, then the configuration, then the AWS chain for Bedrock. */
export function otherKeys(input: OtherKeysInput): readonly OtherKey[] {
  const { provider, env, envNames, canonical } = input;
  const found: OtherKey[] = [];
  for (const name of canonical(provider) === BEDROCK ? [] : envNames) {
    const secret = variable(env, name);
    if (secret === undefined) continue;
    const type = name.endsWith("OAUTH_TOKEN") ? "token" : "api_key";
    found.push({ source: "env", id: `env:${name}`, type, why: `${name} is set`, secret });
  }
  const path = `models.providers.${provider}.apiKey`;
  const apiKey = providerConfig(input)?.["apiKey"];
  const configured = configuredKey(apiKey, env);
  if (isObject(apiKey) && (apiKey["source"] === "file" || apiKey["source"] === "exec")) {
    found.push({ source: "config", id: `config:${path}`, type: "api_key", why: `${path} says where it is`, input: apiKey as unknown as SecretInput });
  }
  if (configured && !found.some(({ secret }) => secret === configured.secret)) {
    found.push({ source: "config", id: `config:${path}`, type: "api_key", why: `${path} ${configured.why}`, secret: configured.secret });
  }
  if (canonical(provider) === BEDROCK) {
    const keys = variable(env, "AWS_ACCESS_KEY_ID") !== undefined && variable(env, "AWS_SECRET_ACCESS_KEY") !== undefined;
    const there = keys || AWS_VARIABLES.some((name) => variable(env, name) !== undefined);
    if (there && awsFirst(input).length === 0) found.push({ source: "ambient", id: "aws-sdk", type: "ambient", why: "AWS credentials are in the environment" });
  } else if (input.ambient) {
    found.push({ source: "ambient", id: "ambient", type: "ambient", why: `${provider}'s own library finds it` });
  }
  return found;
}
