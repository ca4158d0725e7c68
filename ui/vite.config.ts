import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { defineConfig, type InlineConfig, type Plugin } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const { version } = JSON.parse(readFileSync(here("../package.json"), "utf8")) as { version: string };

/** Writes `.br` and `.gz` beside every text file that gains by it. The gateway compresses nothing while it runs. */
const precompressed: Plugin = {
  name: "precompressed",
  apply: "build",
  enforce: "post",
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) {
      if (!/\.(?:js|css|svg|json)$/.test(file.fileName)) continue;
      const source = Buffer.from(file.type === "chunk" ? file.code : file.source);
      if (source.length < 1024) continue;
      const brotli = brotliCompressSync(source, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
      this.emitFile({ type: "asset", fileName: `${file.fileName}.br`, source: brotli });
      this.emitFile({ type: "asset", fileName: `${file.fileName}.gz`, source: gzipSync(source, { level: 9 }) });
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
  },
});

export default defineConfig(uiBuild(here("../dist/ui")));
