import type { EntryInput, SessionRow, Store, TranscriptRow, Write } from "../store/index.ts";
import { continueBranch, loadBranch, withLines, type Branch, type HeldPath, type SessionPath } from "./branch.ts";
import type { ViewMemo } from "./view/view.ts";

/**
 * A session as the lane that runs it holds it: read once, carried on by the commits of its turns, dropped with the lane or when memory is short. Nothing
 * else caches sessions. A turn asserts with a commit what it takes from here; when that is refused, another writer was faster, and it is read again.
 */
export interface OpenSession {
  readonly key: string;
  /** As the last turn left it; undefined when it has to be read. */
  row: SessionRow | undefined;
  /**
   * Someone else wrote to the session, its transcript or what waits for its next turn since this was last set to false. Undefined where the store does not
   * report what is written.
   */
  isTouched: boolean | undefined;
  /**
   * The branch in use of its transcript: what is held when the transcript is as it was; with the new lines when something was appended; read again when
   * the conversation went on elsewhere. `row`, when the caller has just read it, saves asking the store.
   */
  path(file: string, row?: TranscriptRow): Promise<SessionPath>;
  /** The branch as it is held, and how its transcript stood then. Undefined when it is not held. */
  readonly held: HeldPath | undefined;
  /** Carries the branch on with what was committed below `leafId`. What does not continue it is read with the next `path`. */
  appended(file: string, leafId: string | null, entries: readonly EntryInput[], done: { readonly firstSeq: number; readonly bytes: number }): void;
  /** What a model saw of the branch so far. */
  readonly view: ViewMemo;
  /**
   * What the wire format of its model encoded of the conversation so far; only that looks inside. `shared`: what it encoded of objects that sessions have
   * in common, by the object.
   */
  readonly encoded: { value?: unknown; readonly shared: WeakMap<object, unknown> };
  /** The system prompt of the same facts as before, or what `build` makes of them. Facts are the same when each is the same value or the same object. */
  prompt<T>(facts: readonly unknown[], build: () => T): T;
  /** The report about the prompt that the row is known to hold. */
  promptReport: object | undefined;
  /** What is held, roughly, in bytes. */
  readonly bytes: number;
}

/** Who adds lines of the system to what waits for a session's next turn; plugins add theirs under their own ids. */
export const SYSTEM_EVENTS = "gateway.system-events";
/** The payload of a line that stays until a turn has read it, however many come after it. */
export const KEPT = { keep: true } as const;
/** The payload of a line that waits for a turn whose answer reaches someone. */
export const UNTIL_HEARD = { untilHeard: true } as const;

/** The sessions that lanes hold open. */
export interface OpenSessions {
  /** Opens it when it is not open. */
  get(key: string): OpenSession;
  /** What is held, roughly, in bytes. */
  readonly bytes: number;
}

export interface OpenSessionsDeps {
  readonly store: Pick<Store, "read"> & Partial<Pick<Store, "onWrites">>;
  /** Roughly; sessions that were not used for the longest time go first. One that is larger by itself is held alone, up to three times this. */
  readonly maxBytes?: number;
}

const DEFAULT_MAX_BYTES = 24 * 1024 * 1024;
const MOST_OPEN = 256;
/** Different prompts that are held for all sessions: most sessions have the same. */
const MOST_PROMPTS = 64;
/** One conversation may be so many times larger than what all of them are bounded to. */
const LARGEST_SHARE = 3;

function isSame(facts: readonly unknown[], others: readonly unknown[]): boolean {
  for (const [at, fact] of facts.entries()) if (!Object.is(fact, others[at])) return false;
  return facts.length === others.length;
}

/** The last few values, each with the facts it was built from. */
function createPrompts(): OpenSession["prompt"] {
  const built: { readonly facts: readonly unknown[]; readonly value: unknown }[] = [];
  return <T>(facts: readonly unknown[], build: () => T): T => {
    const at = built.findLastIndex((one) => isSame(one.facts, facts));
    const [found] = at < 0 ? [] : built.splice(at, 1);
    // The same facts were built by the same function.
    const value = found ? (found.value as T) : build();
    built.push({ facts, value });
    if (built.length > MOST_PROMPTS) built.shift();
    return value;
  };
}

/** What sessions have in common, held once: a prompt and a list of tools are several times larger than most conversations. */
interface SharedValues {
  readonly prompt: OpenSession["prompt"];
  readonly encoded: WeakMap<object, unknown>;
}

const sharedValues = (): SharedValues => ({ prompt: createPrompts(), encoded: new WeakMap() });

/** `changed` is called when the session holds more or less than before. */
export function openSession(
  key: string,
  store: OpenSessionsDeps["store"],
  maxBytes = DEFAULT_MAX_BYTES,
  changed: (session: OpenSession) => void = () => {},
  shared = sharedValues(),
): OpenSession {
  function hold(next: Branch | undefined): void {
    // One that is larger than all may be is held alone, up to a bound: to read it again for each turn would cost more than to hold it.
    session.held = next && next.weight <= maxBytes * LARGEST_SHARE ? next : undefined;
    session.bytes = session.held?.weight ?? 0;
    changed(session);
  }

  const session: Omit<OpenSession, "held" | "bytes"> & { held: Branch | undefined; bytes: number } = {
    key,
    row: undefined,
    isTouched: undefined,
    view: {},
    encoded: { shared: shared.encoded },
    prompt: shared.prompt,
    promptReport: undefined,
    held: undefined,
    bytes: 0,
    async path(file, known) {
      const row = known ?? (await store.read("transcripts.get", { file }));
      if (!row) {
        hold(undefined);
        return { file, leafId: null, items: [], state: {} };
      }
      const { held } = session;
      const { standing } = held ?? {};
      const isSameFile = standing?.file === file && standing.sessionId === row.sessionId && standing.createdAt === row.createdAt;
      const same = isSameFile ? held : undefined;
      if (same && same.path.leafId === row.leafId && same.standing.lines === row.lines && same.standing.bytes === row.bytes) return same.path;
      const fresh = (same && (await continueBranch(store, same, row))) ?? (await loadBranch(store, row));
      if (!fresh) return session.path(file);
      hold(fresh);
      return fresh.path;
    },
    appended(file, leafId, entries, { firstSeq, bytes }) {
      const { held } = session;
      if (held?.path.file !== file) return;
      const { standing, path } = held;
      let added = 0;
      for (const { line } of entries) added += Buffer.byteLength(line) + 1;
      if (path.leafId !== leafId || standing.lines !== firstSeq || standing.bytes + added !== bytes) return;
      const next = withLines(held, entries, { lines: firstSeq + entries.length, bytes });
      if (next) hold(next);
    },
  };
  return session;
}

export function createOpenSessions({ store, maxBytes = DEFAULT_MAX_BYTES }: OpenSessionsDeps): OpenSessions {
  /** Least recently used first. */
  const open = new Map<string, OpenSession>();
  const reports = store.onWrites !== undefined;
  const shared = sharedValues();

  store.onWrites?.((writes, by) => {
    // What a turn commits of its own session it knows; it may write to others, too.
    for (const session of writes ? writes.flatMap(touchedBy) : by ? [] : open.values()) if (session !== by) session.isTouched = true;
  });

  /** Sessions that a write changes: themselves, their transcripts, or what waits for their next turn. */
  function touchedBy([kind, input]: Write): readonly OpenSession[] {
    if (kind === "sessions.rename") return [...open.values()];
    if (kind === "sessions.expect" || kind === "transcripts.expect") return [];
    if (kind.startsWith("transcripts.") && "file" in input)
      return open
        .values()
        .toArray()
        .filter((session) => session.held?.path.file === input.file);
    const key =
      kind === "injections.add" || kind === "injections.release" ? input.sessionKey : kind.startsWith("sessions.") && "key" in input ? input.key : undefined;
    const session = key === undefined ? undefined : open.get(key);
    return session ? [session] : [];
  }

  function totalBytes(): number {
    let sum = 0;
    for (const { bytes } of open.values()) sum += bytes;
    return sum;
  }

  /** Makes an open session the last to be dropped, and drops others while they are too many or too large. */
  function use(session: OpenSession): void {
    // One that was dropped while its turn ran is not held any more.
    if (open.get(session.key) !== session) return;
    open.delete(session.key);
    open.set(session.key, session);
    let bytes = totalBytes();
    for (const other of open.values()) {
      if ((bytes <= maxBytes && open.size <= MOST_OPEN) || other === session) break;
      bytes -= other.bytes;
      open.delete(other.key);
    }
  }

  return {
    get(key) {
      let session = open.get(key);
      if (!session) {
        session = openSession(key, store, maxBytes, use, shared);
        if (reports) session.isTouched = true;
        open.set(key, session);
      }
      use(session);
      return session;
    },
    get bytes() {
      return totalBytes();
    },
  };
}
