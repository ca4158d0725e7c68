import type { Clock } from "../base/clock.ts";

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
