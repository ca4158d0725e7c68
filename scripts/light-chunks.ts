/** Makes what is bundled cheap to load. Figures are of Node 26. */
import type { Plugin } from "rolldown";

/** `default as` stays an import: a list of names has no place for it. */
const IMPORT = /^import (?:\{((?:(?!\bdefault\b)[^}])*)\}|(\w+)) from ["'](node:[\w/]+)["'];?$/gm;

/**
 * `import { a, b as c } from "node:x"` as a question to the runtime. An import touches every export of the module, and some are getters that load half of
 * Node: for `node:fs` alone that is 5 to 8 ms. Asked for this way only what is named is touched.
 */
export function lightBuiltins(code: string): string {
  return code.replace(IMPORT, (_, names: string | undefined, whole: string | undefined, module: string) => {
    const taken = whole ?? `{${names!.replaceAll(/(\w+) as (\w+)/g, "$1: $2")}}`;
    return `const ${taken} = globalThis.process.getBuiltinModule("${module}");`;
  });
}

/** The same code in ASCII: one letter that is not takes the whole file twice the memory, and longer to scan. */
export function inAscii(code: string): string {
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Chunks of ours that are loaded late, as the minifier writes it. */
const LATE_IMPORT = /(?<![\w$.])import\((["']\.{1,2}\/[\w./-]+\.js["'])\)/g;
/** One table for all chunks, by name, which has the hash of the content in it: what one has loaded is there for the others. */
const ONCE = `const __chunks = (globalThis[Symbol.for("openclaw.chunks")] ??= new Map()), __once = (file, load) => {
  const name = file.slice(file.lastIndexOf("/") + 1);
  let module = __chunks.get(name);
  if (!module) {
    __chunks.set(name, (module = load()));
    module.catch(() => __chunks.delete(name));
  }
  return module;
};
`;

/**
 * `import("./x.js")` so that only the first one that succeeds asks the file system. Node looks for the file each time, also for a module that is there:
 * that costs as much as a small request, and fails when the file was removed since. One that failed is tried again.
 */
export function onceLoaded(code: string): string {
  const changed = code.replace(LATE_IMPORT, (whole, file: string) => `__once(${file}, () => ${whole})`);
  return changed === code ? code : `${ONCE}${changed}`;
}

export const lightChunks: Plugin = {
  name: "light-chunks",
  renderChunk: (code) => ({ code: lightBuiltins(code) }),
  // After the minifier, which writes letters as they are.
  generateBundle(_, bundle) {
    for (const output of Object.values(bundle)) if (output.type === "chunk") output.code = inAscii(onceLoaded(output.code));
  },
};
