import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { createHostPackages, createModuleLoader } from "./index.ts";
import { importModule } from "./import.ts";
import { entryIn, folderWith, write } from "./plugin-on-disk.ts";

/** A chain of ES modules: Node links all of them at once and runs them many microtasks later. */
function chain(folder: string, depth: number, last: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (let i = 0; i < depth; i += 1) files[`${folder}/step-${i}.js`] = `export * from "./step-${i + 1}.js"; export { default } from "./step-${i + 1}.js";`;
  files[`${folder}/step-${depth}.js`] = last;
  return files;
}

const sdkDir = folderWith({
  ...Object.fromEntries(Object.entries(chain("deep", 30, "export const one = 1; export const bag = {}; export default 'sdk';"))),
  "package.json": '{"type":"module"}',
  "index.js": `export * from "./deep/step-0.js";`,
  "late.js": `export * from "./deep/step-30.js";`,
});
const loader = createModuleLoader({ sdkDir, hostPackages: createHostPackages(), clock: systemClock });
afterAll(() => loader[Symbol.dispose]());

/** Loads plugins `<folder>/<id>` with the given entry at the same time and answers what their registrations give. */
async function together(folder: string, entries: Readonly<Record<string, string>>, generation = 1): Promise<Record<string, unknown>> {
  const loads = Object.entries(entries).map(async ([id, source]) => {
    const { definition } = await loader.load(entryIn(join(folder, id), source, { id }), generation);
    return [id, await definition.register?.(0)];
  });
  return Object.fromEntries(await Promise.all(loads));
}

const shared = (last: string): Record<string, string> => ({
  "node_modules/shared/package.json": '{"name":"shared","type":"module","exports":"./step-0.js"}',
  ...chain("node_modules/shared", 20, last),
});
const VALUE = "export const bag = {}; export default 7;";
const IMPORTS = `import seven, { bag } from "shared"; import "./a.js"; export default () => [seven, bag];`;
const own = chain("first", 20, "export default 1;");
const AWAITS = { "a.js": `await new Promise((done) => setTimeout(done, 20));` };

describe("two plugins that load at the same time share an ES module", () => {
  for (const [name, order] of [
    ["imported before it is required", ["first", "second"]],
    ["required before it is imported", ["second", "first"]],
  ] as const) {
    for (const [awaits, file] of [
      ["", "export {};"],
      [" beside a slow top-level await", AWAITS["a.js"]],
    ] as const) {
      test(`${name}${awaits}`, async () => {
        const folder = folderWith({
          ...shared(VALUE),
          ...own,
          "first/index.js": `import "./step-0.js";\n${IMPORTS}`,
          "first/a.js": file,
          "second/index.cjs": `const { default: seven, bag } = require("shared"); module.exports = () => [seven, bag];`,
        });
        const sources = { first: "index.js", second: "index.cjs" };
        const answers = await together(folder, Object.fromEntries(order.map((id) => [id, sources[id]])));
        const [first, second] = [answers["first"], answers["second"]] as [unknown[], unknown[]];
        expect([first[0], second[0]]).toEqual([7, 7]);
        expect(first[1]).toBe(second[1]);
      });
    }
  }

  test("required by an ES module with require, by nested CommonJS and by name, all one instance", async () => {
    const folder = folderWith({
      ...shared(VALUE),
      ...own,
      "first/index.js": `import "./step-0.js";\n${IMPORTS}`,
      "first/a.js": "",
      "esm/index.js": `const { bag } = require("shared"); export default () => bag;`,
      "nested/index.cjs": `module.exports = require("./lib");`,
      "nested/lib/index.js": `const { bag } = require("shared"); module.exports = () => bag;`,
      "typed/index.ts": `import shared = require("shared"); export = (): unknown => shared.bag;`,
    });
    const answers = await together(folder, { first: "index.js", esm: "index.js", nested: "index.cjs", typed: "index.ts" });
    const bag = (answers["first"] as unknown[])[1];
    expect(["esm", "nested", "typed"].map((id) => answers[id] === bag)).toEqual([true, true, true]);
  });

  test("that is the SDK", async () => {
    const folder = folderWith({
      "first/index.js": `import { one, bag } from "openclaw/plugin-sdk"; export default () => [one, bag];`,
      "second/index.cjs": `const { one, bag } = require("openclaw/plugin-sdk/late"); module.exports = () => [one, bag];`,
      "third/index.cjs": `const { one, bag } = require("openclaw/plugin-sdk"); module.exports = () => [one, bag];`,
    });
    const { first, second, third } = (await together(folder, { first: "index.js", second: "index.cjs", third: "index.cjs" })) as Record<string, unknown[]>;
    expect([first![0], second![0], third![0]]).toEqual([1, 1, 1]);
    expect([first![1] === second![1], second![1] === third![1]]).toEqual([true, true]);
  });

  test("that one of them imports later, while the other one requires it in a function", async () => {
    const folder = folderWith({
      ...shared(VALUE),
      "first/index.js": `export default () => import("shared");`,
      "second/index.cjs": `module.exports = async () => { await null; return require("shared"); };`,
    });
    const answers = (await together(folder, { first: "index.js", second: "index.cjs" })) as Record<string, { bag: unknown }>;
    expect(answers["first"]!.bag).toBe(answers["second"]!.bag);
  });

  test("that the host imports at that moment", async () => {
    const folder = folderWith({ ...shared(VALUE), "second/index.cjs": `module.exports = () => require("shared");` });
    const { definition } = await loader.load(entryIn(join(folder, "second"), "index.cjs", { id: "second" }), 1);
    const importing = importModule(new URL(`file://${folder}/node_modules/shared/step-0.js`).href);
    const required = definition.register?.(0) as { bag: unknown };
    expect(required).toMatchObject({ default: 7 });
    expect((await importing)["bag"]).toBe(required.bag);
  });
});

describe("an ES module that is required", () => {
  const answer = async (files: Readonly<Record<string, string>>): Promise<unknown> =>
    (await loader.load(entryIn(folderWith(files), "index.cjs"), 1)).definition.register?.(0);

  test("gives what Node gives: its namespace, marked where it has a default, or its module.exports", async () => {
    const given = (await answer({
      "index.cjs": `module.exports = () => [require("./named.mjs"), require("./default.mjs"), require("./marked.mjs"), require("./whole.mjs"), require("./default.mjs") === require("./default.mjs")];`,
      "named.mjs": "export let n = 1; export const add = () => (n += 1);",
      "default.mjs": "export default 1; export const x = 2;",
      "marked.mjs": "export default 1; export const __esModule = 'own';",
      "whole.mjs": "const whole = () => 5; export { whole as 'module.exports' };",
    })) as [{ n: number; add(): number; __esModule?: unknown }, Record<string, unknown>, Record<string, unknown>, () => number, boolean];
    const [named, withDefault, marked, whole, same] = given;
    expect([named.n, named.add(), named.n, "__esModule" in named]).toEqual([1, 2, 2, false]);
    expect({ ...withDefault }).toEqual({ default: 1, x: 2, __esModule: true });
    expect(marked["__esModule"]).toBe("own");
    expect([whole(), same]).toEqual([5, true]);
  });

  test("fails with its own error, with the missing name, and with what to do about top-level await and cycles", async () => {
    const files = {
      "throws.mjs": "throw new Error('its own');",
      "names.mjs": "import { gone } from './named.mjs'; export default gone;",
      "named.mjs": "export const n = 1;",
      "awaits.mjs": "await null; export default 1;",
      "cycle.mjs": "import './back.cjs'; export default 1;",
      "back.cjs": "try { require('./cycle.mjs'); } catch (error) { globalThis.openclawCycle = error; }",
    };
    const errors = (await answer({
      ...files,
      "index.cjs": `const tried = (name) => { try { return require(name); } catch (error) { return error; } };
        module.exports = () => [...["./throws.mjs", "./names.mjs", "./awaits.mjs", "./absent.mjs"].map(tried), tried("./cycle.mjs") && globalThis.openclawCycle];`,
    })) as (Error & { code?: string })[];
    expect(errors.map((error) => error.code)).toEqual([undefined, undefined, "ERR_REQUIRE_ASYNC_MODULE", "MODULE_NOT_FOUND", "ERR_REQUIRE_CYCLE_MODULE"]);
    expect(errors[0]!.message).toBe("its own");
    expect(errors[1]!.message).toContain("'gone'");
    expect(errors[2]!.message).toContain("awaits.mjs");
    for (const { message } of errors) expect(message).not.toMatch(/openclaw-(?:namespace|facade|target)/);
  });

  test("is found by require.resolve without being run", async () => {
    const folder = folderWith({ "index.cjs": `module.exports = () => require.resolve("./x.mjs");`, "x.mjs": "throw new Error('ran');" });
    const { definition } = await loader.load(entryIn(folder, "index.cjs"), 1);
    expect(definition.register?.(0)).toBe(join(folder, "x.mjs"));
  });

  test("is fresh after a reload, and the one that the plugin imports", async () => {
    const folder = folderWith({
      "index.cjs": `module.exports = async () => [require("./x.mjs").n, (await import("./x.mjs")) === require("./x.mjs"), require("./t.ts").n, require("inner").n];`,
      "x.mjs": "export const n = 1;",
      "t.ts": "export const n: number = 1;",
      "node_modules/inner/package.json": '{"type":"module","main":"i.js"}',
      "node_modules/inner/i.js": "export const n = 1;",
    });
    const load = async (generation: number): Promise<unknown> => (await loader.load(entryIn(folder, "index.cjs"), generation)).definition.register?.(0);
    expect(await load(1)).toEqual([1, true, 1, 1]);
    write(join(folder, "x.mjs"), "export const n = 2;");
    write(join(folder, "t.ts"), "export const n: number = 2;");
    write(join(folder, "node_modules/inner/i.js"), "export const n = 2;");
    expect(await load(2)).toEqual([2, true, 2, 2]);
  });

  test("stays the running generation's when a reload fails", async () => {
    const folder = folderWith({
      "index.cjs": `const { bag } = require("./x.mjs"); module.exports = () => bag === require("./late.cjs");`,
      "x.mjs": "export const bag = {};",
      "late.cjs": `module.exports = require("./x.mjs").bag;`,
    });
    const { definition } = await loader.load(entryIn(folder, "index.cjs"), 1);
    write(join(folder, "index.cjs"), `throw new Error("broken");`);
    await expect(loader.load(entryIn(folder, "index.cjs"), 2)).rejects.toThrow("broken");
    expect(definition.register?.(0)).toBe(true);
  });
});
