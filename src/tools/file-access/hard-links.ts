import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { secretsInHome, type SealedPlace } from "./places.ts";
import type { Sealed, SealedTable } from "./sealed.ts";

/** Files looked at in one sealed place, and in all of them, before the search gives up. */
const MOST_FILES_OF_PLACE = 5000;
const MOST_FILES = 20_000;
const MOST_DEPTH = 6;

/** Sealed files that have a second name somewhere, found by looking through all sealed places. */
export interface HardLinks {
  /** The sealed place that an open file belongs to under another of its names. */
  findSealed(stat: { readonly dev: number; readonly ino: number }): SealedPlace | undefined;
  /** True when one of them was found. */
  readonly exist: boolean;
  /** False when there were too many files to look at all. */
  readonly complete: boolean;
}

/** Nothing is looked at before the first question. */
export function createHardLinks({ places, homes, states }: SealedTable, sealed: Sealed): HardLinks {
  let known: { readonly found: ReadonlyMap<string, SealedPlace>; readonly complete: boolean } | undefined;

  function collect(): NonNullable<typeof known> {
    const found = new Map<string, SealedPlace>();
    let left = MOST_FILES;
    let complete = true;
    const visit = (path: string, depth: number, budget: { left: number }): void => {
      left -= 1;
      budget.left -= 1;
      if (left < 0 || budget.left < 0 || depth > MOST_DEPTH) {
        complete = false;
        return;
      }
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (stat?.isFile() && stat.nlink > 1) {
        const place = sealed(path, "read");
        if (place) found.set(`${stat.dev}:${stat.ino}`, place);
      } else if (stat?.isDirectory()) for (const name of readdirSync(path)) visit(join(path, name), depth + 1, budget);
    };
    const listed = [...places.values()].flatMap(({ path, seal }) => (seal === "secret" && !path.startsWith("/proc") ? [path] : []));
    for (const start of [...listed, ...homes.flatMap((home) => secretsInHome().map((name) => join(home, name))), ...states]) {
      try {
        visit(start, 0, { left: MOST_FILES_OF_PLACE });
      } catch {
        // It may not be looked into; neither may the caller.
      }
    }
    return { found, complete };
  }
  const now = (): NonNullable<typeof known> => (known ??= collect());

  return {
    findSealed: ({ dev, ino }) => now().found.get(`${dev}:${ino}`),
    get exist() {
      return now().found.size > 0;
    },
    get complete() {
      return now().complete;
    },
  };
}

/** True when a folder has a file in it, at any depth, that is sealed for reading. */
export function holdsSealed({ places, homes, states }: SealedTable, sealed: Sealed, inside: (path: string) => boolean): boolean {
  const isThere = (path: string): boolean => inside(path) && sealed(path, "read") !== undefined && exists(path);
  if ([...places.values()].some(({ path, seal }) => seal === "secret" && isThere(path))) return true;
  if (states.some((state) => inside(state) && namesIn(state).some((name) => isThere(join(state, name))))) return true;
  return homes.some((home) => {
    if (inside(home)) return [...secretsInHome(), ...namesIn(home)].some((name) => isThere(join(home, name)));
    return secretsInHome().some((name) => isThere(join(home, name)));
  });
}

function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
