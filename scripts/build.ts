/** Bundles the product into lazily loaded chunks: `dist` is what runs, `dist-test` the same with failpoints in it, `dist-bench` without. */
import { renameSync, rmSync } from "node:fs";
import { rolldown, type Plugin } from "rolldown";
import { configSchema } from "../src/config/schema/index.ts";

const folder = process.argv[2] ?? "dist";
const started = performance.now();

/** Puts the configuration's schema into the bundle as JSON, so that no schema library is loaded to validate a file. */
const frozenSchema: Plugin = {
  name: "frozen-schema",
  load(id) {
    if (!id.endsWith("src/config/schema/index.ts")) return undefined;
    return { code: `export const configSchema = JSON.parse(${JSON.stringify(JSON.stringify(configSchema))});`, moduleType: "js" };
  },
};

// Written beside and swapped in: a build that fails leaves what runs alone.
const fresh = `${folder}.new`;
rmSync(fresh, { recursive: true, force: true });
const bundle = await rolldown({
  input: {
    cli: "src/cli/main.ts",
    "store-worker": "src/store/sqlite/worker.ts",
    // Harnesses open the store by itself; a release has no such entry.
    ...(folder === "dist" ? {} : { store: "src/store/index.ts" }),
  },
  platform: "node",
  plugins: [frozenSchema],
  transform: { define: { __FAILPOINTS__: String(folder === "dist-test") } },
  onLog(level, log, handler) {
    if (level === "warn") throw new Error(`build warning: ${log.message}`);
    handler(level, log);
  },
});
await bundle.write({
  dir: fresh,
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "chunks/[name]-[hash].js",
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: false } },
});
await bundle.close();
rmSync(folder, { recursive: true, force: true });
renameSync(fresh, folder);
console.error(`built ${folder} in ${Math.round(performance.now() - started)} ms`);
