import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { defineConfig, type InlineConfig, type Plugin } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const { version } = JSON.parse(readFileSync(here("../package.json"), "utf8")) as { version: string };

/**
 * Writes `.br` and `.gz` beside every text file that gains by it, from what was written: vite still changes chunks after every plugin has seen them. The
 * gateway compresses nothing while it runs.
 */
const precompressed: Plugin = {
  name: "precompressed",
  apply: "build",
  enforce: "post",
  writeBundle({ dir }, bundle) {
    if (dir === undefined) throw new Error("the page is built into a folder");
    for (const name of Object.keys(bundle)) {
      if (!/\.(?:js|css|svg|json)$/.test(name)) continue;
      const file = join(dir, name);
      const source = readFileSync(file);
      if (source.length < 1024) continue;
      writeFileSync(`${file}.br`, brotliCompressSync(source, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
      writeFileSync(`${file}.gz`, gzipSync(source, { level: 9 }));
    }
  },
};

/**
 * Puts into one file what the page imports before anything is asked for. Left to itself the bundler makes 40 files of it, some of them of a few lines: each
 * is a request with its headers, and is compressed alone.
 */
function firstFile() {
  const first = new Set<string>();
  const plugin: Plugin = {
    name: "first-file",
    apply: "build",
    buildEnd() {
      const follow = (id: string): void => {
        if (first.has(id)) return;
        first.add(id);
        for (const next of this.getModuleInfo(id)?.importedIds ?? []) follow(next);
      };
      for (const id of this.getModuleIds()) if (this.getModuleInfo(id)?.isEntry) follow(id);
    },
  };
  return { plugin, group: { name: "first", test: (id: string) => first.has(id) } };
}

/** How the page is built, into `outDir`. */
export function uiBuild(outDir: string): InlineConfig {
  const { plugin, group } = firstFile();
  return {
    root: here("."),
    base: "./",
    define: { __VERSION__: JSON.stringify(version) },
    resolve: { alias: { "openclaw/client": here("../src/protocol/client/index.ts") } },
    plugins: [plugin, precompressed],
    build: {
      outDir,
      emptyOutDir: true,
      target: "es2022",
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      // Compressing takes most of the time, as it should.
      rolldownOptions: { checks: { bundlerTimings: false }, output: { codeSplitting: { groups: [group] } } },
    },
  };
}

export default defineConfig(uiBuild(here("../dist/ui")));
