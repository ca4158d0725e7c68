import type { EntryRow, Store, TranscriptRow } from "../../../store/index.ts";

/** Which part of a conversation is asked for. Without either: the newest. */
export interface Asked {
  readonly before?: number | undefined;
  readonly after?: number | undefined;
}

/** Reads rows of the branch in use by position, a chunk at a time, from one end of what was asked for. */
export interface Stretch {
  /** The way the chunks go. */
  readonly direction: "older" | "newer";
  /** The next rows, oldest first; none when there are no more. */
  next(size: number): Promise<readonly EntryRow[]>;
}

type Reads = Pick<Store, "read">;

const MOST_PLACES = 1_000_000;
/** A read ends with the line that fills this, so that a chunk of long lines holds neither the store nor the loop: it has fewer rows than were asked for. */
const CHUNK_BYTES = 512 * 1024;
const withoutHeader = (rows: readonly EntryRow[]): readonly EntryRow[] => rows.filter(({ seq }) => seq > 0);

/** Up from the leaf, or from the parent of the entry at a place. */
function olderInTree(store: Reads, file: string, before: number | undefined): Stretch {
  /** The entry at which the next chunk begins; undefined is the leaf, null the end. */
  let from: string | null | undefined;
  let begun = false;

  async function begin(position: number): Promise<void> {
    const [child] = await store.read("transcripts.page", { file, after: position - 1, before: position + 1, limit: 1 });
    // A position behind the end is no entry's: there the newest is meant.
    if (child) from = child.parentId;
  }

  return {
    direction: "older",
    async next(size) {
      if (!begun && before !== undefined) await begin(before);
      begun = true;
      if (from === null) return [];
      const rows = await store.read("transcripts.path", { file, limit: size, bytes: CHUNK_BYTES, ...(from === undefined ? {} : { from }) });
      from = rows[0]?.parentId ?? null;
      return before === undefined ? rows : rows.filter(({ seq }) => seq < before);
    },
  };
}

/** Down from a place. What is near the leaf is read from there; otherwise it is first found out which lines are on the branch. */
function newerInTree(store: Reads, file: string, after: number): Stretch {
  let from: number | undefined = after;
  /** Places that were found and not read yet. */
  let places: readonly number[] = [];

  /** The lines at the next places. Between them stands what belongs to other branches. */
  async function atPlaces(size: number, at: number): Promise<readonly EntryRow[]> {
    const next = places.slice(0, size);
    const wanted = new Set(next);
    const end = (next.at(-1) ?? at) + 1;
    places = places.slice(size);
    const found: EntryRow[] = [];
    for (let place = at; found.length < wanted.size;) {
      const page = await store.read("transcripts.page", { file, after: place, before: end, limit: size, bytes: CHUNK_BYTES });
      const last = page.at(-1);
      if (!last) break;
      found.push(...page.filter(({ seq }) => wanted.has(seq)));
      place = last.seq;
    }
    return found;
  }

  async function chunk(size: number, at: number): Promise<readonly EntryRow[]> {
    if (places.length > 0) return atPlaces(size, at);
    const rows = await store.read("transcripts.path", { file, limit: size });
    const [oldest] = rows;
    if (!oldest || rows.length < size || oldest.seq <= at) return rows.filter(({ seq }) => seq > at);
    places = await store.read("transcripts.positions", { file, after: at, limit: MOST_PLACES });
    return places.length === 0 ? [] : atPlaces(size, at);
  }

  return {
    direction: "newer",
    async next(size) {
      if (from === undefined) return [];
      const rows = await chunk(size, from);
      from = rows.at(-1)?.seq;
      return rows;
    },
  };
}

/** Files of the first format have no branches: there it is file order. */
function inFileOrder(store: Reads, file: string, { before, after }: Asked): Stretch {
  let place = after ?? before ?? Number.MAX_SAFE_INTEGER;
  return {
    direction: after === undefined ? "older" : "newer",
    async next(size) {
      const asked = after === undefined ? { before: place } : { after: place };
      const rows = withoutHeader(await store.read("transcripts.page", { file, limit: size, bytes: CHUNK_BYTES, ...asked }));
      const end = after === undefined ? rows[0] : rows.at(-1);
      if (end) place = end.seq;
      return rows;
    },
  };
}

/** A reader for what is asked. The newest lines are asked for at once with the first call: what else is read in that moment shows the same state. */
export function openStretch(store: Reads, { file, leafId, lines }: Pick<TranscriptRow, "file" | "leafId" | "lines">, asked: Asked): Stretch {
  // A transcript that has only its header will have branches.
  if (leafId === null && lines > 1) return inFileOrder(store, file, asked);
  return asked.after === undefined ? olderInTree(store, file, asked.before) : newerInTree(store, file, asked.after);
}
