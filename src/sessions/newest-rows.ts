import type { EntryRow, Store } from "../store/index.ts";

/** What one read brings at most: neither the store's thread nor the one that parses the lines is held for more than some milliseconds. */
const PART = { limit: 128, bytes: 128 * 1024 };

type Reads = Pick<Store, "read">;

/** The rows of the branch in use from its newest entry up, a part at a time, each part oldest first. */
async function* partsOfBranch(store: Reads, file: string): AsyncGenerator<readonly EntryRow[]> {
  let from: string | undefined;
  do {
    const rows: readonly EntryRow[] = await store.read("transcripts.path", { file, ...PART, ...(from === undefined ? {} : { from }) });
    if (rows.length > 0) yield rows;
    from = rows[0]?.parentId ?? undefined;
  } while (from !== undefined);
}

/** The same in file order, without the header. */
async function* partsOfFile(store: Reads, file: string): AsyncGenerator<readonly EntryRow[]> {
  let before = Number.MAX_SAFE_INTEGER;
  while (before > 1) {
    const rows = await store.read("transcripts.page", { file, before, ...PART });
    if (rows.length === 0) return;
    yield rows.filter(({ seq }) => seq > 0);
    before = rows[0]?.seq ?? 0;
  }
}

async function* atMost(limit: number, parts: AsyncIterable<readonly EntryRow[]>): AsyncGenerator<EntryRow> {
  let left = limit;
  for await (const rows of parts) {
    for (const row of rows.toReversed()) {
      if (left === 0) return;
      left -= 1;
      yield row;
    }
  }
}

/**
 * The newest `limit` entries of the branch in use, newest first. They are read in parts: a caller that needs no more of them leaves the loop, and what is
 * older is not read. Files of the first format have no branches: there it is the end of the file.
 */
export async function* newestRows(store: Reads, file: string, limit: number): AsyncGenerator<EntryRow> {
  let hasBranch = false;
  for await (const row of atMost(limit, partsOfBranch(store, file))) {
    hasBranch = true;
    yield row;
  }
  if (!hasBranch) yield* newestLines(store, file, limit);
}

/** The newest `limit` entries of a file, of all its branches, newest first, read in the same way. */
export const newestLines = (store: Reads, file: string, limit: number): AsyncGenerator<EntryRow> => atMost(limit, partsOfFile(store, file));
