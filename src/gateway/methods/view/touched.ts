import type { Write } from "../../../store/index.ts";

/** What is known of a session that somebody watches. */
export interface Place {
  /** Undefined until it is known: then every transcript may be it. */
  file: string | undefined;
  /** Inputs that wait in it. */
  pending: ReadonlySet<number>;
}

/** What a write may name. */
interface Named {
  readonly sessionKey?: string;
  readonly key?: string;
  readonly file?: string;
  readonly ids?: readonly number[];
  readonly id?: string;
}

const BY_SESSION: ReadonlySet<string> = new Set(["inbox.accept", "inbox.assign", "turns.start", "approvals.fate"]);
const BY_KEY: ReadonlySet<string> = new Set(["sessions.put", "sessions.delete"]);
const BY_ID: ReadonlySet<string> = new Set(["inbox.claim", "inbox.release", "inbox.settle"]);

/** Sessions, of those that are watched, in which a write changes what a page shows. */
export function touchedBy(
  [kind, input]: Write,
  places: Iterable<readonly [key: string, place: Place]>,
  sessionOf: (runId: string) => string | undefined,
): readonly string[] {
  const { sessionKey, key, file, ids = [], id } = input as Named;
  const one = BY_SESSION.has(kind) ? sessionKey : BY_KEY.has(kind) ? key : kind === "turns.end" ? sessionOf(id!) : undefined;
  if (one !== undefined) return [one];
  const found: string[] = [];
  if (!kind.startsWith("transcripts.") && !BY_ID.has(kind)) return found;
  for (const [watched, place] of places) {
    const fits = BY_ID.has(kind) ? ids.some((waiting) => place.pending.has(waiting)) : place.file === undefined || place.file === file;
    if (fits) found.push(watched);
  }
  return found;
}
