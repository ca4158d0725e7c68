import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { manualClock, systemClock } from "../../base/clock.ts";
import { entryIn, folderWith, write } from "./plugin-on-disk.ts";
import { importModule } from "./import.ts";
import { createHostPackages, createModuleLoader, type LoadedModule } from "./index.ts";

const sdkDir = folderWith({ "index.ts": "export const one = 1; export const two = 2;", "known.ts": "export const three = 3;" });
const loader = createModuleLoader({ sdkDir, hostPackages: createHostPackages(), clock: systemClock });
afterAll(() => loader[Symbol.dispose]());
const load = (folder: string, generation = 1): Promise<LoadedModule> => loader.load(entryIn(folder, "index.ts"), generation);

describe("names that the SDK lacks", () => {
  test("are reported in one failure with every name by sub-path", async () => {
    const folder = folderWith({
      "index.ts": `import { one, gone,\n  alsoGone as renamed } from "openclaw/plugin-sdk";\nimport "./deeper.js";\nexport default () => [one, gone, renamed];`,
      "deeper.ts": `import { three, four } from "openclaw/plugin-sdk/known"; import { x } from "openclaw/plugin-sdk/unknown"; export { y } from "openclaw/plugin-sdk/other"; import "openclaw/plugin-sdk/bare"; console.log(three, four, x);`,
    });
    const failure = await load(folder).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: "PLUGIN_FAILED",
      details: {
        pluginId: "sample",
        file: join(folder, "index.ts"),
        line: 1,
        phase: "link",
        missing: [
          { specifier: "openclaw/plugin-sdk", known: true, names: ["alsoGone", "gone"] },
          { specifier: "openclaw/plugin-sdk/bare", known: false, names: [] },
          { specifier: "openclaw/plugin-sdk/known", known: true, names: ["four"] },
          { specifier: "openclaw/plugin-sdk/other", known: false, names: ["y"] },
          { specifier: "openclaw/plugin-sdk/unknown", known: false, names: ["x"] },
        ],
      },
    });
    expect((failure as Error).message).toContain("openclaw/plugin-sdk: alsoGone, gone; openclaw/plugin-sdk/bare (no such sub-path);");
  });

  test("do not matter where they are types, also without the word type, in comments and in texts", async () => {
    const folder = folderWith({
      "index.ts": `import * as types from "./types.js";
import { one, Api, Shape } from "openclaw/plugin-sdk"; import { Only } from "openclaw/plugin-sdk/not-there";
import { Host } from "../../src/host.js"; import { Kept } from "./types.js";
/** Takes an Api, a "Shape". */
export default (api: Api, shape: Shape, only: Only, host: Host): unknown => [one, "Api", { Shape: 1 }.Shape, \`Kept \${one}\`, Object.keys(types)] as Kept[];`,
      "types.ts": `export type Kept = unknown; interface Local { a: 1 } export { Local }; export { Deep, real } from "./deep.js"; import { Deep2 } from "./deep.js"; export { Deep2 };`,
      "deep.ts": `export interface Deep { a: 1 } export type Deep2 = Deep; export const real = 1;`,
    });
    const { definition } = await load(folder);
    expect(definition.register?.(0)).toEqual([1, "Api", 1, "Kept 1", ["real"]]);
  });

  test("a sub-path that is asked for later fails there, naming file and line", async () => {
    const folder = folderWith({
      "index.ts": `export default async () => [\n await import("openclaw/plugin-sdk/later").catch((error) => error),\n (() => { try { return require("openclaw/plugin-sdk/required"); } catch (error) { return error; } })()];`,
    });
    const { definition } = await load(folder);
    const [imported, required] = (await definition.register!(0)) as Error[];
    expect(imported?.message).toContain(`"openclaw/plugin-sdk/later" (${join(folder, "index.ts")}:2)`);
    expect(required?.message).toContain(`"openclaw/plugin-sdk/required" (${join(folder, "index.ts")}:3)`);
  });
});

describe("a plugin that cannot be loaded", () => {
  const CASES: Readonly<Record<string, { files: Readonly<Record<string, string>>; phase: string; file: string; line?: number; says: string }>> = {
    "wrong TypeScript": {
      files: { "index.ts": 'import "./a.js";\nexport default 1;', "a.ts": "const a = 1;\n\nconst b: = 2;" },
      phase: "transform",
      file: "a.ts",
      line: 3,
      says: "Unexpected token",
    },
    "wrong JavaScript": {
      files: { "index.ts": 'import "./a.js";\nexport default 1;', "a.js": "export const a = 1;\nconst = 2;" },
      phase: "transform",
      file: "a.js",
      line: 2,
      says: "Unexpected token",
    },
    JSX: {
      files: { "index.ts": 'import "./a.jsx";', "a.tsx": "export const a = 1;\nconst x = <div>a</div>;" },
      phase: "transform",
      file: "a.tsx",
      line: 2,
      says: "JSX",
    },
    "a throw": {
      files: {
        "index.ts": 'import "./a.js";\nexport default 1;',
        "a.ts": "interface A { a: 1 }\nexport enum E { A }\nclass P { constructor(private x: number) {} }\nthrow new Error('boom ' + E.A);",
      },
      phase: "import",
      file: "a.ts",
      line: 4,
      says: "boom 0",
    },
    "a throw of something else": { files: { "index.ts": "throw 'text';" }, phase: "import", file: "index.ts", says: "text" },
    "a missing file": {
      files: { "index.ts": 'import { a } from "./b.js";\nexport default a;', "b.ts": "\nexport { a } from './missing.js';" },
      phase: "resolve",
      file: "b.ts",
      line: 2,
      says: "missing.js",
    },
    "a missing package": {
      files: { "index.ts": '\nimport a from "not-installed/sub";\nexport default a;' },
      phase: "resolve",
      file: "index.ts",
      line: 2,
      says: "add not-installed to its dependencies",
    },
    "a missing name of its own": {
      files: { "index.ts": '\nimport { a } from "./b.js";\nexport default () => a;', "b.ts": "export const b = 1;" },
      phase: "link",
      file: "index.ts",
      line: 2,
      says: "'a'",
    },
    "a missing entry": { files: { "other.ts": "" }, phase: "resolve", file: "index.ts", says: "does not exist" },
  };
  for (const [name, { files, phase, file, line, says }] of Object.entries(CASES)) {
    test(`because of ${name} says where`, async () => {
      const folder = folderWith(files);
      const failure = (await load(folder).catch((error: unknown) => error)) as { details: { line?: number } };
      expect(failure).toMatchObject({
        code: "PLUGIN_FAILED",
        message: expect.stringContaining(says),
        details: { pluginId: "sample", file: join(folder, file), phase },
      });
      expect(failure.details.line).toBe(line);
    });
  }

  test("an import that never ends is given up after its budget", async () => {
    const clock = manualClock();
    using slow = createModuleLoader({ sdkDir, hostPackages: createHostPackages(), clock, budgetMs: 10_000 });
    const started = Promise.withResolvers<void>();
    (globalThis as Record<string, unknown>)["openclawStarted"] = started.resolve;
    const loading = slow.load(
      entryIn(folderWith({ "index.ts": "globalThis.openclawStarted(); await new Promise(() => {}); export default () => 1;" }), "index.ts"),
      1,
    );
    await started.promise;
    clock.advance(10_000);
    await expect(loading).rejects.toMatchObject({ code: "PLUGIN_FAILED", message: expect.stringContaining("10000 ms"), details: { phase: "import" } });
  });

  test("an import that never ends takes its budget once after a restart in place, too", async () => {
    const clock = manualClock();
    const entry = entryIn(folderWith({ "index.ts": "globalThis.openclawStarted(); await new Promise(() => {}); export default () => 1;" }), "index.ts");
    let starts = 0;
    for (const firstToken of ["a1", "b2"]) {
      using slow = createModuleLoader({ sdkDir, hostPackages: createHostPackages(), clock, budgetMs: 10_000, firstToken });
      const started = Promise.withResolvers<void>();
      (globalThis as Record<string, unknown>)["openclawStarted"] = () => {
        starts += 1;
        started.resolve();
      };
      const loading = slow.load(entry, 1);
      await started.promise;
      clock.advance(10_000);
      await expect(loading).rejects.toMatchObject({ code: "PLUGIN_FAILED", message: expect.stringContaining("10000 ms") });
    }
    expect(starts).toBe(2);
  });

  test("top-level await within the budget is fine", async () => {
    const { definition } = await load(folderWith({ "index.ts": "const a = await Promise.resolve(3); export default () => a;" }));
    expect(definition.register?.(0)).toBe(3);
  });

  test("an optional package that is missing has Node's code", async () => {
    const { definition } = await load(
      folderWith({
        "index.ts":
          "export default async () => [await import('absent').catch((e) => e.code), (() => { try { require('absent'); } catch (e) { return e.code; } })()];",
      }),
    );
    expect(await definition.register?.(0)).toEqual(["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"]);
  });
});

describe("generations", () => {
  test("the same generation is the same module, another is fresh with all its files", async () => {
    const folder = folderWith({
      "index.ts": `import { n } from "./n.js"; const c = require("./c.cjs"); export default async () => [n, c.n, (await import("./late.js")).n];`,
      "n.ts": "export const n = 1;",
      "c.cjs": "exports.n = 1;",
      "late.ts": "export const n = 1",
    });
    const first = await load(folder);
    expect((await load(folder)).definition).toBe(first.definition);
    for (const [file, text] of [
      ["n.ts", "export const n = 2;"],
      ["c.cjs", "exports.n = 2;"],
      ["late.ts", "export const n = 2"],
    ] as const)
      write(join(folder, file), text);
    const second = await load(folder, 2);
    expect(await second.definition.register?.(0)).toEqual([2, 2, 2]);
    expect(second.files.map((file) => file.slice(folder.length + 1))).toEqual(["index.ts", "n.ts", "c.cjs", "late.ts"]);
    // What the old one imports later is of the old generation's address, and read now.
    expect(await first.definition.register?.(0)).toEqual([1, 1, 2]);
  });

  test("a loader after another in the same process gets its own modules", async () => {
    for (const [name, code] of [
      ["index.ts", (n: number) => `const n: number = ${n}; const o = {}; export { o }; export default () => [n, require("./index.ts").o === o];`],
      ["index.cjs", (n: number) => `module.exports = () => [${n}, true];`],
    ] as const) {
      const folder = folderWith({ [name]: code(1) });
      const answer = async (firstToken: string): Promise<unknown> => {
        using own = createModuleLoader({ sdkDir, hostPackages: createHostPackages(), clock: systemClock, firstToken });
        return (await own.load(entryIn(folder, name), 1)).definition.register?.(0);
      };
      expect(await answer("one")).toEqual([1, true]);
      write(join(folder, name), code(2));
      expect(((await answer("two")) as number[])[0]).toBe(2);
    }
  });

  test("what failed is tried again", async () => {
    const folder = folderWith({ "index.ts": "throw new Error('first');" });
    await expect(load(folder)).rejects.toThrow("first");
    write(join(folder, "index.ts"), "export default () => 'mended';");
    expect((await load(folder)).definition.register?.(0)).toBe("mended");
  });

  test("plugins of one folder share its modules", async () => {
    const folder = folderWith({
      "a.ts": `import { s } from "./s.js"; export default () => s;`,
      "b.ts": `import { s } from "./s.js"; export default () => s;`,
      "s.ts": "export const s = {};",
    });
    const [a, b] = [await loader.load(entryIn(folder, "a.ts", { id: "a" }), 1), await loader.load(entryIn(folder, "b.ts", { id: "b" }), 1)];
    expect(a.definition.register?.(0)).toBe(b.definition.register?.(0));
  });
});

describe("what was made of TypeScript", () => {
  const files = { "index.ts": `import { one, Type } from "openclaw/plugin-sdk"; enum A { B = 7 }\nexport default (api: Type) => [one, A.B];` };
  const answer = async (folder: string, cacheDir: string): Promise<unknown> => {
    using fresh = createModuleLoader({ sdkDir, hostPackages: createHostPackages(), clock: systemClock, cacheDir });
    return (await fresh.load(entryIn(folder, "index.ts"), 1)).definition.register?.(0);
  };

  test("is kept for the next start and used while the text is the same", async () => {
    const cacheDir = join(folderWith({}), "cache");
    expect(await answer(folderWith(files), cacheDir)).toEqual([1, 7]);
    const [name, ...others] = readdirSync(cacheDir);
    expect(others).toEqual([]);
    const kept = join(cacheDir, name!);
    write(kept, readFileSync(kept, "utf8").replace(" 7)", " 8)"));
    expect(await answer(folderWith(files), cacheDir)).toEqual([1, 8]);
    expect(await answer(folderWith({ "index.ts": files["index.ts"].replace("7", "9") }), cacheDir)).toEqual([1, 9]);
  });

  test("is made again where it is damaged or cannot be kept", async () => {
    const cacheDir = join(folderWith({}), "cache");
    await answer(folderWith(files), cacheDir);
    write(join(cacheDir, readdirSync(cacheDir)[0]!), "not this");
    expect(await answer(folderWith(files), cacheDir)).toEqual([1, 7]);
    expect(await answer(folderWith(files), join(folderWith({ file: "" }), "file"))).toEqual([1, 7]);
  });

  test("still tells which SDK names are missing", async () => {
    const cacheDir = join(folderWith({}), "cache");
    const lacking = { "index.ts": `import { gone } from "openclaw/plugin-sdk"; export default () => gone;` };
    for (const _start of [1, 2]) await expect(answer(folderWith(lacking), cacheDir)).rejects.toMatchObject({ details: { missing: [{ names: ["gone"] }] } });
  });
});

describe("whose error it is", () => {
  test("is found by the stack, in every generation and for TypeScript that was rewritten", async () => {
    const folder = folderWith({ "index.ts": `enum A { B }\nexport default () => { throw new Error("late " + A.B); };` });
    for (const generation of [1, 2]) {
      const { definition } = await loader.load(entryIn(folder, "index.ts", { id: "guilty" }), generation);
      const error = await Promise.try(() => definition.register?.(0)).catch((thrown: unknown) => thrown);
      expect(loader.pluginOf(error)).toBe("guilty");
      expect(loader.pluginOf(new Error("around", { cause: error }))).toBe("guilty");
      expect((error as Error).stack).toMatch(/index\.ts(?:\?\S*)?:2:/);
    }
    expect(loader.pluginOf(new Error("of nobody"))).toBeUndefined();
    expect(loader.pluginOf("text")).toBeUndefined();
  });

  test("modules of the host are left alone, and the hooks go with the loader", async () => {
    const folder = folderWith({ "index.ts": "export default () => 1;", "x.ts": "export const x = 1;" });
    const own = createModuleLoader({ sdkDir, hostPackages: createHostPackages(), clock: systemClock });
    await own.load(entryIn(folder, "index.ts"), 1);
    own[Symbol.dispose]();
    const other = folderWith({ "index.mjs": "import './x.js'", "x.ts": "" });
    await expect(importModule(pathToFileURL(join(other, "index.mjs")).href)).rejects.toThrow("x.js");
  });
});
