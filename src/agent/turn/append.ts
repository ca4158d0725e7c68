import type { EntryPlace, NewEntry } from "../../sessions/index.ts";
import type { Write } from "../../store/index.ts";
import type { TurnDeps } from "./deps.ts";
import { overtaken, type TurnPlace } from "./place.ts";

/** A line of the transcript, once it is known what it hangs below. */
export type Draft = (place: EntryPlace) => NewEntry;

const MAX_RETRIES = 5;

export interface Appending {
  /** Appends lines with other writes, one commit after the other. Gives what the store answered to the writes. */
  append(drafts: readonly Draft[], writes: readonly Write[]): Promise<readonly unknown[]>;
  /** True while all that was appended is at hand in memory, and nothing of somebody else came in between. */
  readonly remembered: boolean;
}

/** Hangs each line below the one before it; lower when somebody else appended in between. */
export function createAppend({ store, clock, ids, memory }: TurnDeps, { file, path }: Pick<TurnPlace, "file" | "path">): Appending {
  let { leafId } = path;
  let remembered = true;

  function hang(drafts: readonly Draft[]): readonly NewEntry[] {
    let parentId = leafId;
    const at = clock.now();
    return drafts.map((draft) => {
      const entry = draft({ ids, parentId, at });
      parentId = entry.id;
      return entry;
    });
  }

  async function append(drafts: readonly Draft[], writes: readonly Write[]): Promise<readonly unknown[]> {
    if (drafts.length === 0) {
      return writes.length > 0 ? store.commit(writes) : [];
    }
    for (let attempt = 0; ; attempt += 1) {
      const entries = hang(drafts);
      try {
        const [appended, ...answers] = await store.commit([["transcripts.append", { file, entries, expectLeaf: leafId }], ...writes]);
        remembered = memory.appended(file, leafId, entries, appended) && remembered;
        leafId = entries.at(-1)!.id;
        return answers;
      } catch (error) {
        if (!overtaken(error, "leaf") || attempt === MAX_RETRIES) throw error;
        leafId = (await store.read("transcripts.get", { file }))?.leafId ?? null;
      }
    }
  }

  return {
    append,
    get remembered() {
      return remembered;
    },
  };
}
