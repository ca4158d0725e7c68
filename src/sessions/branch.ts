import { setImmediate } from "node:timers/promises";
import type { EntryInput, EntryRow, Store, TranscriptRow } from "../store/index.ts";
import { entryOfRow, nextState, type PathState } from "./transcript.ts";
import { heldItem, isCompaction, keptFrom, pathItem, type PathItem } from "./view/item.ts";

/** The branch in use of one transcript. A value: what is appended later gives a new one. */
export interface SessionPath {
  readonly file: string;
  /** The parent of the next entry; null in an empty transcript. */
  readonly leafId: string | null;
  /** For `view`. What a compaction has summed up is not among them. */
  readonly items: readonly PathItem[];
  readonly state: PathState;
}

/** What a transcript has to be like for a branch of it to hold. */
export type Standing = Pick<TranscriptRow, "file" | "sessionId" | "lines" | "bytes" | "leafId" | "createdAt">;

/** A branch, with what its transcript has to be like for it to hold. */
export interface HeldPath {
  readonly path: SessionPath;
  readonly standing: Standing;
}

/** A branch as an open session holds it. */
export interface Branch extends HeldPath {
  /** What each item weighs in bytes, and all of them. */
  readonly weights: readonly number[];
  readonly weight: number;
}

type Reads = Pick<Store, "read">;

const PAGE = 500;
/** A parsed entry weighs its text and about this much for its objects. */
const ENTRY_BYTES = 600;

/** A stretch of a branch, read. */
interface Stretch {
  readonly items: readonly PathItem[];
  readonly weights: readonly number[];
  /** What the stretch says about how the session runs, over what was known before it. */
  readonly state: PathState;
}

function parse(lines: readonly { readonly line: string }[], before: PathState = {}): Stretch {
  const items: PathItem[] = [];
  const weights: number[] = [];
  let state = before;
  for (const line of lines) {
    const entry = entryOfRow(line);
    if (!entry) continue;
    items.push(heldItem(entry));
    weights.push(line.line.length + ENTRY_BYTES);
    state = nextState(state, entry);
  }
  return { items, weights, state };
}

/** The branch of these entries, from the first that is still needed. */
function branchOf({ items, weights, state }: Stretch, standing: Standing, from: number): Branch {
  const own = weights.slice(from);
  let weight = 0;
  for (const bytes of own) weight += bytes;
  return { path: { file: standing.file, leafId: standing.leafId, items: items.slice(from), state }, standing, weights: own, weight };
}

type Line = Pick<EntryInput, "id" | "line"> & { readonly parentId?: string | null | undefined };

/** With new lines, when each is the parent of the next, beginning at the leaf; else undefined. Lines without an id are no part of a branch. */
export function withLines(branch: Branch, lines: readonly Line[], after: Pick<Standing, "lines" | "bytes">): Branch | undefined {
  let { leafId } = branch.path;
  const own: Line[] = [];
  for (const line of lines) {
    if (line.id === undefined) continue;
    if ((line.parentId ?? null) !== leafId || line.id === leafId) return undefined;
    leafId = line.id;
    own.push(line);
  }
  const { items, weights, state } = parse(own, branch.path.state);
  const stretch = { items: [...branch.path.items, ...items], weights: [...branch.weights, ...weights], state };
  // What a new compaction has summed up goes.
  return branchOf(stretch, { ...branch.standing, ...after, leafId }, items.some(isCompaction) ? keptFrom(stretch.items) : 0);
}

/** The branch in use of a transcript. Undefined when the transcript was archived in between. */
export async function loadBranch(store: Reads, row: TranscriptRow): Promise<Branch | undefined> {
  const { file, leafId, lines, bytes, sessionId, createdAt } = row;
  const read = await readBranch(store, file, leafId);
  if (read.torn) {
    const now = await store.read("transcripts.get", { file });
    if (now?.sessionId !== sessionId || now.createdAt !== createdAt) return undefined;
  }
  return branchOf(read, { file, leafId, lines, bytes, sessionId, createdAt }, keptFrom(read.items));
}

/** With the lines that came since, when they continue the branch; undefined when it has to be read again. */
export async function continueBranch(store: Reads, branch: Branch, row: TranscriptRow): Promise<Branch | undefined> {
  const { standing, path } = branch;
  const missing = row.lines - standing.lines;
  if (missing <= 0 || missing > PAGE || row.bytes <= standing.bytes) return undefined;
  const rows: readonly EntryRow[] = await store.read("transcripts.page", { file: path.file, after: standing.lines - 1, limit: missing });
  if (rows.length !== missing || rows.some(({ id }) => id !== null && path.items.some(({ entry }) => entry.id === id))) return undefined;
  const lines = rows.map(({ id, parentId, line }): Line => ({ ...(id === null ? {} : { id }), parentId, line }));
  const next = withLines(branch, lines, { lines: row.lines, bytes: row.bytes });
  return next?.path.leafId === row.leafId ? next : undefined;
}

/** Entries that are asked for at once: while one part is parsed here, the store reads the next, and no commit waits for all of them. */
const PART = 2_000;
/** The nearest entries come as a small part: a conversation that was compacted lately needs no more. */
const FIRST_PART = 256;

/** Where a branch ends for its reader: at what the last compaction kept. */
interface Search {
  /** The first entry that was kept; undefined until a compaction is met. */
  readonly keptId?: string;
  readonly found: boolean;
}

/** Looks through rows that stand above those that were looked through before. */
function searchKept({ keptId }: Search, rows: readonly EntryRow[]): Search {
  const compactedAt = keptId === undefined ? rows.findLastIndex(({ type }) => type === "compaction") : rows.length;
  const compaction = rows[compactedAt];
  const entry = compaction && entryOfRow(compaction);
  const wanted = keptId ?? (entry && pathItem(entry).firstKeptId);
  if (wanted === undefined) return { found: false };
  return { keptId: wanted, found: wanted === "" || rows.slice(0, compactedAt).some(({ id }) => id === wanted) };
}

/**
 * A branch up to its leaf, part by part from the leaf: from what the last compaction kept, or from the root without one. What has been seen already ends
 * it, since parents may go in a circle. The state has the model also when the last answer stands somewhat above. `torn`: a part was missing, because its
 * parent is unknown or the transcript was archived in between.
 */
async function readBranch(store: Reads, file: string, leafId: string | null): Promise<Stretch & { readonly torn: boolean }> {
  const parts: Stretch[] = [];
  const seen = new Set<string | null>();
  const ask = (from: string, limit: number): Promise<readonly EntryRow[]> => store.read("transcripts.path", { file, from, limit });
  let limit = FIRST_PART;
  let asked = leafId === null ? undefined : ask(leafId, limit);
  let search: Search = { found: false };
  let above: string | null = null;
  let torn = false;
  while (asked) {
    const rows: readonly EntryRow[] = await asked;
    torn = rows.length === 0;
    // Once round a circle, everything above has been seen as well.
    const own = seen.has(rows[0]?.id ?? null) ? rows.slice(rows.findLastIndex(({ id }) => seen.has(id)) + 1) : rows;
    search = searchKept(search, own);
    above = own.length === limit ? (own[0]?.parentId ?? null) : null;
    limit = PART;
    asked = above === null || search.found ? undefined : ask(above, limit);
    if (asked) {
      for (const { id } of own) seen.add(id);
      // The question leaves at the end of the tick; others get their turn, too.
      await setImmediate();
    }
    parts.push(parse(own));
  }
  parts.reverse();
  const state: PathState = Object.assign({}, ...parts.map((part) => part.state));
  const known = state.model === undefined && search.found && above !== null ? { ...parse(await ask(above, FIRST_PART)).state, ...state } : state;
  return { items: parts.flatMap((part) => part.items), weights: parts.flatMap((part) => part.weights), state: known, torn };
}
