import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { SealedPlace } from "./places.ts";
import type { Sealed, SealedTable } from "./sealed.ts";

/** Files looked at before a search for hard links gives up. */
const MOST_FILES = 5000;
const MOST_DEPTH = 4;

/** Folders of credentials that a second name of a file could come from. */
const KEY_FOLDERS = [".ssh", ".gnupg", ".aws", ".azure", ".config/gcloud", ".config/gh", ".docker", ".kube", ".netrc", ".git-credentials", ".npmrc", ".pypirc"];

/** Finds the sealed file that an open file is another name of: one with several links only, and as far as sealed places are small enough to look through. */
export function createHardLinks(
  { places, homes, states }: SealedTable,
  sealed: Sealed,
): (stat: { readonly dev: number; readonly ino: number }) => SealedPlace | undefined {
  let known: Map<string, SealedPlace> | undefined;

  function collect(): Map<string, SealedPlace> {
    const found = new Map<string, SealedPlace>();
    let left = MOST_FILES;
    const visit = (path: string, depth: number): void => {
      if ((left -= 1) < 0) return;
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (stat?.isFile() && stat.nlink > 1) {
        const place = sealed(path, "read");
        if (place) found.set(`${stat.dev}:${stat.ino}`, place);
      } else if (stat?.isDirectory() && depth < MOST_DEPTH) for (const name of readdirSync(path)) visit(join(path, name), depth + 1);
    };
    const secret = [...places].flatMap(([, { path, seal }]) => (seal === "secret" && !path.startsWith("/proc") ? [path] : []));
    const starts = [...secret, ...homes.flatMap((home) => KEY_FOLDERS.map((name) => join(home, name))), ...states];
    for (const start of starts) {
      try {
        visit(start, 0);
      } catch {
        // It may not be looked into; neither may whoever asks.
      }
    }
    return found;
  }

  return ({ dev, ino }) => (known ??= collect()).get(`${dev}:${ino}`);
}
