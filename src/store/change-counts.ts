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
}

const MOST_KEPT = 4096;
/** More than is counted between two times that are compared. */
const FORGOTTEN = 1_000_000;

const inert: ReadonlySet<string> = new Set(["sessions.expect", "transcripts.expect", "injections.drain"]);

/** What a write changes, as far as it is counted; undefined when it may be any session. */
function nameOf([kind, input]: Write): string | undefined {
  if (kind === "injections.add") return `injections ${input.sessionKey}`;
  if (kind === "sessions.rename") return undefined;
  const { key, file } = input as { readonly key?: string; readonly file?: string };
  return kind.startsWith("sessions.") ? key && `session ${key}` : file && `transcript ${file}`;
}

const isCounted = ([kind]: Write): boolean =>
  (kind.startsWith("sessions.") || kind.startsWith("transcripts.") || kind === "injections.add") && !inert.has(kind);

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
        if (!isCounted(write)) continue;
        const name = nameOf(write);
        if (name === undefined || counts.size >= MOST_KEPT) forgetAll();
        if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
      }
    },
    of: (sessionKey, file) => ({
      changes: countOf(`session ${sessionKey}`) + countOf(`transcript ${file}`),
      injections: countOf(`injections ${sessionKey}`),
    }),
  };
}
