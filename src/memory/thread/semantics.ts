import type { AgentEmbeddings } from "../embeddings/agent-embeddings.ts";
import { hasProvider } from "../embeddings/no-embeddings.ts";
import type { EmbeddingSettings } from "../embeddings/types.ts";
import type { Library } from "./library.ts";
import type { FromThread } from "./messages.ts";

/** The embeddings of all agents. The code that embeds is loaded when the first of them has a provider. */
export interface Semantics {
  /** Undefined without a provider. `isOpen`: the library is still the one in use after a wait. */
  of(library: Library, chosen: EmbeddingSettings, isOpen: () => boolean): Promise<AgentEmbeddings | undefined>;
  close(agentId: string): void;
}

export function createSemantics(post: (message: FromThread) => void): Semantics {
  const agents = new Map<string, AgentEmbeddings>();
  return {
    async of(library, chosen, isOpen) {
      const { agentId, stateDir } = library.settings;
      const known = agents.get(agentId);
      if (known || !hasProvider(chosen)) {
        known?.configure(chosen);
        return known;
      }
      const { createAgentEmbeddings } = await import("../embeddings/agent-embeddings.ts");
      const raced = agents.get(agentId);
      if (raced || !isOpen()) return raced;
      const made = createAgentEmbeddings(chosen, {
        library,
        now: () => Date.now(),
        notice: (message) => post({ type: "notice", message }),
        usage: (usage) => post({ type: "usage", agentId, usage }),
        packagesFrom: [stateDir, import.meta.dirname],
      });
      agents.set(agentId, made);
      return made;
    },
    close(agentId) {
      void agents.get(agentId)?.[Symbol.asyncDispose]();
      agents.delete(agentId);
    },
  };
}
