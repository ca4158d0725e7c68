import type { WireRequest } from "../format.ts";

export type CacheMark = { readonly cache_control?: { readonly type: "ephemeral"; readonly ttl?: "1h" } };

const OLD_NAMES: Readonly<Record<string, "short" | "long">> = { "5m": "short", "1h": "long" };

/** Claude wherever it runs, and what the user configured to be spoken to like it; other makers' models that only speak the format have caches of their own. */
const caches = ({ provider, id, source }: WireRequest["model"]): boolean =>
  provider === "anthropic" || ["config", "models.json", "generic"].includes(source) || /claude/i.test(id);

/** What is put on the system prompt and the last user block so that the provider keeps what is before it. */
export function cacheMark({ model, params, cacheRetention }: WireRequest): CacheMark {
  const asked = params?.["cacheRetention"] ?? OLD_NAMES[String(params?.["cacheControlTtl"])];
  const retention = asked === "none" || asked === "short" || asked === "long" ? asked : caches(model) ? (cacheRetention ?? "short") : "none";
  if (retention === "none") return {};
  const long = retention === "long" && model.baseUrl.includes("api.anthropic.com");
  return { cache_control: { type: "ephemeral", ...(long ? { ttl: "1h" as const } : {}) } };
}
