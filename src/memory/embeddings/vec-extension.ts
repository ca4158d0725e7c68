import { findPackageJSON } from "node:module";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { messageOf } from "../../base/errors.ts";
import type { Found } from "./scan.ts";

/** The sqlite-vec library, loaded into its own read-only connection. */
export interface VecExtension extends Disposable {
  readonly path: string;
  /** The nearest passages with their cosine similarity, best first. */
  nearest(query: Float32Array, count: number, isAllowed: (id: number) => boolean): readonly Found[];
}

export type LoadedExtension =
  | { readonly kind: "loaded"; readonly extension: VecExtension }
  | { readonly kind: "failed"; readonly path: string; readonly why: string }
  | { readonly kind: "absent" };

const ENDINGS: Readonly<Partial<Record<NodeJS.Platform, string>>> = { darwin: "dylib", linux: "so", win32: "dll" };

/** The library's path, if its package is installed in one of the folders. */
function findInstalled(folders: readonly string[]): string | undefined {
  const { platform, arch } = process;
  const name = `sqlite-vec-${platform === "win32" ? "windows" : platform}-${arch}`;
  for (const folder of folders) {
    try {
      const manifest = findPackageJSON(name, pathToFileURL(`${folder}/`));
      const file = manifest && join(dirname(manifest), `vec0.${ENDINGS[platform] ?? "so"}`);
      if (file && existsSync(file)) return file;
    } catch {
      // Not installed in this folder.
    }
  }
  return undefined;
}

/** Loads the configured library, or the installed one. Search works without it: a library that fails to load is only reported. */
export function loadVecExtension(
  index: string,
  { extensionPath, from }: { readonly extensionPath?: string | undefined; readonly from: readonly string[] },
): LoadedExtension {
  const path = extensionPath ?? findInstalled(from);
  if (path === undefined) return { kind: "absent" };
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(index, { readOnly: true, allowExtension: true, timeout: 1000 });
    db.loadExtension(path);
    db.enableLoadExtension(false);
    const find = db.prepare(
      "SELECT passage AS id, 1 - vec_distance_cosine(vector, ?) AS value FROM vectors WHERE length(vector) = ? ORDER BY value DESC LIMIT ?",
    );
    const opened = db;
    return {
      kind: "loaded",
      extension: {
        path,
        nearest(query, count, isAllowed) {
          const bytes = new Uint8Array(query.buffer, query.byteOffset, query.byteLength);
          const total = Number(opened.prepare("SELECT count(*) AS n FROM vectors").get()?.["n"] ?? 0);
          // Filters out forbidden passages, fetching more until enough remain.
          for (let asked = count * 2; ; asked *= 8) {
            const rows = find.all(bytes, bytes.length, Math.min(asked, total)) as unknown as { readonly id: number; readonly value: number | null }[];
            const allowed = rows.flatMap(({ id, value }) => (value !== null && isAllowed(id) ? [{ id, value }] : []));
            if (allowed.length >= count || asked >= total) return allowed.slice(0, count);
          }
        },
        [Symbol.dispose]: () => opened.close(),
      },
    };
  } catch (error) {
    db?.close();
    return { kind: "failed", path, why: messageOf(error) };
  }
}
