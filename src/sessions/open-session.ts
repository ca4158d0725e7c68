import type { EntryInput, EntryRow, SessionRow, Store, TranscriptRow, Write } from "../store/index.ts";
import { read, readBranch, type Tail } from "./branch.ts";
import type { PathState } from "./transcript/path.ts";
import { keptFrom } from "./view/context.ts";
import type { PathItem } from "./view/item.ts";
import type { ViewMemo } from "./view/view.ts";

/** The branch in use of one transcript. A value: what is appended later gives a new one. */
export interface SessionPath {
  readonly file: string;
  /** The parent of the next entry; null in an empty transcript. */
  readonly leafId: string | null;
  /** For `view`. What a compaction has summed up is not among them. */
  readonly items: readonly PathItem[];
  readonly state: PathState;
}

/** A branch, with what its transcript has to be like for it to hold. */
export interface HeldPath {
  readonly path: SessionPath;
  readonly standing: Pick<TranscriptRow, "file" | "sessionId" | "lines" | "bytes" | "leafId" | "createdAt">;
}

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
  held(): HeldPath | undefined;
  /** Carries the branch on with what was committed below `leafId`. What does not continue it is read with the next `path`. */
  appended(file: string, leafId: string | null, entries: readonly EntryInput[], done: { readonly firstSeq: number; readonly bytes: number }): void;
  /** What a model saw of the branch so far. */
  readonly view: ViewMemo;
  /** The system prompt of the same facts as before, or what `build` makes of them. Facts are the same when each is the same value or the same object. */
  prompt<T>(facts: readonly unknown[], build: () => T): T;
  /** The report about the prompt that the row is known to hold. */
  promptReport: object | undefined;
}

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

interface Branch extends SessionPath {
  readonly sessionId: string;
  readonly createdAt: number;
  /** Lines and bytes of the transcript up to here. */
  readonly lines: number;
  readonly fileBytes: number;
  /** What each item weighs, and all of them. */
  readonly weights: readonly number[];
  readonly weight: number;
}

const DEFAULT_MAX_BYTES = 24 * 1024 * 1024;
const MOST_OPEN = 256;
const MOST_PROMPTS = 4;
const PAGE = 500;
/** One conversation may be so many times larger than what all of them are bounded to. */
const LARGEST_SHARE = 3;

type Line = Pick<EntryInput, "id" | "parentId" | "line">;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);

/** With what follows; what a new compaction has summed up goes. */
function extended(branch: Branch, tail: Tail, at: Pick<Branch, "leafId" | "lines" | "fileBytes">): Branch {
  const items = [...branch.items, ...tail.items];
  const weights = [...branch.weights, ...tail.weights];
  const from = tail.items.some((item) => item.firstKeptId !== undefined) ? keptFrom(items) : 0;
  const own = { items: items.slice(from), weights: weights.slice(from) };
  const weight = from === 0 ? branch.weight + sum(tail.weights) : sum(own.weights);
  return { ...branch, ...at, ...own, weight, state: tail.state };
}

/** The new lines in order when each is the parent of the next, beginning at `leafId`; else undefined. Lines without an id are no part of a branch. */
function chain<T extends Line>(leafId: string | null, lines: readonly T[]): readonly T[] | undefined {
  let parent = leafId;
  const own = lines.filter(({ id }) => id !== undefined && id !== null);
  for (const { id, parentId } of own) {
    if ((parentId ?? null) !== parent || id === parent) return undefined;
    parent = id!;
  }
  return own;
}

/** The last few values, each with the facts it was built from. */
function createPrompts(): OpenSession["prompt"] {
  const built: { readonly facts: readonly unknown[]; readonly value: unknown }[] = [];
  return <T>(facts: readonly unknown[], build: () => T): T => {
    const at = built.findLastIndex((one) => one.facts.length === facts.length && one.facts.every((fact, index) => Object.is(fact, facts[index])));
    const [found] = at < 0 ? [] : built.splice(at, 1);
    const value = found ? (found.value as T) : build();
    built.push({ facts, value });
    if (built.length > MOST_PROMPTS) built.shift();
    return value;
  };
}

/** Undefined when the transcript was put away in between. */
async function load(store: OpenSessionsDeps["store"], row: TranscriptRow): Promise<Branch | undefined> {
  const { file, leafId, lines, sessionId, createdAt } = row;
  const { items, weights, state, torn } = await readBranch(store, file, leafId);
  if (torn) {
    const now = await store.read("transcripts.get", { file });
    if (now?.sessionId !== sessionId || now.createdAt !== createdAt) return undefined;
  }
  const from = keptFrom(items);
  const own = { items: items.slice(from), weights: weights.slice(from) };
  return { file, leafId, lines, fileBytes: row.bytes, sessionId, createdAt, state, ...own, weight: sum(own.weights) };
}

/** With the lines that came since, when they continue the branch; undefined when it has to be read again. */
async function continued(store: OpenSessionsDeps["store"], branch: Branch, row: TranscriptRow): Promise<Branch | undefined> {
  const missing = row.lines - branch.lines;
  if (missing <= 0 || missing > PAGE || row.bytes <= branch.fileBytes) return undefined;
  const rows: readonly EntryRow[] = await store.read("transcripts.page", { file: branch.file, after: branch.lines - 1, limit: missing });
  const lines =
    rows.length === missing
      ? chain(
          branch.leafId,
          rows.map(({ id, parentId, line }) => ({ id: id ?? undefined, parentId, line })),
        )
      : undefined;
  if (!lines || (lines.at(-1)?.id ?? branch.leafId) !== row.leafId || lines.some(({ id }) => branch.items.some(({ entry }) => entry.id === id)))
    return undefined;
  return extended(branch, read(lines, branch.state), { leafId: row.leafId, lines: row.lines, fileBytes: row.bytes });
}

/** `weighed` is called when the session holds more or less than before. */
export function openSession(
  key: string,
  store: OpenSessionsDeps["store"],
  maxBytes = DEFAULT_MAX_BYTES,
  weighed: (bytes: number) => void = () => {},
): OpenSession {
  let branch: Branch | undefined;

  function hold(next: Branch | undefined): void {
    // One that is larger than all may be is held alone, up to a bound: to read it again for each turn would cost more than to hold it.
    branch = next && next.weight <= maxBytes * LARGEST_SHARE ? next : undefined;
    weighed(branch?.weight ?? 0);
  }

  async function path(file: string, known?: TranscriptRow): Promise<SessionPath> {
    const row = known ?? (await store.read("transcripts.get", { file }));
    if (!row) {
      hold(undefined);
      return { file, leafId: null, items: [], state: {} };
    }
    const same = branch?.file === file && branch.sessionId === row.sessionId && branch.createdAt === row.createdAt ? branch : undefined;
    if (same && same.leafId === row.leafId && same.lines === row.lines && same.fileBytes === row.bytes) return same;
    const fresh = (same && (await continued(store, same, row))) ?? (await load(store, row));
    if (!fresh) return path(file);
    hold(fresh);
    return fresh;
  }

  return {
    key,
    row: undefined,
    isTouched: undefined,
    view: {},
    prompt: createPrompts(),
    promptReport: undefined,
    path,
    held() {
      if (!branch) return undefined;
      const { file, sessionId, lines, fileBytes, leafId, createdAt } = branch;
      return { path: branch, standing: { file, sessionId, lines, bytes: fileBytes, leafId, createdAt } };
    },
    appended(file, leafId, entries, { firstSeq, bytes: fileBytes }) {
      if (branch?.file !== file) return;
      const added = sum(entries.map(({ line }) => Buffer.byteLength(line) + 1));
      const lines = branch.leafId === leafId && branch.lines === firstSeq && branch.fileBytes + added === fileBytes ? chain(leafId, entries) : undefined;
      if (lines) hold(extended(branch, read(lines, branch.state), { leafId: lines.at(-1)?.id ?? leafId, lines: firstSeq + entries.length, fileBytes }));
    },
  };
}

export function createOpenSessions({ store, maxBytes = DEFAULT_MAX_BYTES }: OpenSessionsDeps): OpenSessions {
  /** Least recently used first. */
  const open = new Map<string, { readonly session: OpenSession; weight: number }>();
  let bytes = 0;

  const reports = store.onWrites !== undefined;
  store.onWrites?.((writes, by) => {
    // What a turn commits is its own session's.
    if (by) return;
    for (const session of writes ? writes.flatMap(touched) : all()) session.isTouched = true;
  });

  const all = (): readonly OpenSession[] =>
    open
      .values()
      .toArray()
      .map(({ session }) => session);

  /** Sessions that a write changes: themselves, their transcripts, or what waits for their next turn. */
  function touched([kind, input]: Write): readonly OpenSession[] {
    if (kind === "sessions.rename") return all();
    if (kind === "sessions.expect" || kind === "transcripts.expect") return [];
    if (kind.startsWith("transcripts.")) return all().filter((session) => session.held()?.path.file === (input as { readonly file: string }).file);
    if (kind !== "injections.add" && !kind.startsWith("sessions.")) return [];
    const session = open.get(kind === "injections.add" ? input.sessionKey : (input as { readonly key: string }).key)?.session;
    return session ? [session] : [];
  }

  function drop(key: string): void {
    bytes -= open.get(key)?.weight ?? 0;
    open.delete(key);
  }

  /** Sessions in use come last. */
  function trim(inUse: string): void {
    for (const key of open.keys()) {
      if ((bytes <= maxBytes && open.size <= MOST_OPEN) || key === inUse) break;
      drop(key);
    }
  }

  function weigh(key: string, session: OpenSession, weight: number): void {
    const held = open.get(key);
    // One that was dropped while its turn ran is not held any more.
    if (held?.session !== session) return;
    bytes += weight - held.weight;
    held.weight = weight;
    open.delete(key);
    open.set(key, held);
    trim(key);
  }

  return {
    get(key) {
      const held = open.get(key);
      if (held) {
        open.delete(key);
        open.set(key, held);
        return held.session;
      }
      const session: OpenSession = openSession(key, store, maxBytes, (weight) => weigh(key, session, weight));
      if (reports) session.isTouched = true;
      open.set(key, { session, weight: 0 });
      trim(key);
      return session;
    },
    get bytes() {
      return bytes;
    },
  };
}
