import { messageOf } from "../base/errors.ts";
import type { MemoryDeps } from "./deps.ts";
import { createChanges, createGrowth } from "./growth.ts";
import type { MemorySettings } from "./settings.ts";
import { createThreadClient } from "./thread/client.ts";
import type { LibrarySettings } from "./thread/library-settings.ts";
import type { FromThread, RequestKind, Requests } from "./thread/messages.ts";
import type { Clock } from "../base/clock.ts";
import type { Config } from "../config/index.ts";
import type { EmbeddingAuth } from "./embeddings/access.ts";
import type { EmbeddingSettings } from "./embeddings/types.ts";

/** The built-in index: its thread, what it has to know about transcripts, and who embeds for it. */
export interface Builtin extends AsyncDisposable {
  ask<K extends RequestKind>(kind: K, agentId: string, input: Requests[K]["input"]): Promise<Requests[K]["result"]>;
  notesChanged(agentId: string): void;
}

/** What embeddings cost, in the usage report of the agent under a name of its own. */
function recordUsage({ store, log }: MemoryDeps, { agentId, usage }: Extract<FromThread, { type: "usage" }>): void {
  const { provider, model, tokens, cost, ms, failed } = usage;
  const counted = { input: tokens, output: 0, cacheRead: 0, cacheWrite: 0, cost, durationMs: Math.round(ms), failed };
  store
    ?.write("usage.add", { sessionKey: `agent:${agentId}:memory`, agentId, provider, model, ...counted })
    .catch((error: unknown) => log.warn(`the cost of embeddings could not be stored: ${messageOf(error)}`));
}

interface EmbeddingChoiceDeps {
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
function createEmbeddingChoice({
  config,
  clock,
  home,
  auth,
  version = "0",
}: EmbeddingChoiceDeps): (agentId: string, settings: MemorySettings) => Promise<EmbeddingSettings> {
  const chosen = new Map<string, { readonly config: unknown; readonly at: number; readonly settings: Promise<EmbeddingSettings> }>();

  async function choose(agentId: string, settings: MemorySettings): Promise<EmbeddingSettings> {
    const { embeddingSettings } = await import("./embeddings/access.ts");
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

export function createBuiltin(deps: MemoryDeps, settings: (agentId: string) => MemorySettings): Builtin {
  const { config, clock, log, workspaceOf } = deps;
  const thread = createThreadClient({ clock, log, onUsage: (message) => recordUsage(deps, message) });
  const embeddingsOf = createEmbeddingChoice(deps);
  let following: Disposable | undefined;

  function librarySettings(agentId: string): LibrarySettings {
    const { file, extraPaths, sources, chunking, sync } = settings(agentId);
    const { watch, watchDebounceMs } = sync;
    return { agentId, file, stateDir: config.paths.state, workspace: workspaceOf(agentId), extraPaths, sources, chunking, watch, watchDebounceMs };
  }

  async function ask<K extends RequestKind>(kind: K, agentId: string, input: Requests[K]["input"]): Promise<Requests[K]["result"]> {
    // Only what the thread has seen can have become outdated for it.
    following ??= deps.store?.onCommit((writes) => {
      if (thread.isRunning) changes.follow(writes);
    });
    const embeddings = await embeddingsOf(agentId, settings(agentId));
    const changed = changes.take(agentId);
    if (changed) thread.post({ type: "touched", agentId, ...(changed === "all" ? {} : { files: changed }) });
    return thread.ask(kind, { settings: librarySettings(agentId), embeddings }, input);
  }

  const growth = createGrowth({
    clock,
    limits: (agentId) => settings(agentId).sync.sessions,
    due: (agentId) =>
      void ask("sync", agentId, {}).catch((error: unknown) => log.warn(`the sessions of agent ${agentId} could not be indexed: ${messageOf(error)}`)),
  });
  const changes = createChanges(growth);

  return {
    ask,
    notesChanged: (agentId) => thread.post({ type: "notesChanged", agentId }),
    async [Symbol.asyncDispose]() {
      following?.[Symbol.dispose]();
      growth[Symbol.dispose]();
      await thread[Symbol.asyncDispose]();
    },
  };
}
