import { createRequire } from "node:module";
import { dirname, join, sep } from "node:path";

/** What Node keeps about the files that plugins required. */
export interface RequireCache {
  /** Notes that a file of the plugin in `root` requires `specifier`. */
  note(root: string, parent: string, specifier: string): void;
  /** Makes `require` read the folder's files again. Native add-ons stay: they cannot be loaded twice. */
  forget(root: string): void;
  /** While it is true, no specifier may be resolved: see `forget`. */
  readonly isForgetting: boolean;
}

export function createRequireCache(): RequireCache {
  const requests = new Map<string, Map<string, { readonly folder: string; readonly specifier: string }>>();
  let isForgetting = false;
  return {
    get isForgetting() {
      return isForgetting;
    },
    note(root, parent, specifier) {
      const noted = requests.get(root) ?? new Map();
      requests.set(root, noted);
      const folder = dirname(parent);
      noted.set(`${folder}\0${specifier}`, { folder, specifier });
    },
    forget(root) {
      const { cache } = createRequire(join(root, "index.js"));
      for (const path of Object.keys(cache)) if (path.startsWith(root + sep) && !path.endsWith(".node")) delete cache[path];
      // Node also keeps which file a specifier led to, and trusts it even after an `import` put an empty module there. It drops that
      // when the file is not in the cache, and then resolves the specifier, which is stopped.
      isForgetting = true;
      for (const { folder, specifier } of requests.get(root)?.values() ?? []) {
        try {
          createRequire(join(folder, "index.js"))(specifier);
        } catch {
          // Expected: nothing is resolved now.
        }
      }
      isForgetting = false;
      requests.delete(root);
    },
  };
}
