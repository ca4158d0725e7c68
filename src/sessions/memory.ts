import type { EntryInput, EntryRow, Store, TranscriptRow } from "../store/index.ts";
import { read, readBranch, type Tail } from "./branch.ts";
import type { PathState } from "./transcript/path.ts";
import { keptFrom } from "./view/context.ts";
import type { PathItem } from "./view/item.ts";

/** The branch in use of one transcript, read once and then kept up to date. A value: what is appended later gives a new one. */
export interface SessionPath {
  readonly file: string;
  /** Where the next entry is to be hung; null in an empty transcript. */
  readonly leafId: string | null;
  /** For `view`. What a compaction has put away is not among them. */
  readonly items: readonly PathItem[];
  readonly state: PathState;
}

/** A branch from memory, with what its transcript has to be like for it to hold. */
export interface KeptPath {
  readonly path: SessionPath;
  readonly standing: Pick<TranscriptRow, "file" | "sessionId" | "lines" | "bytes" | "leafId" | "createdAt">;
}

/** The conversations that are going on, so that a turn reads and parses what is new and nothing else. */
export interface SessionMemory {
  /**
   * The branch in use. From memory when the transcript is as it was; with the new lines when something was appended; read anew when the
   * conversation went on elsewhere. `row`, when the caller has just read it, saves asking the store.
   */
  path(file: string, row?: TranscriptRow): Promise<SessionPath>;
  /** The branch as it is kept, and how its transcript stood then. Undefined when it is not kept; whoever uses it has to make sure that it still holds. */
  kept(file: string): KeptPath | undefined;
  /**
   * Tells what the caller has committed below `leafId`, with the store's answer. False when it does not continue what is kept: the next `path` reads it
   * again.
   */
  appended(file: string, leafId: string | null, entries: readonly EntryInput[], done: { readonly firstSeq: number; readonly bytes: number }): boolean;
  forget(file: string): void;
  /** What is kept, roughly, in bytes. */
  readonly bytes: number;
}

export interface SessionMemoryDeps {
  readonly store: Pick<Store, "read">;
  /** Roughly; conversations that were not used for the longest time go first. One that is larger by itself is kept alone, up to three times this. */
  readonly maxBytes?: number;
}

interface Kept extends SessionPath {
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
const PAGE = 500;
/** One conversation may be so many times larger than what all of them are bounded to. */
const LARGEST_SHARE = 3;

type Line = Pick<EntryInput, "id" | "parentId" | "line">;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);

/** What follows is hung below the last item; what a new compaction has put away goes. */
function extended(kept: Kept, tail: Tail, at: Pick<Kept, "leafId" | "lines" | "fileBytes">): Kept {
  const items = [...kept.items, ...tail.items];
  const weights = [...kept.weights, ...tail.weights];
  const from = tail.items.some((item) => item.firstKeptId !== undefined) ? keptFrom(items) : 0;
  const own = { items: items.slice(from), weights: weights.slice(from) };
  const weight = from === 0 ? kept.weight + sum(tail.weights) : sum(own.weights);
  return { ...kept, ...at, ...own, weight, state: tail.state };
}

/** The new lines in order when they all hang one below the other, beginning at `leafId`; else undefined. Lines without an id are no part of a branch. */
function chain<T extends Line>(leafId: string | null, lines: readonly T[]): readonly T[] | undefined {
  let parent = leafId;
  const own = lines.filter(({ id }) => id !== undefined && id !== null);
  for (const { id, parentId } of own) {
    if ((parentId ?? null) !== parent || id === parent) return undefined;
    parent = id!;
  }
  return own;
}

export function createSessionMemory({ store, maxBytes = DEFAULT_MAX_BYTES }: SessionMemoryDeps): SessionMemory {
  /** Least recently used first. */
  const known = new Map<string, Kept>();
  let bytes = 0;

  function forget(file: string): void {
    bytes -= known.get(file)?.weight ?? 0;
    known.delete(file);
  }

  function keep(kept: Kept): Kept {
    forget(kept.file);
    // One that is larger by itself is kept alone, up to a bound: to read it again for each turn would cost more than to hold it.
    if (kept.weight > maxBytes * LARGEST_SHARE) return kept;
    known.set(kept.file, kept);
    bytes += kept.weight;
    for (const file of known.keys()) {
      if (bytes <= maxBytes || file === kept.file) break;
      forget(file);
    }
    return kept;
  }

  /** Undefined when the transcript was put away meanwhile. */
  async function load(row: TranscriptRow): Promise<Kept | undefined> {
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

  /** With the lines that came since, when they continue the branch; undefined when it has to be read anew. */
  async function continued(kept: Kept, row: TranscriptRow): Promise<Kept | undefined> {
    const missing = row.lines - kept.lines;
    if (missing <= 0 || missing > PAGE || row.bytes <= kept.fileBytes) return undefined;
    const rows: readonly EntryRow[] = await store.read("transcripts.page", { file: kept.file, after: kept.lines - 1, limit: missing });
    const lines =
      rows.length === missing
        ? chain(
            kept.leafId,
            rows.map(({ id, parentId, line }) => ({ id: id ?? undefined, parentId, line })),
          )
        : undefined;
    if (!lines || (lines.at(-1)?.id ?? kept.leafId) !== row.leafId || lines.some(({ id }) => kept.items.some(({ entry }) => entry.id === id))) return undefined;
    return extended(kept, read(lines, kept.state), { leafId: row.leafId, lines: row.lines, fileBytes: row.bytes });
  }

  async function path(file: string, given?: TranscriptRow): Promise<SessionPath> {
    const row = given ?? (await store.read("transcripts.get", { file }));
    if (!row) {
      forget(file);
      return { file, leafId: null, items: [], state: {} };
    }
    const kept = known.get(file);
    const same = kept?.sessionId === row.sessionId && kept.createdAt === row.createdAt ? kept : undefined;
    if (same && same.leafId === row.leafId && same.lines === row.lines && same.fileBytes === row.bytes) return keep(same);
    const fresh = (same && (await continued(same, row))) ?? (await load(row));
    return fresh ? keep(fresh) : path(file);
  }

  return {
    path,
    kept(file) {
      const found = known.get(file);
      if (!found) return undefined;
      const { sessionId, lines, fileBytes, leafId, createdAt } = keep(found);
      return { path: found, standing: { file, sessionId, lines, bytes: fileBytes, leafId, createdAt } };
    },
    appended(file, leafId, entries, { firstSeq, bytes: fileBytes }) {
      const kept = known.get(file);
      if (!kept) return false;
      const added = sum(entries.map(({ line }) => Buffer.byteLength(line) + 1));
      const lines = kept.leafId === leafId && kept.lines === firstSeq && kept.fileBytes + added === fileBytes ? chain(leafId, entries) : undefined;
      if (!lines) return false;
      keep(extended(kept, read(lines, kept.state), { leafId: lines.at(-1)?.id ?? leafId, lines: firstSeq + entries.length, fileBytes }));
      return true;
    },
    forget,
    get bytes() {
      return bytes;
    },
  };
}
