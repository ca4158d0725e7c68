/** Bundles the product into lazily loaded chunks: `dist` is what runs, `dist-test` the same with failpoints in it, `dist-bench` without. */
import { renameSync, rmSync } from "node:fs";
import { rolldown, type Plugin } from "rolldown";
import { configSchema } from "../src/config/schema/index.ts";
import { asModule, withoutDescriptions } from "./frozen-module.ts";
import { frozenProtocol } from "./protocol/frozen.ts";

const folder = process.argv[2] ?? "dist";
const started = performance.now();

/** Puts the configuration's schema into the bundle as JSON, so that no schema library is loaded to validate a file. */
const frozenSchema: Plugin = {
  name: "frozen-schema",
  load(id) {
    if (id.endsWith("src/config/schema/index.ts")) return { code: asModule("configSchema", withoutDescriptions(configSchema)), moduleType: "js" };
    if (id.endsWith("src/config/schema/described.ts")) return { code: asModule("describedSchema", configSchema), moduleType: "js" };
    return undefined;
  },
};

// Written beside and swapped in: a build that fails leaves what runs alone.
const fresh = `${folder}.new`;
rmSync(fresh, { recursive: true, force: true });
const bundle = await rolldown({
  input: {
    cli: "src/cli/main.ts",
    "store-worker": "src/store/sqlite/worker.ts",
    // `openclaw/client`: one entry that imports nothing of Node, one for Node.
    client: "src/protocol/client/index.ts",
    "client-node": "src/protocol/client/node.ts",
    // Harnesses open the store by itself; a release has no such entry.
    ...(folder === "dist" ? {} : { store: "src/store/index.ts" }),
  },
  platform: "node",
  preserveEntrySignatures: "allow-extension",
  plugins: [frozenSchema, frozenProtocol({ writesSchema: folder === "dist" })],
  transform: { define: { __FAILPOINTS__: String(folder === "dist-test") } },
  onLog(level, log, handler) {
    // Grouping puts some lazily imported files beside files that are always there; that is what it is for.
    if (log.code === "INEFFECTIVE_DYNAMIC_IMPORT") return;
    if (level === "warn") throw new Error(`build warning: ${log.message}`);
    handler(level, log);
  },
});
await bundle.write({
  dir: fresh,
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "chunks/[name]-[hash].js",
  // Every file costs about half a millisecond to find, read and link: what nearly every command needs comes in one.
  codeSplitting: {
    includeDependenciesRecursively: false,
    groups: [
      // The first that fits takes a file; the order is from what everything needs to what one command needs.
      {
        name: "base",
        test: /src\/base\/(?:errors|text|files|clock|failpoints)\.ts|src\/store\/(?:retention|sqlite\/failure|projection\/place)\.ts|src\/protocol\/transcript\.ts/,
      },
      {
        name: "frame",
        test: /src\/cli\/(?:arguments|command|dispatch|failure|help|io|output\/style|output\/table|commands\/index)\.ts|src\/config\/(?:env|paths|profile|value)\.ts/,
      },
      {
        name: "config",
        test: /src\/config\/(?:[a-z-]*(?:load|snapshot|dotenv|environment|include|origin|path|source-files|tilde|version|sha256)\.ts|document\/|migrate\/|schema\/index|validate\/(?!hints|schema-export))|src\/cli\/config-source/,
      },
      { name: "thread", test: /src\/store\/(?:warm-up|sqlite\/thread)\.ts/ },
      { name: "engine", test: /src\/store\/(?:sqlite\/(?:areas\/|connection|handlers|open|migrations|schema)|projection\/)/ },
      {
        name: "app",
        test: /src\/app\/(?!open-gateway|echo)|src\/gateway\/(?:server|bind|certificate|address-budget|early|auth\/settings)\.ts|src\/base\/(?:log\/(?!read)|redaction|random|ids|builtin)|src\/config\/(?:config|redact|diff|reload-rules|secrets|last-good|shell-environment)\.ts|src\/store\/(?:open|sqlite\/(?:client|messages|sender|waiting|standing|reads))\.ts/,
      },
      {
        name: "hub",
        test: /src\/app\/(?:open-gateway|echo)|src\/gateway\/|src\/protocol\/(?!client|validators|answers|schemas|check)|src\/base\/(?:deadlines|log\/read)|src\/config\/describe-schema/,
      },
    ],
  },
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: false } },
});
await bundle.close();
rmSync(folder, { recursive: true, force: true });
renameSync(fresh, folder);
console.error(`built ${folder} in ${Math.round(performance.now() - started)} ms`);
