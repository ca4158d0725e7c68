/** Bundles the product into lazily loaded chunks: `dist` is what runs, `dist-test` the same with failpoints in it, `dist-bench` without. */
import { readFileSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { rolldown, type Plugin } from "rolldown";
import { build } from "vite";
import { configSchema } from "../src/config/schema/index.ts";
import { newBuild, useBuild } from "./builds.ts";
import { CHUNK_GROUPS } from "./chunk-groups.ts";
import { asModule, withoutDescriptions } from "./frozen-module.ts";
import { lightChunks } from "./light-chunks.ts";
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

/** Puts the model tables in as one text: it is read faster than as code, and takes half the room. */
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

/** What `ws` needs only to compress and to connect elsewhere, which a gateway does not: loaded when it is used, and not in every start. */
const LATE: Readonly<Record<string, readonly string[]>> = { "ws/lib/permessage-deflate.js": ["zlib"], "ws/lib/websocket.js": ["https", "tls"] };

const lateModules: Plugin = {
  name: "late-modules",
  transform(code, id) {
    const file = Object.keys(LATE).find((name) => id.endsWith(`node_modules/${name}`));
    return file === undefined ? undefined : LATE[file]!.reduce((text, name) => loadedLate(text, name, file), code);
  },
};

function loadedLate(code: string, name: string, file: string): string {
  const line = `const ${name} = require('${name}');`;
  if (!code.includes(line)) throw new Error(`${file} does not load ${name} as it did: look at how it does now`);
  return code.replace(line, "").replaceAll(new RegExp(String.raw`(?<![\w.'"])${name}\.(?=\w)`, "g"), `require('${name}').`);
}

/** `openclaw/plugin-sdk/*`, and the packages that plugins get from the host: a file each, sharing their chunks with the app. */
function sdkEntries(): Record<string, string> {
  const entries = (from: string, to: string) =>
    readdirSync(from)
      .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
      .map((file) => [`${to}/${file.slice(0, -".ts".length)}`, `${from}/${file}`]);
  return Object.fromEntries([...entries("src/plugins/sdk/paths", "plugin-sdk"), ...entries("src/plugins/sdk/vendor", "plugin-sdk/vendor")]);
}

const fresh = newBuild(folder);
const bundle = await rolldown({
  input: {
    cli: "src/cli/main.ts",
    "store-worker": "src/store/sqlite/worker.ts",
    "load-thread": "src/base/watchdog/load-thread.ts",
    // `openclaw/client`: one entry that imports nothing of Node, one for Node.
    client: "src/protocol/client/index.ts",
    "client-node": "src/protocol/client/node.ts",
    ...sdkEntries(),
    // `openclaw/plugin-sdk/testing` stands above the plugins' room: it puts a whole host together.
    "plugin-sdk/testing": "src/app/plugin-testing/index.ts",
    // Harnesses open the store by itself; a release has no such entry.
    ...(folder === "dist" ? {} : { store: "src/store/index.ts" }),
  },
  platform: "node",
  // It has parts that are no JavaScript: loaded from where it is installed, when an image is too large.
  external: ["sharp"],
  preserveEntrySignatures: "allow-extension",
  plugins: [frozenSchema, frozenCatalogue, englishOnly, lateModules, frozenProtocol({ writesSchema: folder === "dist" }), lightChunks],
  transform: { define: { __FAILPOINTS__: String(folder.startsWith("dist-test")) } },
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
  codeSplitting: { includeDependenciesRecursively: false, groups: CHUNK_GROUPS },
  comments: { legal: true, annotation: false, jsdoc: false },
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: false } },
});
await bundle.close();
if (folder !== "dist-bench") await build({ ...uiBuild(resolve(fresh, "ui")), configFile: false, logLevel: "warn" });
useBuild(folder, fresh);
console.error(`built ${folder} in ${Math.round(performance.now() - started)} ms`);
