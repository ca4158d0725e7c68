/** Bundles the product into lazily loaded chunks: `dist` is what runs, `dist-test` the same with failpoints in it, `dist-bench` without. */
import { readFileSync, readdirSync, renameSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { rolldown, type Plugin } from "rolldown";
import { build } from "vite";
import { configSchema } from "../src/config/schema/index.ts";
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

/** `openclaw/plugin-sdk/*`, and the packages that plugins get from the host: a file each, sharing their chunks with the app. */
function sdkEntries(): Record<string, string> {
  const entries = (from: string, to: string) =>
    readdirSync(from)
      .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
      .map((file) => [`${to}/${file.slice(0, -".ts".length)}`, `${from}/${file}`]);
  return Object.fromEntries([...entries("src/plugins/sdk/paths", "plugin-sdk"), ...entries("src/plugins/sdk/vendor", "plugin-sdk/vendor")]);
}

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
    ...sdkEntries(),
    // `openclaw/plugin-sdk/testing` stands above the plugins' room: it puts a whole host together.
    "plugin-sdk/testing": "src/app/plugin-testing/index.ts",
    // Harnesses open the store by itself; a release has no such entry.
    ...(folder === "dist" ? {} : { store: "src/store/index.ts" }),
  },
  platform: "node",
  preserveEntrySignatures: "allow-extension",
  plugins: [frozenSchema, frozenCatalogue, englishOnly, frozenProtocol({ writesSchema: folder === "dist" }), lightChunks],
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
  // Every file costs about half a millisecond to find, read and link: what nearly every command needs comes in one.
  codeSplitting: {
    includeDependenciesRecursively: false,
    groups: [
      // The first that fits takes a file; the order is from what everything needs to what one command needs.
      {
        name: "base",
        test: /src\/base\/(?:errors|text|files|clock|failpoints|builtin|memory-care|redaction)\.ts|src\/store\/(?:retention|sqlite\/failure|projection\/place)\.ts|src\/protocol\/transcript\.ts|rolldown\/runtime/,
      },
      {
        name: "frame",
        test: /src\/cli\/(?:arguments|command|dispatch|failure|help|io|output\/style|output\/table|commands\/index)\.ts|src\/config\/(?:env|paths|profile|value)\.ts/,
      },
      {
        name: "config",
        test: /src\/config\/(?:[a-z-]*(?:load|snapshot|dotenv|environment|include|origin|path|source-files|tilde|version|sha256)\.ts|document\/|migrate\/|schema\/index|validate\/(?!hints|schema-export))|src\/cli\/(?:config-source|commands\/config\/(?:index|validate))\.ts/,
      },
      // What every plugin's entry needs, and what host and plugins share; then the rest, and what needs zod.
      { name: "sdk-entry", test: /src\/plugins\/sdk\/(?:plugin-entry|plugin-config|account-ids|host-binding|diagnostic-events|log-transports)\.ts/ },
      { name: "zod", test: /node_modules\/zod\// },
      { name: "sdk-schemas", test: /src\/plugins\/sdk\/(?:schemas|secrets|channels\/config-schemas)\.ts/ },
      { name: "sdk-network", test: /src\/plugins\/sdk\/(?:guarded-fetch|ssrf|web-media)\.ts/ },
      { name: "sdk", test: /src\/plugins\/sdk\/(?!paths|vendor|newer)/ },
      {
        name: "inventory",
        test: /src\/plugins\/(?:inventory\/|record\.|install\/journal)|src\/cli\/(?:plugin-source|plugin-commands\/declared|commands\/plugins\/(?:index|list|record))\.ts/,
      },
      { name: "channel-text", test: /src\/channels\/(?:text\/|reactions\/|rich-text\/(?!parse))/ },
      { name: "thread", test: /src\/store\/(?:warm-up|sqlite\/thread)\.ts/ },
      { name: "engine", test: /src\/store\/(?:sqlite\/(?:areas\/|connection|handlers|open|migrations|schema)|projection\/)/ },
      {
        name: "app",
        test: /src\/app\/(?!open-gateway|own-caller|agent\/|conversation\/|models\.ts|restart\/sentinel|plugins\/|plugin-testing\/)|src\/gateway\/(?:server|bind|certificate|address-budget|early|auth\/settings)\.ts|src\/base\/(?:log\/(?!read)|random|ids)|src\/config\/(?:config|redact|diff|reload-rules|secrets|last-good|shell-environment)\.ts|src\/store\/(?:open|sqlite\/(?:client|messages|sender|waiting|standing|reads))\.ts/,
      },
      { name: "plugin-host", test: /src\/app\/plugins\/(?!index)|src\/plugins\/(?:host|registry|load)\/|src\/hooks\/|node_modules\/es-module-lexer/ },
      {
        name: "hub",
        test: /src\/app\/(?:open-gateway|own-caller|agent\/(?:index|answering|gateway-ports|gateway-tool|session-endings|workspaces)|conversation\/(?:open|channels|channel-table|lazy|ports)|models\.ts|plugins\/index)|src\/conversation\/(?:create-conversation|index|intake\/|lanes\/|turns\/)|src\/channels\/(?:index|access\/|inbound\/|pairing\/|manager\/|sections)|src\/routing\/|src\/gateway\/(?!tools\/)|src\/sessions\/entry\/|src\/base\/(?:rooted-files|equal-secrets)\.ts|src\/config\/agent-workspace\.ts|src\/protocol\/(?!client|validators|answers|schemas|check)|src\/base\/(?:deadlines|log\/read)|src\/config\/describe-schema/,
      },
    ],
  },
  comments: { legal: true, annotation: false, jsdoc: false },
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: false } },
});
await bundle.close();
if (folder !== "dist-bench") await build({ ...uiBuild(resolve(fresh, "ui")), configFile: false, logLevel: "warn" });
rmSync(folder, { recursive: true, force: true });
renameSync(fresh, folder);
console.error(`built ${folder} in ${Math.round(performance.now() - started)} ms`);
