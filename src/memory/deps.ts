import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log/logger.ts";
import type { Config } from "../config/index.ts";
import type { Store } from "../store/index.ts";
import type { EmbeddingAuth } from "./embeddings/access.ts";

export interface MemoryDeps {
  readonly config: Config;
  /** Grown transcripts are followed from here; a command without a gateway has none. */
  readonly store?: Pick<Store, "onCommit" | "read" | "write"> | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly home: string;
  readonly workspaceOf: (agentId: string) => string;
  /** Keys for embeddings: profiles, `models.providers` and the environment. Without it, only `memorySearch.remote.apiKey` is one. */
  readonly auth?: ((agentId: string) => Promise<EmbeddingAuth>) | undefined;
  /** Of this program. */
  readonly version?: string | undefined;
}
