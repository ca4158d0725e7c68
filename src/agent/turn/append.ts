import type { EntryPlace, NewEntry } from "../../sessions/index.ts";
import type { Write } from "../../store/index.ts";
import type { TurnDeps } from "./deps.ts";
import { overtaken, type TurnPlace } from "./place.ts";

/** A line of the transcript, once its parent is known. */
export type Draft = (place: EntryPlace) => NewEntry;

const MAX_RETRIES = 5;

/** Appends lines with other writes in one commit. Gives what the store answered to the writes. */
export type Append = (drafts: readonly Draft[], writes: readonly Write[]) => Promise<readonly unknown[]>;

/** Each commit asserts the transcript's leaf; when another writer appended in between, the lines go below what it wrote. */
export function createAppend({ store, clock, ids, session }: TurnDeps, { file, path }: Pick<TurnPlace, "file" | "path">): Append {
  let { leafId } = path;

  function entriesOf(drafts: readonly Draft[]): readonly NewEntry[] {
    let parentId = leafId;
    const at = clock.now();
    return drafts.map((draft) => {
      const entry = draft({ ids, parentId, at });
      parentId = entry.id;
      return entry;
    });
  }

  return async (drafts, writes) => {
    if (drafts.length === 0) return writes.length > 0 ? store.commit(writes, { by: session }) : [];
    for (let attempt = 0; ; attempt += 1) {
      const entries = entriesOf(drafts);
      try {
        const [appended, ...answers] = await store.commit([["transcripts.append", { file, entries, expectLeaf: leafId }], ...writes], { by: session });
        session.appended(file, leafId, entries, appended);
        leafId = entries.at(-1)!.id;
        return answers;
      } catch (error) {
        if (!overtaken(error, "leaf") || attempt === MAX_RETRIES) throw error;
        leafId = (await store.read("transcripts.get", { file }))?.leafId ?? null;
      }
    }
  };
}
