import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { Env, OpenClawConfig } from "../../config/index.ts";
import type { ModelSettings, ProviderSettings } from "../catalogue/layer.ts";
import { askJson, type Fetch } from "../transport/index.ts";
import type { AwsKeys } from "./aws-signature.ts";

export interface BedrockListDeps {
  readonly env: Env;
  readonly settings: NonNullable<OpenClawConfig["models"]>["bedrockDiscovery"];
  readonly clock: Clock;
  readonly version: string;
  readonly timeoutMs: number;
  readonly fetch?: Fetch | undefined;
}

const WINDOW = 32_000;
const OUTPUT = 4096;
const MAX_BYTES = 4 * 1024 * 1024;

const filled = (env: Env, name: string): string | undefined => env[name]?.trim() || undefined;

export const bedrockRegion = ({ env, settings }: Pick<BedrockListDeps, "env" | "settings">): string =>
  settings?.region?.trim() || (filled(env, "AWS_REGION") ?? filled(env, "AWS_DEFAULT_REGION") ?? "us-east-1");

/** How the request is signed. Profiles and roles need Amazon's own SDK; they are not read here. */
function accessOf(env: Env): { readonly bearer: string } | { readonly keys: AwsKeys } | undefined {
  const bearer = filled(env, "AWS_BEARER_TOKEN_BEDROCK");
  if (bearer !== undefined) return { bearer };
  const [accessKeyId, secretAccessKey] = [filled(env, "AWS_ACCESS_KEY_ID"), filled(env, "AWS_SECRET_ACCESS_KEY")];
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  return { keys: { accessKeyId, secretAccessKey, sessionToken: filled(env, "AWS_SESSION_TOKEN") } };
}

/** Whether the list may be requested: there are keys to sign with, and it is not disabled. */
export const canListBedrock = ({ env, settings }: Pick<BedrockListDeps, "env" | "settings">): boolean =>
  settings?.enabled !== false && accessOf(env) !== undefined;

type Summary = Readonly<Record<string, unknown>>;
const isRecord = (value: unknown): value is Summary => typeof value === "object" && value !== null && !Array.isArray(value);
const has = (value: unknown, word: string): boolean => Array.isArray(value) && value.some((entry) => typeof entry === "string" && entry.toUpperCase() === word);

/** Only active models with text output and streaming. */
function modelOf(summary: unknown, makers: readonly string[], limits: Pick<ModelSettings, "contextWindow" | "maxTokens">): readonly ModelSettings[] {
  if (!isRecord(summary) || typeof summary["modelId"] !== "string") return [];
  const { modelId: id, modelName, providerName, inputModalities, outputModalities, modelLifecycle, responseStreamingSupported } = summary;
  const lifecycle = isRecord(modelLifecycle) ? modelLifecycle["status"] : undefined;
  if (responseStreamingSupported !== true || !has(outputModalities, "TEXT") || (lifecycle !== undefined && lifecycle !== "ACTIVE")) return [];
  const [prefix = ""] = id.split(".");
  const maker = (typeof providerName === "string" ? providerName : prefix).trim().toLowerCase();
  if (makers.length > 0 && !makers.includes(maker) && !makers.includes(prefix.toLowerCase())) return [];
  return [
    {
      id,
      name: typeof modelName === "string" ? modelName : id,
      reasoning: /reasoning|thinking/i.test(`${id} ${String(modelName)}`),
      input: has(inputModalities, "IMAGE") ? ["text", "image"] : ["text"],
      ...limits,
    },
  ];
}

/** The models that an AWS account may use in its region. Throws `UNAVAILABLE` and the like. */
export async function listBedrock(deps: BedrockListDeps): Promise<ProviderSettings> {
  const { env, settings, clock, version, timeoutMs, fetch } = deps;
  const access = accessOf(env);
  if (!access) throw new AppError("UNAVAILABLE", "there are no AWS keys in the environment to sign a request with");
  const region = bedrockRegion(deps);
  const url = new URL(`https://bedrock.${region}.amazonaws.com/foundation-models`);
  const headers =
    "bearer" in access
      ? { authorization: `Bearer ${access.bearer}` }
      : (await import("./aws-signature.ts")).signedHeaders({ url, region, service: "bedrock", now: clock.now() }, access.keys);
  const { status, value } = await askJson({ url: url.href, headers, version, clock, timeoutMs, fetch, maxBytes: MAX_BYTES });
  const summaries = isRecord(value) ? value["modelSummaries"] : undefined;
  if (status >= 400 || !Array.isArray(summaries)) throw new AppError("UNAVAILABLE", `Amazon Bedrock returned no list of models (${status})`);
  const makers = (settings?.providerFilter ?? []).map((name) => name.trim().toLowerCase()).filter((name) => name !== "");
  const limits = { contextWindow: settings?.defaultContextWindow ?? WINDOW, maxTokens: settings?.defaultMaxTokens ?? OUTPUT };
  return {
    baseUrl: `https://bedrock-runtime.${region}.amazonaws.com`,
    models: summaries.flatMap((summary) => modelOf(summary, makers, limits)),
  };
}
