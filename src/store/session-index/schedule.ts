import type { Write } from "../areas/index.ts";
import type { CommitRequest } from "../messages.ts";
import type { Locations } from "./locations.ts";
import type { WriteResult } from "./write.ts";

/** How long after a change a file is written. */
const FIRST_MS = 2000;
/** Bytes written per millisecond on average, and the longest wait between two writes: a large index is written less often. */
const BYTES_PER_MS = 1024;
const LONGEST_MS = 15 * 60_000;
/** Delay after a failed write. */
const AGAIN_MS = 60_000;
/** Removed sessions that are tracked by key; more are found at the next import of the file. */
const MOST_GONE = 10_000;
/** Stands for all files: a key without an agent may be in any of them. */
const EVERY_FILE = "";

/** Keys of the sessions whose entries a write changes. */
function changedKeys([kind, input]: Write): readonly string[] {
  if (kind === "sessions.put" || kind === "sessions.patch" || kind === "sessions.merge" || kind === "sessions.delete") return [input.key];
  return kind === "sessions.rename" ? [input.from, input.to] : [];
}

/** Which files are out of date, and how long the next write has to wait. */
export interface Schedule {
  add(path: string): void;
  /** Gives up writing a file until something changes again. */
  drop(path: string): void;
  committed(commit: CommitRequest): void;
  isDue(): boolean;
  /** Milliseconds until the next write may begin. */
  wait(): number;
  /** Returns what has to be written, and which sessions were removed, and starts over. */
  take(): { readonly paths: readonly string[]; readonly gone: readonly string[] };
  /** Records the outcome of a write. */
  settle(results: readonly WriteResult[]): void;
}

export function createSchedule(locations: Locations): Schedule {
  const dirty = new Set<string>();
  const gone = new Set<string>();
  let notBefore = 0;
  return {
    add: (path) => void dirty.add(path),
    drop: (path) => void dirty.delete(path),
    committed([, , writes]) {
      for (const write of writes) {
        const [kind, input] = write;
        for (const key of changedKeys(write)) {
          const agentId = kind === "sessions.put" ? input.agentId : /^agent:([^:]+):/.exec(key)?.[1];
          const path = agentId === undefined ? EVERY_FILE : locations.pathOf(agentId);
          if (path !== undefined) dirty.add(path);
        }
        const left = kind === "sessions.delete" ? input.key : kind === "sessions.rename" ? input.from : undefined;
        if (left !== undefined && gone.size < MOST_GONE) gone.add(left);
      }
    },
    isDue: () => dirty.size > 0,
    wait: () => Math.max(FIRST_MS, notBefore - performance.now()),
    take() {
      const taken = { paths: dirty.has(EVERY_FILE) ? [...locations.all().keys()] : [...dirty], gone: [...gone] };
      dirty.clear();
      gone.clear();
      return taken;
    },
    settle(results) {
      const bytes = results.reduce((sum, result) => sum + result.bytes, 0);
      const failed = results.some(({ outcome }) => outcome === "failed");
      notBefore = performance.now() + (failed ? AGAIN_MS : Math.min(LONGEST_MS, bytes / BYTES_PER_MS));
      for (const { path, outcome } of results) if (outcome === "failed" || outcome === "foreign") dirty.add(path);
    },
  };
}
