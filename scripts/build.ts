/** Bundles the product into lazily loaded chunks: `dist` is what runs, `dist-test` the same with failpoints in it, `dist-bench` without. */
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { rolldown, type OutputOptions, type Plugin, type RolldownOutput } from "rolldown";
import { build } from "vite";
import { configSchema } from "../src/config/schema/index.ts";
import { newBuild, useBuild } from "./builds.ts";
import { CHUNK_GROUPS } from "./chunk-groups.ts";
import { asModule, withoutDescriptions } from "./frozen-module.ts";
import { frozenProtocol } from "./protocol/frozen.ts";
import { uiBuild } from "../ui/vite.config.ts";

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

/** Puts the model tables in as one text: it is read faster than as code, and takes half the space. */
const frozenCatalogue: Plugin = {
  name: "frozen-catalogue",
  load(id) {
    if (!id.endsWith("src/models/catalogue/data/models.json")) return undefined;
    const rows: unknown = JSON.parse(readFileSync(id, "utf8"));
    return { code: `${asModule("rows", rows)}\nexport default rows;`, moduleType: "js" };
  },
};

/** Leaves out zod's messages in other languages, which are a third of it and which nothing here or in a published plugin asks for. */
const englishOnly: Plugin = {
  name: "english-only",
  load: (id) => (id.endsWith("zod/v4/locales/index.js") ? { code: 'export { default as en } from "./en.js";', moduleType: "js" } : undefined),
};

/** `openclaw/plugin-sdk/*`, and the packages that plugins get from the host: a file each, sharing their chunks with the app. */
function sdkEntries(): Record<string, string> {
  const entries = (from: string, to: string) =>
    readdirSync(from)
      .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
      .map((file) => [`${to}/${file.slice(0, -".ts".length)}`, `${from}/${file}`]);
  return Object.fromEntries([...entries("src/plugins/sdk/paths", "plugin-sdk"), ...entries("src/plugins/sdk/vendor", "plugin-sdk/vendor")]);
}

/**
 * Packages that plugins import by their own names are ES modules: a default import of a CommonJS file would be the whole module. Each is a list of names
 * around its CommonJS entry, so that `import` and `require` get the instance that the host uses.
 */
function writeVendorModules(folder: string, { output }: RolldownOutput): void {
  for (const file of output) {
    if (file.type !== "chunk" || !file.isEntry || !file.name.startsWith("plugin-sdk/vendor/")) continue;
    const names = file.exports.map((name, at) => ({ name, local: `_${at}` }));
    const taken = names.map(({ name, local }) => `${name}: ${local}`).join(", ");
    const given = names.map(({ name, local }) => `${local} as ${name}`).join(", ");
    const entry = file.fileName.slice(file.fileName.lastIndexOf("/") + 1);
    writeFileSync(join(folder, `${file.name}.mjs`), `import all from "./${entry}";\nconst { ${taken} } = all;\nexport { ${given} };\n`);
  }
}

/** What both bundles have in common. */
const OUTPUT: OutputOptions = {
  // One letter that is not ASCII takes a whole file twice the memory: 3 MB in a gateway at rest.
  charset: "ascii",
  comments: { legal: true, annotation: false, jsdoc: false },
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: false } },
};

const fresh = newBuild(folder);

/**
 * The program. CommonJS: it starts 30 ms sooner than as ES modules, since `require` touches only what is used of Node's own modules (an import touches every
 * export, and some load half of Node), and a chunk that was loaded is there again without a look at the file system.
 */
async function buildProgram(): Promise<void> {
  const bundle = await rolldown({
    input: {
      cli: "src/cli/main.ts",
      "store-worker": "src/store/thread/worker.ts",
      "backup-worker": "src/store/backup/thread/worker.ts",
      "memory-worker": "src/memory/thread/worker.ts",
      "document-worker": "src/media/documents/thread/worker.ts",
      "load-thread": "src/base/watchdog/load-thread.ts",
      ...sdkEntries(),
      // `openclaw/plugin-sdk/testing` is a module of its own above `plugins`: it puts a whole host together.
      "plugin-sdk/testing": "src/plugin-testing/index.ts",
      // Harnesses open the store by itself; a release has no such entry.
      ...(folder === "dist" ? {} : { store: "src/store/index.ts" }),
    },
    platform: "node",
    // Loaded from where they are installed, when an image is too large, a PDF is to be read or a browser is started: they have parts that are no JavaScript, or load themselves in parts.
    external: ["sharp", "unpdf", "playwright-core"],
    preserveEntrySignatures: "allow-extension",
    plugins: [frozenSchema, frozenCatalogue, englishOnly, frozenProtocol({ writesSchema: folder === "dist" })],
    transform: { define: { __FAILPOINTS__: String(folder.startsWith("dist-test")) } },
    onLog(level, log, handler) {
      // Grouping puts some lazily imported files beside files that are always there; that is what it is for.
      if (log.code === "INEFFECTIVE_DYNAMIC_IMPORT") return;
      if (level === "warn") throw new Error(`build warning: ${log.message}`);
      handler(level, log);
    },
  });
  const written = await bundle.write({
    ...OUTPUT,
    dir: fresh,
    format: "cjs",
    exports: "named",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    codeSplitting: { includeDependenciesRecursively: false, groups: CHUNK_GROUPS },
  });
  await bundle.close();
  writeFileSync(join(fresh, "package.json"), '{ "type": "commonjs" }\n');
  cpSync("src/memory/data", join(fresh, "memory"), { recursive: true });
  writeVendorModules(fresh, written);
}

/** `openclaw/client`: one entry that imports nothing of Node, one for Node. ES modules, which browsers read. */
async function buildClient(): Promise<void> {
  const input = { client: "src/protocol/client/index.ts", "client-node": "src/protocol/client/node.ts" };
  const bundle = await rolldown({ input, platform: "node", plugins: [frozenProtocol({ writesSchema: false })] });
  await bundle.write({ ...OUTPUT, dir: fresh, format: "esm", entryFileNames: "[name].mjs", chunkFileNames: "client/[name]-[hash].mjs" });
  await bundle.close();
}

/** What documents on the canvas run: a file each, as they have no origin to load modules from. */
async function buildCanvas(): Promise<void> {
  for (const name of ["bridge", "a2ui"]) {
    const bundle = await rolldown({ input: `ui/src/canvas/${name}.ts`, platform: "browser" });
    await bundle.write({ file: join(fresh, "canvas", `${name}.js`), format: "iife", minify: true, charset: "ascii" });
    await bundle.close();
  }
  cpSync("ui/src/canvas/a2ui.css", join(fresh, "canvas", "a2ui.css"));
}

await Promise.all([buildProgram(), buildClient()]);
if (folder !== "dist-bench") await buildCanvas();
if (folder !== "dist-bench") await build({ ...uiBuild(resolve(fresh, "ui")), configFile: false, logLevel: "warn" });
useBuild(folder, fresh);
console.error(`built ${folder} in ${Math.round(performance.now() - started)} ms`);
