import type { Credential } from "../../call/credentials.ts";
import type { Access } from "../profiles.ts";
import { createCopilotExchange, type CopilotExchangeDeps } from "./copilot.ts";

/** Credential and base URL of a request: some logins are exchanged first, some provide the URL. */
export type RequestAccess = (provider: string, access: Access, baseUrl?: string) => Promise<Credential>;

const withVersion = (url: string): string => (/\/v1\/?$/.test(url) ? url.replace(/\/$/, "") : `${url.replace(/\/+$/, "")}/v1`);

/** Cloudflare's account and gateway are in the profile; the URL has placeholders for them. */
function cloudflareUrl(baseUrl: string | undefined, metadata: Access["metadata"]): string | undefined {
  const { accountId, gatewayId } = metadata ?? {};
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
    const own = provider === "qwen-portal" && baseUrl !== undefined ? withVersion(baseUrl) : (baseUrl ?? cloudflareUrl(modelUrl, metadata));
    return { ...(apiKey === undefined ? {} : { apiKey }), ...(own === undefined ? {} : { baseUrl: own }) };
  };
}
