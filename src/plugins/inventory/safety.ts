import { realpathSync, statSync, type Stats } from "node:fs";
import { sep } from "node:path";
import { systemCode } from "../../base/errors.ts";

/** Who the program runs as; undefined where the system knows no such number. */
export interface Identity {
  readonly uid: number | undefined;
}

export type Inspected = { readonly rootDir: string; readonly source: string } | { readonly blocked: string };

/** True when `path` lies in `folder`. Both must be absolute and have their symbolic links resolved. */
export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/**
 * Whether code at `source` may be considered at all: it lies in its folder after following links, and nobody else can change it.
 * What comes with the program is only checked for its place.
 */
export function inspect(root: string, source: string, { bundled, uid }: { readonly bundled: boolean } & Identity): Inspected {
  try {
    const rootDir = realpathSync.native(root);
    const file = realpathSync.native(source);
    if (!isInside(rootDir, file)) return { blocked: `the entry ${file} is outside the plugin's folder ${rootDir}` };
    if (!bundled && uid !== undefined) {
      for (const path of [rootDir, file]) {
        const reason = refusal(path, statSync(path), uid);
        if (reason !== undefined) return { blocked: reason };
      }
    }
    return { rootDir, source: file };
  } catch (error) {
    return { blocked: `${source} cannot be read (${systemCode(error) ?? "unknown error"})` };
  }
}

function refusal(path: string, stat: Stats, uid: number): string | undefined {
  if ((stat.mode & 0o002) !== 0) return `${path} can be changed by every user; run: chmod o-w ${path}`;
  if (stat.uid !== uid && stat.uid !== 0) return `${path} belongs to user ${stat.uid}; expected ${uid} or root`;
  return undefined;
}
