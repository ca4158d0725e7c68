import { setImmediate } from "node:timers/promises";
import type { EntryRow, Store } from "../store/index.ts";
import { entryOfRow, nextState, type PathState } from "./transcript/path.ts";
import { pathItem, type PathItem } from "./view/item.ts";

/** A stretch of a branch, read. */
export interface Tail {
  readonly items: readonly PathItem[];
  /** What each item weighs, in bytes. */
  readonly weights: readonly number[];
  readonly state: PathState;
}

/** A parsed entry weighs its text and about this much for its objects. */
const ENTRY_BYTES = 600;
/** Entries that are asked for at once: while one part is parsed here, the store reads the next, and no commit waits for all of them. */
const PART = 2_000;

type Part = Omit<Tail, "state">;

function parse(lines: readonly { readonly line: string }[]): Part {
  const items: PathItem[] = [];
  const weights: number[] = [];
  for (const line of lines) {
    const entry = entryOfRow(line);
    if (!entry) continue;
    items.push(pathItem(entry));
    weights.push(line.line.length + ENTRY_BYTES);
  }
  return { items, weights };
}

const stateAfter = (from: PathState, items: readonly PathItem[]): PathState => items.reduce((state, { entry }) => nextState(state, entry), from);

/** Lines of a branch in order, after `from`. */
export function read(lines: readonly { readonly line: string }[], from: PathState): Tail {
  const part = parse(lines);
  return { ...part, state: stateAfter(from, part.items) };
}

/**
 * The branch from the root to a leaf, part by part from the leaf. What has been seen already ends it, since parents may go in a circle. `torn`
 * when a part was missing: its parent is unknown, or the transcript was put away meanwhile.
 */
export async function readBranch(store: Pick<Store, "read">, file: string, leafId: string | null): Promise<Tail & { readonly torn: boolean }> {
  const parts: Part[] = [];
  const seen = new Set<string | null>();
  const ask = (from: string): Promise<readonly EntryRow[]> => store.read("transcripts.path", { file, from, limit: PART });
  let asked = leafId === null ? undefined : ask(leafId);
  let torn = false;
  while (asked) {
    const rows: readonly EntryRow[] = await asked;
    torn = rows.length === 0;
    // Once round a circle, everything above has been seen as well.
    const own = seen.has(rows[0]?.id ?? null) ? rows.slice(rows.findLastIndex(({ id }) => seen.has(id)) + 1) : rows;
    const above = own.length === PART ? own[0]!.parentId : null;
    asked = above === null ? undefined : ask(above);
    if (asked) {
      for (const { id } of own) seen.add(id);
      // The question leaves at the end of the tick; others get their turn, too.
      await setImmediate();
    }
    parts.push(parse(own));
  }
  parts.reverse();
  const items = parts.flatMap((part) => part.items);
  return { items, weights: parts.flatMap((part) => part.weights), state: stateAfter({}, items), torn };
}
