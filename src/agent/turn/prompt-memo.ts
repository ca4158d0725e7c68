import type { SystemPrompt } from "../prompt/system-prompt.ts";

/** Prompts that were built, by what they were built from. */
export interface PromptMemo {
  /** The prompt of the same facts, or what `build` makes of them. Facts are the same when each is the same value or the same object. */
  prompt(facts: readonly unknown[], build: () => SystemPrompt): SystemPrompt;
  /** True when the session's entry is known to hold this report. */
  holds(sessionId: string, report: SystemPrompt["report"]): boolean;
  held(sessionId: string, report: SystemPrompt["report"]): void;
}

const MOST_KEPT = 32;

interface Kept {
  readonly facts: readonly unknown[];
  readonly made: SystemPrompt;
}

export function createPromptMemo(): PromptMemo {
  /** Most recently used last. */
  const kept: Kept[] = [];
  const reports = new WeakMap<object, Set<string>>();

  return {
    prompt(facts, build) {
      const at = kept.findLastIndex((one) => sameFacts(one.facts, facts));
      const [found] = at < 0 ? [] : kept.splice(at, 1);
      const { made } = found ?? { made: build() };
      kept.push({ facts, made });
      if (kept.length > MOST_KEPT) kept.shift();
      return made;
    },
    holds: (sessionId, report) => reports.get(report)?.has(sessionId) ?? false,
    held(sessionId, report) {
      const sessions = reports.get(report) ?? new Set();
      sessions.add(sessionId);
      reports.set(report, sessions);
    },
  };
}

function sameFacts(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((fact, index) => Object.is(fact, b[index]));
}
