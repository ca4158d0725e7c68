import { findPackageJSON } from "node:module";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { messageOf } from "../../base/errors.ts";
import type { Found } from "./scan.ts";

/** The library sqlite-vec, loaded into a connection of its own that only reads. */
export interface VecExtension extends Disposable {
  readonly path: string;
  /** The nearest passages with their cosine, best first. */
  nearest(query: Float32Array, count: number, isAllowed: (id: number) => boolean): readonly Found[];
}

export type LoadedExtension =
  | { readonly kind: "loaded"; readonly extension: VecExtension }
  | { readonly kind: "failed"; readonly path: string; readonly why: string }
  | { readonly kind: "absent" };

const ENDINGS: Readonly<Partial<Record<NodeJS.Platform, string>>> = { darwin: "dylib", linux: "so", win32: "dll" };

/** Where the package that holds the library is, if it is installed beside the user's state. */
function installed(from: readonly string[]): string | undefined {
  const { platform, arch } = process;
  const name = `sqlite-vec-${platform === "win32" ? "windows" : platform}-${arch}`;
  for (const folder of from) {
    try {
      const manifest = findPackageJSON(name, pathToFileURL(`${folder}/`));
      const file = manifest && join(dirname(manifest), `vec0.${ENDINGS[platform] ?? "so"}`);
      if (file && existsSync(file)) return file;
    } catch {
      // Not from here.
    }
  }
  return undefined;
}

/** Loads the library that the configuration names, or the installed one. A library that does not load is reported, and search goes on without it. */
export function loadVecExtension(
  index: string,
  { extensionPath, from }: { readonly extensionPath?: string | undefined; readonly from: readonly string[] },
): LoadedExtension {
  const path = extensionPath ?? installed(from);
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
          // Forbidden passages are dropped afterwards; more are asked for until enough are left.
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
