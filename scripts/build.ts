/** Bundles the product into lazily loaded chunks: `dist` is what runs, `dist-test` the same with failpoints in it. */
import { rmSync } from "node:fs";
import { rolldown } from "rolldown";

const folder = process.argv[2] ?? "dist";
const started = performance.now();
rmSync(folder, { recursive: true, force: true });

const bundle = await rolldown({
  input: { cli: "src/cli/main.ts", "store-worker": "src/store/sqlite/worker.ts" },
  platform: "node",
  resolve: { extensionAlias: {} },
  transform: { define: { __FAILPOINTS__: String(folder === "dist-test") } },
  onLog(level, log, handler) {
    if (level === "warn") throw new Error(`build warning: ${log.message}`);
    handler(level, log);
  },
});
await bundle.write({
  dir: folder,
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "chunks/[name]-[hash].js",
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: false } },
});
await bundle.close();
console.error(`built ${folder} in ${Math.round(performance.now() - started)} ms`);
