import type { WireRequest } from "../format.ts";
import { askedRetention } from "../params.ts";

export type CacheMark = { readonly cache_control?: { readonly type: "ephemeral"; readonly ttl?: "1h" } };

/**
 * Claude wherever it runs, and models that the user configured with this format; other makers' models that only use the format have their own
 * caching.
 */
const caches = ({ provider, id, source }: WireRequest["model"]): boolean =>
  provider === "anthropic" || ["config", "models.json", "generic"].includes(source) || /claude/i.test(id);

/** The marker on the system prompt and the last user block that makes the provider cache everything before it. */
export function cacheMark(request: WireRequest): CacheMark {
  const { model, cacheRetention } = request;
  const retention = askedRetention(request) ?? (caches(model) ? (cacheRetention ?? "short") : "none");
  if (retention === "none") return {};
  const long = retention === "long" && model.baseUrl.includes("api.anthropic.com");
  return { cache_control: { type: "ephemeral", ...(long ? { ttl: "1h" as const } : {}) } };
}
