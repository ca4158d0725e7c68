import type { Clock } from "../../base/clock.ts";
import type { Config } from "../../config/index.ts";
import type { MemorySettings } from "../settings.ts";
import type { EmbeddingAuth } from "./access.ts";
import type { EmbeddingSettings } from "./types.ts";

export interface EmbeddingChoiceDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly home: string;
  /** Keys for embeddings: profiles, `models.providers` and the environment. Without it, only `memorySearch.remote.apiKey` is one. */
  readonly auth?: ((agentId: string) => Promise<EmbeddingAuth>) | undefined;
  /** Of this program. */
  readonly version?: string | undefined;
}

/** A new key is noticed after this long. */
const KEYS_MS = 30_000;

/** Which provider embeds for an agent, with its keys: looked up again after a change of the configuration, and now and then for changed keys. */
export function createEmbeddingChoice({
  config,
  clock,
  home,
  auth,
  version = "0",
}: EmbeddingChoiceDeps): (agentId: string, settings: MemorySettings) => Promise<EmbeddingSettings> {
  const chosen = new Map<string, { readonly config: unknown; readonly at: number; readonly settings: Promise<EmbeddingSettings> }>();

  async function choose(agentId: string, settings: MemorySettings): Promise<EmbeddingSettings> {
    const { embeddingSettings } = await import("./access.ts");
    return embeddingSettings(settings, { config, home, version, auth: await auth?.(agentId) });
  }

  return (agentId, settings) => {
    const known = chosen.get(agentId);
    if (known?.config === config.current && clock.monotonic() - known.at < KEYS_MS) return known.settings;
    const found = choose(agentId, settings);
    chosen.set(agentId, { config: config.current, at: clock.monotonic(), settings: found });
    found.catch(() => chosen.delete(agentId));
    return found;
  };
}
