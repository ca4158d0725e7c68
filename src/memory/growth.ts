import type { Clock } from "../base/clock.ts";
import type { Write } from "../store/index.ts";

/** Notices when the sessions of an agent have grown so much that they are indexed without waiting for a search. */
export interface Growth extends Disposable {
  grew(agentId: string, messages: number, bytes: number): void;
}

export interface GrowthDeps {
  readonly clock: Clock;
  /** `memorySearch.sync.sessions` of an agent. */
  readonly limits: (agentId: string) => { readonly deltaBytes: number; readonly deltaMessages: number };
  readonly due: (agentId: string) => void;
}

/** A reply comes in several commits. */
const QUIET_MS = 5000;

export function createGrowth({ clock, limits, due }: GrowthDeps): Growth {
  const waiting = new Map<string, { messages: number; bytes: number; timer?: Disposable }>();
  return {
    grew(agentId, messages, bytes) {
      const state = waiting.get(agentId) ?? { messages: 0, bytes: 0 };
      waiting.set(agentId, state);
      state.messages += messages;
      state.bytes += bytes;
      const { deltaBytes, deltaMessages } = limits(agentId);
      if (state.timer || (state.messages < deltaMessages && state.bytes < deltaBytes)) return;
      state.timer = clock.after(QUIET_MS, () => {
        waiting.delete(agentId);
        due(agentId);
      });
    },
    [Symbol.dispose]() {
      for (const { timer } of waiting.values()) timer?.[Symbol.dispose]();
    },
  };
}

/** The agent that a transcript belongs to, by its file. */
const agentOfFile = (file: string): string | undefined => /^agents\/([^/]+)\/sessions\//.exec(file)?.[1];

/** Which transcripts changed since the index was last notified. */
export interface Changes {
  /** Takes the writes of a commit. */
  follow(writes: readonly Write[]): void;
  /** The files that grew since the last call; `all` when any may have changed, undefined when none did. */
  take(agentId: string): readonly string[] | "all" | undefined;
}

export function createChanges(growth: Pick<Growth, "grew">): Changes {
  const grown = new Map<string, Set<string> | "all">();
  return {
    follow(writes) {
      for (const [kind, input] of writes) {
        const isRenamed = kind === "transcripts.archive" || kind === "transcripts.restore" || kind === "transcripts.remove";
        if (!isRenamed && kind !== "transcripts.append" && kind !== "transcripts.ensure") continue;
        const agentId = agentOfFile(input.file);
        if (agentId === undefined) continue;
        const files = grown.get(agentId) ?? new Set<string>();
        grown.set(agentId, isRenamed || files === "all" ? "all" : files.add(input.file));
        if (kind !== "transcripts.append") continue;
        const bytes = input.entries.reduce((sum, { line }) => sum + line.length, 0);
        growth.grew(agentId, input.entries.length, bytes);
      }
    },
    take(agentId) {
      const files = grown.get(agentId);
      grown.delete(agentId);
      return files === undefined || files === "all" ? files : [...files];
    },
  };
}
