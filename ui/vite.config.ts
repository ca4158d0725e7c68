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

/** How the page is built, into `outDir`. */
export const uiBuild = (outDir: string): InlineConfig => ({
  root: here("."),
  base: "./",
  define: { __VERSION__: JSON.stringify(version) },
  resolve: { alias: { "openclaw/client": here("../src/protocol/client/index.ts") } },
  plugins: [precompressed],
  build: {
    outDir,
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // Compressing takes most of the time, as it should.
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
});

export default defineConfig(uiBuild(here("../dist/ui")));
