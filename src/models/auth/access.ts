import type { AuthProfileCredential } from "../../protocol/index.ts";
import type { AppError } from "../../base/errors.ts";
import { modelFailed } from "../failure.ts";
import { createCopilotExchange, type CopilotExchangeDeps } from "./copilot.ts";
import { credentialOf, mainSecret, whyUnusable } from "./document.ts";
import type { OtherKey } from "./candidates.ts";
import type { Access, AuthProfiles, AuthProfilesDeps, Candidate, Credential } from "./profiles.ts";
import { createRenewal } from "./renewal.ts";
import type { Stores } from "./stores.ts";

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

/** Facts that a request carries besides the credential. */
function facts(credential: AuthProfileCredential): Omit<Access, "apiKey" | "type"> {
  const entry: Readonly<Record<string, unknown>> = { ...credential };
  const accountId = text(entry["accountId"]);
  const projectId = text(entry["projectId"]);
  const baseUrl = text(entry["resourceUrl"]);
  return {
    ...(credential.type !== "api_key" && credential.expires !== undefined ? { expires: credential.expires } : {}),
    ...(accountId === undefined ? {} : { accountId }),
    ...(projectId === undefined ? {} : { projectId }),
    ...(baseUrl === undefined ? {} : { baseUrl: /^https?:\/\//.test(baseUrl) ? baseUrl : `https://${baseUrl}` }),
    ...(credential.type === "api_key" && credential.metadata ? { metadata: credential.metadata } : {}),
  };
}

/** Providers whose key is a small JSON text with token and project. */
const TOKEN_AND_PROJECT: ReadonlySet<string> = new Set(["google-gemini-cli", "google-antigravity"]);

function keyOf(credential: AuthProfileCredential): string {
  const secret = mainSecret(credential);
  if (credential.type !== "oauth" || !TOKEN_AND_PROJECT.has(credential.provider)) return secret;
  return JSON.stringify({ token: secret, projectId: credential["projectId"] });
}

const unusable = (candidate: Candidate, why: string): AppError =>
  modelFailed({ phase: "connect", status: 401, text: `credential ${candidate.id} of ${candidate.provider} cannot be used: ${why}` });

/** Resolves a candidate to its secret. */
export function createAccess(deps: AuthProfilesDeps, stores: Stores, keysFor: (provider: string) => readonly OtherKey[]): AuthProfiles["credential"] {
  const renewal = createRenewal(deps, stores);

  async function ofProfile(candidate: Candidate): Promise<Access> {
    const stored = credentialOf(stores.merged().profiles[candidate.id]);
    if (!stored) throw unusable(candidate, "it was removed");
    const credential = stored.type === "oauth" ? await renewal.fresh(candidate.id) : stored;
    const why = whyUnusable(credential, deps.clock.now());
    if (why !== undefined) throw unusable(candidate, why);
    const apiKey = deps.formatKey?.(candidate.provider)?.(credential) ?? keyOf(credential);
    if (apiKey !== "") deps.redactor.register(apiKey);
    return { ...(apiKey === "" ? {} : { apiKey }), type: credential.type, ...facts(credential) };
  }

  return async (candidate) => {
    if (candidate.source === "profile") return ofProfile(candidate);
    if (candidate.source === "ambient") return { type: "ambient" };
    const key = keysFor(candidate.provider).find(({ id }) => id === candidate.id);
    const fetched = key?.input === undefined ? undefined : await deps.secret?.(key.input, candidate.id.replace(/^config:/, ""));
    const apiKey = key?.secret ?? fetched;
    if (key === undefined || apiKey === undefined) throw unusable(candidate, "it is no longer set");
    deps.redactor.register(apiKey);
    return { apiKey, type: key.type };
  };
}

/** Credential and base URL of a request: some logins are exchanged first, some provide the URL. */
export type RequestAccess = (provider: string, access: Access, baseUrl?: string) => Promise<Credential>;

const withVersion = (url: string): string => (/\/v1\/?$/.test(url) ? url.replace(/\/$/, "") : `${url.replace(/\/+$/, "")}/v1`);

/** Cloudflare's account and gateway are in the profile; the URL has placeholders for them. */
function cloudflareUrl(baseUrl: string | undefined, metadata: NonNullable<Access["metadata"]>): string | undefined {
  const { accountId, gatewayId } = metadata;
  if (baseUrl === undefined || accountId === undefined || gatewayId === undefined) return undefined;
  return baseUrl.replace("{account}", encodeURIComponent(accountId)).replace("{gateway}", encodeURIComponent(gatewayId));
}

/** Turns a credential into what a request carries. */
export function createRequestAccess(deps: CopilotExchangeDeps): RequestAccess {
  const exchange = createCopilotExchange(deps);
  return async (provider, { apiKey, baseUrl, metadata }, modelUrl) => {
    if (provider === "github-copilot" && apiKey !== undefined) {
      const { token, baseUrl: at } = await exchange(apiKey);
      return { apiKey: token, baseUrl: at };
    }
    const own = provider === "qwen-portal" && baseUrl !== undefined ? withVersion(baseUrl) : (baseUrl ?? (metadata && cloudflareUrl(modelUrl, metadata)));
    return { ...(apiKey === undefined ? {} : { apiKey }), ...(own === undefined ? {} : { baseUrl: own }) };
  };
}
