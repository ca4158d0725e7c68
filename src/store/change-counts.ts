import type { Write } from "./areas/index.ts";

/** How often a session was changed so far, by anybody. The same numbers at two times: nothing was changed between them. */
export interface ChangeCounts {
  /** Its entry and its transcript. */
  readonly changes: number;
  /** What was put aside for its next turn. */
  readonly injections: number;
}

export interface ChangeCounter {
  /** Told the writes of each commit when it is made, before it is done. */
  count(writes: readonly Write[]): void;
  of(sessionKey: string, file: string): ChangeCounts;
  /** Any session may have changed. */
  countAll(): void;
}

const MOST_KEPT = 4096;
/** More than is counted between two times that are compared. */
const FORGOTTEN = 1_000_000;

/** Keys of the sessions whose entries a write changes; undefined when they cannot be told from it. */
export function changedKeys([kind, input]: Write): readonly string[] | undefined {
  if (kind === "sessions.put" || kind === "sessions.patch" || kind === "sessions.merge" || kind === "sessions.delete") return [input.key];
  return kind === "sessions.rename" ? undefined : [];
}

/** What a write changes, as far as it is counted; undefined when it may be any session. */
function countedNames(write: Write): readonly string[] | undefined {
  const [kind, input] = write;
  if (kind === "injections.add") return [`injections ${input.sessionKey}`];
  if (kind.startsWith("transcripts.") && kind !== "transcripts.expect") return [`transcript ${(input as { readonly file: string }).file}`];
  return changedKeys(write)?.map((key) => `session ${key}`);
}

export function createChangeCounter(): ChangeCounter {
  const counts = new Map<string, number>();
  /** What every count begins with. */
  let base = 0;

  function forgetAll(): void {
    counts.clear();
    base += FORGOTTEN;
  }

  const countOf = (name: string): number => base + (counts.get(name) ?? 0);

  return {
    count(writes) {
      for (const write of writes) {
        const names = countedNames(write);
        if (!names || counts.size >= MOST_KEPT) forgetAll();
        for (const name of names ?? []) counts.set(name, (counts.get(name) ?? 0) + 1);
      }
    },
    countAll: forgetAll,
    of: (sessionKey, file) => ({
      changes: countOf(`session ${sessionKey}`) + countOf(`transcript ${file}`),
      injections: countOf(`injections ${sessionKey}`),
    }),
  };
}
