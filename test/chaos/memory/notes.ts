import { join } from "node:path";
import { createAnalyser } from "../../../src/memory/text/analyser.ts";
import { createConcepts } from "../../../src/memory/text/concepts.ts";
import { openLibrary, type Library } from "../../../src/memory/thread/library.ts";
import type { Steps } from "../../../src/memory/thread/sync-notes.ts";

/** What a note says in a round: the word for its round is nowhere else. */
export const noteText = (name: number, round: number): string =>
  `# Note ${name}\n\nThe animal of note${name} is the zebra${round}x.\n${"Some more lines.\n".repeat(30)}`;

export function openNotes(folder: string, notice: (message: string) => void = () => {}): Library {
  const analyser = createAnalyser();
  const settings = {
    agentId: "main",
    file: join(folder, "memory.sqlite"),
    stateDir: join(folder, "state"),
    workspace: join(folder, "workspace"),
    extraPaths: [],
    sources: ["memory"] as const,
    chunking: { tokens: 100, overlap: 20 },
    watch: false,
    watchDebounceMs: 10,
  };
  return openLibrary(settings, { analyser, concepts: createConcepts("", analyser), learned: undefined, now: () => Date.now(), changed: () => {}, notice });
}

export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
