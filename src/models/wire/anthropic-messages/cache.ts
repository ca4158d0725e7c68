import type { WireRequest } from "../format.ts";
import { askedRetention } from "../params.ts";

export type CacheMark = { readonly cache_control?: { readonly type: "ephemeral"; readonly ttl?: "1h" } };

/** Claude wherever it runs, and what the user configured to be spoken to like it; other makers' models that only speak the format have caches of their own. */
const caches = ({ provider, id, source }: WireRequest["model"]): boolean =>
  provider === "anthropic" || ["config", "models.json", "generic"].includes(source) || /claude/i.test(id);

/** What is put on the system prompt and the last user block so that the provider keeps what is before it. */
export function cacheMark(request: WireRequest): CacheMark {
  const { model, cacheRetention } = request;
  const retention = askedRetention(request) ?? (caches(model) ? (cacheRetention ?? "short") : "none");
  if (retention === "none") return {};
  const long = retention === "long" && model.baseUrl.includes("api.anthropic.com");
  return { cache_control: { type: "ephemeral", ...(long ? { ttl: "1h" as const } : {}) } };
}
