import { messageOf } from "../../base/errors.ts";
import type { AgentEmbeddings } from "../embeddings/agent-embeddings.ts";
import { hasProvider } from "../embeddings/no-embeddings.ts";
import type { EmbeddingSettings } from "../embeddings/types.ts";
import { loadRanker } from "../search/ranker.ts";
import { createAnalyser } from "../text/analyser.ts";
import { loadConcepts } from "../text/concepts.ts";
import { openLibrary, type Library } from "./library.ts";
import type { LibrarySettings } from "./library-settings.ts";
import type { FromThread } from "./messages.ts";
import type { Scheduler } from "./scheduler.ts";

/** The memories that are open, one per agent, each with its embeddings if there are any. */
export interface Libraries {
  open(settings: LibrarySettings): Library;
  /** One that cannot be read is thrown away and made again: it is a cache. */
  reopen(settings: LibrarySettings, why: unknown): Library;
  get(agentId: string): Library | undefined;
  /** Undefined without a provider; the code that embeds is loaded when there is one. */
  embeddings(library: Library, chosen: EmbeddingSettings): Promise<AgentEmbeddings | undefined>;
  close(): void;
}

export function createLibraries(post: (message: FromThread) => void, scheduler: Scheduler): Libraries {
  const analyser = createAnalyser();
  const concepts = loadConcepts(analyser);
  const learned = loadRanker();
  const libraries = new Map<string, Library>();
  const embeddings = new Map<string, AgentEmbeddings>();
  const notice = (message: string): void => post({ type: "notice", message });
  const changed = (library: Library): void =>
    void scheduler.run(() => library.syncNotes()).catch((error: unknown) => notice(`notes could not be indexed: ${messageOf(error)}`));

  /** Embeddings of an index end with it: what the provider still answers is dropped. */
  function forget(agentId: string): Library | undefined {
    void embeddings.get(agentId)?.[Symbol.asyncDispose]();
    embeddings.delete(agentId);
    const library = libraries.get(agentId);
    libraries.delete(agentId);
    return library;
  }

  function open(settings: LibrarySettings): Library {
    const known = libraries.get(settings.agentId);
    if (known && JSON.stringify(known.settings) === JSON.stringify(settings)) return known;
    forget(settings.agentId)?.[Symbol.dispose]();
    const library = openLibrary(settings, { analyser, concepts, learned, now: () => Date.now(), changed, notice });
    libraries.set(settings.agentId, library);
    return library;
  }

  return {
    open,
    reopen(settings, why) {
      forget(settings.agentId)?.discard();
      notice(`the memory index of agent ${settings.agentId} was damaged and is being rebuilt: ${messageOf(why)}`);
      return open(settings);
    },
    get: (agentId) => libraries.get(agentId),
    async embeddings(library, chosen) {
      const { agentId, stateDir } = library.settings;
      const known = embeddings.get(agentId);
      if (known || !hasProvider(chosen)) {
        known?.configure(chosen);
        return known;
      }
      const { createAgentEmbeddings } = await import("../embeddings/agent-embeddings.ts");
      const raced = embeddings.get(agentId);
      if (raced || libraries.get(agentId) !== library) return raced;
      const made = createAgentEmbeddings(chosen, {
        library,
        now: () => Date.now(),
        notice,
        usage: (usage) => post({ type: "usage", agentId, usage }),
        packagesFrom: [stateDir, import.meta.dirname],
      });
      embeddings.set(agentId, made);
      return made;
    },
    close() {
      for (const agentId of libraries.keys()) forget(agentId)?.[Symbol.dispose]();
    },
  };
}
