import type { MethodResult } from "../protocol/index.ts";

/** Something that went wrong, and what to do about it. */
export type Problem = MethodResult<"overview">["problems"][number];

/** A problem as a source reports it. Without `at` it counts from when it was first seen; reported several times under one id it is one. */
export interface Trouble extends Omit<Problem, "at" | "count"> {
  readonly at?: number | undefined;
  readonly count?: number | undefined;
}

const MOST = 50;
const MOST_TEXT = 500;

/** Puts troubles together: one for each id, newest first. */
export interface ProblemList {
  of(troubles: readonly Trouble[], now: number): readonly Problem[];
}

export function createProblemList(shown: (text: string) => string): ProblemList {
  /** When a trouble that has no time of its own was first seen; forgotten when it is gone. */
  let seen = new Map<string, number>();
  return {
    of(troubles, now) {
      const still = new Map<string, number>();
      const found = new Map<string, Problem>();
      for (const { at: happenedAt, count = 1, text, ...trouble } of troubles) {
        const { id } = trouble;
        const at = happenedAt ?? seen.get(id) ?? now;
        if (happenedAt === undefined) still.set(id, at);
        const known = found.get(id);
        if (known && known.at >= at) found.set(id, { ...known, count: known.count + count });
        else found.set(id, { ...trouble, text: shown(text).slice(0, MOST_TEXT), at, count: count + (known?.count ?? 0) });
      }
      seen = still;
      return [...found.values()].sort((a, b) => b.at - a.at).slice(0, MOST);
    },
  };
}
