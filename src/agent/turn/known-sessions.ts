import type { SessionEntry } from "../../protocol/index.ts";
import type { ChangeCounts, SessionRow } from "../../store/index.ts";

/** A session as its last turn left it. */
export interface KnownSession {
  readonly row: SessionRow;
  /** Its transcript. */
  readonly file: string;
  /** The store's counts then. As long as they are the same nobody has changed it, nothing waits for it, and memory has its whole conversation. */
  readonly counts?: ChangeCounts | undefined;
}

/** The sessions that had turns last. Whoever uses one has to make sure, by its counts or with its first commit, that nobody changed it since. */
export interface KnownSessions {
  /** Gives it away: a turn that finds it out of date reads the session, and one that ends well keeps it again. */
  take(key: string): KnownSession | undefined;
  keep(known: KnownSession): void;
}

const MOST_KEPT = 64;

export function createKnownSessions(): KnownSessions {
  /** Longest unused first. */
  const known = new Map<string, KnownSession>();
  return {
    take(key) {
      const found = known.get(key);
      known.delete(key);
      return found;
    },
    keep(session) {
      known.delete(session.row.key);
      known.set(session.row.key, session);
      if (known.size > MOST_KEPT) known.delete(known.keys().next().value!);
    },
  };
}

/** Whether a change would leave an entry as it is. */
export function holdsAlready(entry: SessionEntry, patch: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(patch).every(([name, value]) => {
    const held = entry[name] ?? null;
    const wanted = value ?? null;
    return held === wanted || (typeof wanted === "object" && typeof held === "object" && JSON.stringify(held) === JSON.stringify(wanted));
  });
}
