import { setImmediate } from "node:timers/promises";
import type { EntryRow, Store } from "../store/index.ts";
import { entryOfRow, nextState, type PathState } from "./transcript/path.ts";
import { heldItem, pathItem, type PathItem } from "./view/item.ts";

/** A stretch of a branch, read. */
export interface Tail {
  readonly items: readonly PathItem[];
  /** What each item weighs, in bytes. */
  readonly weights: readonly number[];
  /** What the stretch says about how the session runs; what it does not mention is undefined. */
  readonly state: PathState;
}

/** A parsed entry weighs its text and about this much for its objects. */
const ENTRY_BYTES = 600;
/** Entries that are asked for at once: while one part is parsed here, the store reads the next, and no commit waits for all of them. */
const PART = 2_000;

function parse(lines: readonly { readonly line: string }[]): Tail {
  const items: PathItem[] = [];
  const weights: number[] = [];
  let state: PathState = {};
  for (const line of lines) {
    const entry = entryOfRow(line);
    if (!entry) continue;
    items.push(heldItem(entry));
    weights.push(line.line.length + ENTRY_BYTES);
    state = nextState(state, entry);
  }
  return { items, weights, state };
}

/** Lines of a branch in order, after `from`. */
export function read(lines: readonly { readonly line: string }[], from: PathState): Tail {
  const part = parse(lines);
  return { ...part, state: { ...from, ...part.state } };
}

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
  const compaction = keptId === undefined ? rows.findLastIndex(({ type }) => type === "compaction") : rows.length;
  if (compaction < 0) return { found: false };
  const entry = keptId === undefined ? entryOfRow(rows[compaction]!) : undefined;
  const wanted = keptId ?? (entry && pathItem(entry).firstKeptId);
  if (wanted === undefined) return { found: false };
  return { keptId: wanted, found: wanted === "" || rows.slice(0, compaction).some(({ id }) => id === wanted) };
}

export interface Branch extends Tail {
  /** A part was missing: its parent is unknown, or the transcript was put away meanwhile. */
  readonly torn: boolean;
}

/**
 * A branch up to its leaf, part by part from the leaf: from what the last compaction kept, or from the root without one. What has been seen already ends
 * it, since parents may go in a circle. The state tells the model also when the last answer stands somewhat above.
 */
export async function readBranch(store: Pick<Store, "read">, file: string, leafId: string | null): Promise<Branch> {
  const parts: Tail[] = [];
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
    above = own.length === limit ? own[0]!.parentId : null;
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
  const items = parts.flatMap((part) => part.items);
  const state: PathState = Object.assign({}, ...parts.map((part) => part.state));
  const known = state.model !== undefined || !search.found || above === null ? state : { ...(await stateAbove(ask, above)), ...state };
  return { items, weights: parts.flatMap((part) => part.weights), state: known, torn };
}

/** What the entries shortly above a part say about how the session runs. */
async function stateAbove(ask: (from: string, limit: number) => Promise<readonly EntryRow[]>, from: string): Promise<PathState> {
  return parse(await ask(from, FIRST_PART)).state;
}
