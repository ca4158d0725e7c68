import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { createHostPackages, createModuleLoader } from "./index.ts";
import { entryIn, folderWith, write } from "./plugin-on-disk.ts";

const sdkDir = folderWith({ "index.js": "export const one = 1;", "package.json": '{"type":"module"}' });
const loader = createModuleLoader({ sdkDir, hostPackages: createHostPackages(), clock: systemClock });
afterAll(() => loader[Symbol.dispose]());

type Files = Readonly<Record<string, string>>;

async function answer(root: string, source: string, generation = 1): Promise<unknown> {
  const { definition } = await loader.load(entryIn(root, source), generation);
  return await definition.register?.(0);
}

/** Packages by name, each exporting `x: 1`, that a guess by their text alone gets wrong. */
const PACKAGES: Readonly<Record<string, Files>> = {
  "CommonJS without a type, with nothing but a marker": {
    "package.json": "{}",
    "index.js": `"use strict"; Object.defineProperty(exports, "__esModule", { value: true }); Object.defineProperty(exports, "x", { value: 1, enumerable: true });`,
  },
  "CommonJS that assigns to exports": { "package.json": '{"type":"commonjs"}', "index.js": "exports = module.exports = { x: 1 };" },
  "CommonJS that uses this": { "package.json": "{}", "index.js": "this.x = 1;" },
  "CommonJS that is sloppy": { "package.json": "{}", "index.js": "undeclared = 1; with ({ x: undeclared }) exports['x'] = x;" },
  "CommonJS in an UMD wrapper": {
    "package.json": '{"main":"./dist/umd.js"}',
    "dist/umd.js": `(function (g, f) { typeof exports === "object" && typeof module !== "undefined" ? f(exports) : f(g); })(this, function (e) { e.x = 1; });`,
  },
  "a .cjs in a package of modules": { "package.json": '{"type":"module","main":"index.cjs"}', "index.cjs": "var f = (e) => { e.x = 1; }; f(exports);" },
  "a .mjs in a package of CommonJS": { "package.json": '{"type":"commonjs","exports":"./index.mjs"}', "index.mjs": "export const x = 1;" },
  "a package of modules": {
    "package.json": '{"type":"module","main":"index.js"}',
    "index.js": "import { y } from './y.js'; export const x = y;",
    "y.js": "export const y = 1;",
  },
  "modules without a type": { "package.json": "{}", "index.js": "export const x = 1;" },
  "a dual package": {
    "package.json": '{"exports":{".":{"import":"./esm/index.js","require":"./cjs/index.js"}}}',
    "esm/package.json": '{"type":"module"}',
    "esm/index.js": "const x = 1; export { x };",
    "cjs/package.json": '{"type":"commonjs"}',
    "cjs/index.js": "const e = exports; e.x = 1;",
  },
  "JSON and nested requires": {
    "package.json": '{"version":"1.0.0"}',
    "index.js": `const own = require("./package.json"), deep = require("./lib/deep"), inner = require("inner-dep"); exports.x = own.version === "1.0.0" && deep === 2 && inner === 3 ? 1 : 0;`,
    "lib/deep/index.js": "var m = module; m.exports = require('../two.json').two;",
    "lib/two.json": '{"two":2}',
    "node_modules/inner-dep/package.json": "{}",
    "node_modules/inner-dep/index.js": "module['exports'] = 3;",
  },
  "its sources beside what it runs": {
    "package.json": "{}",
    "index.js": `exports.x = require("./lib").x;`,
    "lib.js": "exports.x = 1;",
    "lib.ts": "throw new Error('the source was taken');",
  },
  "a module that CommonJS requires": {
    "package.json": "{}",
    "index.js": `exports.x = require("./inner.mjs").x;`,
    "inner.mjs": "import cjs from './last.cjs'; export const x = cjs;",
    "last.cjs": "module.exports = 1;",
  },
  "the SDK and a package of the host": {
    "package.json": "{}",
    "index.js": `const { one } = require("openclaw/plugin-sdk"); exports.x = typeof require("zod").z.object === "function" ? one : 0;`,
  },
};

/** Where a package manager puts a package `dep` and the plugin: relative folders, and links from the first to the second. */
const LAYOUTS: Readonly<Record<string, { plugin: string; dep: string; links?: Readonly<Record<string, string>> }>> = {
  "in the plugin's own node_modules": { plugin: "plugin", dep: "plugin/node_modules/dep" },
  "hoisted above the plugin": { plugin: "plugins/plugin", dep: "node_modules/dep" },
  "beside the plugin in node_modules": { plugin: "node_modules/plugin", dep: "node_modules/dep" },
  "in a pnpm store": {
    plugin: "node_modules/.pnpm/plugin@1.0.0/node_modules/plugin",
    dep: "node_modules/.pnpm/dep@1.0.0/node_modules/dep",
    links: { "node_modules/.pnpm/plugin@1.0.0/node_modules/dep": "node_modules/.pnpm/dep@1.0.0/node_modules/dep" },
  },
  "in a workspace": { plugin: "packages/plugin", dep: "packages/dep", links: { "node_modules/dep": "packages/dep" } },
};

/** Names of CommonJS that Node does not see in its text are found in the default. */
const ENTRIES: Files = {
  "index.js": `import * as dep from "dep"; const x = (d) => d.x ?? d.default.x; export default async () => [x(dep), x(await import("dep"))];`,
  "index.ts": `import * as dep from "dep"; export default (): unknown => [dep.x ?? (dep as any).default.x, require("dep").x];`,
  "index.cjs": `const x = (d) => d.x ?? d.default.x; module.exports = async () => [require("dep").x, x(await import("dep"))];`,
};

function installed(layout: string, files: Files, type: string): string {
  const { plugin, dep, links = {} } = LAYOUTS[layout]!;
  const all: Record<string, string> = { [`${plugin}/package.json`]: type };
  for (const [path, text] of Object.entries(ENTRIES)) all[`${plugin}/${path}`] = text;
  for (const [path, text] of Object.entries(files)) all[`${dep}/${path}`] = text;
  const folder = folderWith(all);
  for (const [from, to] of Object.entries(links)) {
    mkdirSync(dirname(join(folder, from)), { recursive: true });
    symlinkSync(join(folder, to), join(folder, from));
  }
  return join(folder, plugin);
}

describe("the format of a dependency is what its own package says", () => {
  for (const layout of Object.keys(LAYOUTS)) {
    for (const [name, files] of Object.entries(PACKAGES)) {
      test(`${name}, ${layout}`, async () => {
        for (const type of ['{"type":"module"}', '{"type":"commonjs"}']) {
          const root = installed(layout, files, type);
          for (const generation of [1, 2]) {
            for (const source of Object.keys(ENTRIES)) expect(await answer(root, source, generation), source).toEqual([1, 1]);
          }
        }
      });
    }
  }
});

describe("the format of a plugin's own file", () => {
  const OWN: Readonly<Record<string, string>> = {
    "is CommonJS by a marker alone": `"use strict"; Object.defineProperty(exports, "__esModule", { value: true }); Object.defineProperty(exports, "x", { value: 1 });`,
    "is CommonJS by its requires": `const { x } = require("./x.json"); module.exports = { x };`,
    "is CommonJS with text that looks like a module": "/* from\nexport const x = 2;\n*/ module.exports = { x: 1, text: `\nexport default 2;` };",
    "is a module by its exports": `export const x = 1;`,
    "is a module by top-level await": `await null; const { x } = require("./x.json"); globalThis.openclawAwaited = x;`,
  };
  for (const [name, code] of Object.entries(OWN)) {
    test(`${name}, whatever its package says`, async () => {
      for (const type of ["{}", '{"type":"module"}', '{"type":"commonjs"}']) {
        const folder = folderWith({
          "package.json": type,
          "x.json": '{"x":1}',
          "lib.js": code,
          "index.js": `import * as lib from "./lib.js"; export default () => lib.x ?? lib.default?.x ?? globalThis.openclawAwaited;`,
        });
        expect(await answer(folder, "index.js")).toBe(1);
      }
    });
  }

  test("without a sign of either is what its package says", async () => {
    const files = { "lib.js": "globalThis.openclawStrict = (function () { return this === undefined; })();" };
    const index = { "index.js": `import "./lib.js"; export default () => globalThis.openclawStrict;` };
    expect(await answer(folderWith({ ...files, ...index, "package.json": '{"type":"module"}' }), "index.js")).toBe(true);
    expect(await answer(folderWith({ ...files, ...index, "package.json": "{}" }), "index.js")).toBe(false);
    expect(await answer(folderWith({ ...files, ...index }), "index.js")).toBe(false);
  });
});

describe("after a reload", () => {
  test("names of package.json's imports lead to the new files", async () => {
    const folder = folderWith({
      "package.json": '{"type":"module","imports":{"#n":"./n.ts","#c":"./c.cjs"}}',
      "n.ts": "export const n: number = 1;",
      "c.cjs": "exports.n = 1;",
      "index.ts": `import { n } from "#n"; import { n as c } from "#c"; export default async () => [n, c, require("#c").n, (await import("#n")).n];`,
    });
    expect(await answer(folder, "index.ts")).toEqual([1, 1, 1, 1]);
    write(join(folder, "n.ts"), "export const n: number = 2;");
    write(join(folder, "c.cjs"), "exports.n = 2;");
    expect(await answer(folder, "index.ts", 2)).toEqual([2, 2, 2, 2]);
  });

  test("what CommonJS imports and requires is of its own generation, in every file of the plugin", async () => {
    const folder = folderWith({
      "index.cjs": `module.exports = require("./lib/middle.cjs");`,
      "lib/middle.cjs": `const { n } = require("../n.mjs"); module.exports = async () => [n, (await import("../n.mjs")).n, await require("dep")()];`,
      "n.mjs": "export const n = 1;",
      "node_modules/dep/package.json": "{}",
      "node_modules/dep/index.js": `module.exports = async () => [require("./m.mjs").n, (await import("./m.mjs")).n];`,
      "node_modules/dep/m.mjs": "export const n = 1;",
    });
    expect(await answer(folder, "index.cjs")).toEqual([1, 1, [1, 1]]);
    for (const file of ["n.mjs", "node_modules/dep/m.mjs"]) write(join(folder, file), "export const n = 2;");
    expect(await answer(folder, "index.cjs", 2)).toEqual([2, 2, [2, 2]]);
  });
});

test("an error in a dependency that others may share is nobody's, unless a plugin's own code is in its stack", async () => {
  const folder = folderWith({
    "node_modules/dep/package.json": "{}",
    "node_modules/dep/index.js": "exports.fail = () => { throw new Error('of the dependency'); };",
    "plugin/index.cjs": `const { fail } = require("dep"); module.exports = (direct) => (direct ? fail : () => fail());`,
  });
  const { definition } = await loader.load(entryIn(join(folder, "plugin"), "index.cjs", { id: "caller" }), 1);
  const failure = async (direct: boolean): Promise<unknown> => {
    const fail = (await definition.register?.(direct)) as () => void;
    return await Promise.try(fail).catch((error: unknown) => error);
  };
  expect(loader.pluginOf(await failure(true))).toBeUndefined();
  expect(loader.pluginOf(await failure(false))).toBe("caller");
});

test("a dependency that throws while it loads is named with its line", async () => {
  const folder = folderWith({
    "node_modules/dep/package.json": "{}",
    "node_modules/dep/index.js": "\n\nthrow new Error('not here');",
    "plugin/index.js": `import dep from "dep"; export default () => dep;`,
  });
  await expect(loader.load(entryIn(join(folder, "plugin"), "index.js"), 1)).rejects.toMatchObject({
    message: expect.stringContaining("not here"),
    details: { file: join(folder, "node_modules/dep/index.js"), line: 3 },
  });
});
