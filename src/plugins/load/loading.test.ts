import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { entryIn, folderWith, write } from "./plugin-on-disk.ts";
import { createHostPackages, createModuleLoader, type LoadedModule } from "./index.ts";

const sdkDir = folderWith({
  "index.ts": `import { ids } from "./state.ts"; export const sdkVersion: string = "1"; export const seen = ids; export const note = (id: string): void => void ids.push(id);`,
  "state.ts": `export const ids: string[] = [];`,
  "account-id.js": `export const DEFAULT_ACCOUNT_ID = "default"; export { seen } from "./index.ts";`,
});
const loader = createModuleLoader({
  sdkDir,
  hostPackages: createHostPackages({ bundled: { zod: fileURLToPath(import.meta.resolve("zod")) } }),
  clock: systemClock,
});
afterAll(() => loader[Symbol.dispose]());

const load = (files: Readonly<Record<string, string>>, source = "index.ts", id = "sample"): Promise<LoadedModule> =>
  loader.load(entryIn(folderWith(files), source, { id }), 1);
/** What the plugin's register answers. */
async function answer(files: Readonly<Record<string, string>>, source = "index.ts"): Promise<unknown> {
  const { definition } = await load(files, source);
  return await (definition.register ?? definition.activate)?.("api");
}

describe("what a plugin may export", () => {
  const ESM = {
    "a default function": "export default function register(api) { return api + '!'; }",
    "a default async arrow": "export default async (api) => api + '!';",
    "a default object with register": "export default { id: 'x', name: 'X', version: '2', tail: '!', register(api) { return api + this.tail; } };",
    "a default object with activate": "export default { activate: (api) => api + '!' };",
    "named functions": "export const id = 'x'; export function register(api) { return api + '!'; }",
  };
  const COMMONJS = {
    "a function": "module.exports = (api) => api + '!';",
    "an object": "module.exports = { tail: '!', register(api) { return api + this.tail; } };",
    "named exports": "exports.register = (api) => api + '!';",
    "a compiled default": "Object.defineProperty(exports, '__esModule', { value: true }); exports.default = { register: (api) => api + '!' };",
    "an object with default": "module.exports = { default: (api) => api + '!' };",
  };
  for (const extension of [".ts", ".mts", ".js", ".mjs"]) {
    for (const [name, code] of Object.entries(ESM)) {
      test(`${extension}: ${name}`, async () =>
        expect(await answer({ [`index${extension}`]: extension.endsWith("ts") ? code.replace("(api)", "(api: string)") : code }, `index${extension}`)).toBe(
          "api!",
        ));
    }
  }
  for (const extension of [".ts", ".cts", ".js", ".cjs"]) {
    for (const [name, code] of Object.entries(COMMONJS)) {
      test(`${extension}: CommonJS with ${name}`, async () =>
        expect(await answer({ [`index${extension}`]: extension.endsWith("ts") ? code.replace("(api)", "(api: string)") : code }, `index${extension}`)).toBe(
          "api!",
        ));
    }
  }

  test("register and activate both, with the fields beside them", async () => {
    const { definition } = await load({
      "index.ts": "export default { id: 'x', name: 'X', version: '2', kind: 'memory', configSchema: { a: 1 }, register: () => 1, activate: () => 2 }",
    });
    expect(definition).toMatchObject({ id: "x", name: "X", version: "2", kind: "memory", configSchema: { a: 1 } });
    expect([definition.register?.(0), definition.activate?.(0)]).toEqual([1, 2]);
  });

  test("neither is refused", async () => {
    for (const code of ["export default { id: 'x' };", "export const x = 1;", "export default 5;", "export default null;"]) {
      await expect(load({ "index.ts": code })).rejects.toMatchObject({
        code: "PLUGIN_FAILED",
        message: "plugin export missing register/activate",
        details: { pluginId: "sample", phase: "export" },
      });
    }
  });

  test("ESM syntax wins over what package.json says", async () => {
    for (const name of ["index.js", "index.ts"])
      expect(await answer({ "package.json": '{"type":"commonjs"}', [name]: "export default () => 1" }, name)).toBe(1);
  });
});

describe("specifiers", () => {
  const CASES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    "./x.js": { "x.ts": "export const x: number = 1" },
    "./x.mjs": { "x.mts": "export const x: number = 1" },
    "./x.cjs": { "x.cts": "const y: number = 1; exports.x = y" },
    "./x.jsx": { "x.tsx": "export const x: number = 1" },
    "./x": { "x.ts": "export const x: number = 1" },
    "./x.config": { "x.config.ts": "export const x: number = 1" },
    "./d": { "d/index.ts": "export const x: number = 1" },
    "./d/": { "d/index.js": "export const x = 1" },
    "./m": { "m/package.json": '{"main":"lib/main.js"}', "m/lib/main.ts": "export const x: number = 1" },
    "./data.json": { "data.json": '{"x":1,"a-b":2}' },
    own: { "node_modules/own/package.json": '{"exports":{".":"./a.js"},"type":"module"}', "node_modules/own/a.js": "export const x = 1" },
    "typed/sub": {
      "node_modules/typed/package.json": '{"exports":{"./sub":"./sub.ts"}}',
      "node_modules/typed/sub.ts": "enum A { x = 1 } export const x: number = A.x",
    },
    "deep/lib/x": { "node_modules/deep/package.json": '{"name":"deep"}', "node_modules/deep/lib/x.js": "exports.x = 1" },
    "#inner": { "package.json": '{"type":"module","imports":{"#inner":"./inner.ts"}}', "inner.ts": "export const x: number = 1" },
  };
  for (const [specifier, files] of Object.entries(CASES)) {
    test(`${specifier} is found by import and by import()`, async () => {
      const index = `import { x } from "${specifier}"; export default async () => [x, (await import("${specifier}")).x];`;
      expect(await answer({ ...files, "index.ts": index })).toEqual([1, 1]);
    });
    test(`${specifier} is found by require`, async () =>
      expect(await answer({ ...files, "index.cts": `const { x } = require("${specifier}"); module.exports = () => x;` }, "index.cts")).toBe(1));
  }

  test("a file outside of the folder is taken in with its imports", async () => {
    const folder = folderWith({
      "shared/x.ts": `import { sdkVersion } from "openclaw/plugin-sdk"; export const x: string = sdkVersion;`,
      "p/index.ts": `import { x } from "../shared/x.js"; export default () => x;`,
    });
    const { definition } = await loader.load(entryIn(join(folder, "p"), "index.ts"), 1);
    expect(definition.register?.(0)).toBe("1");
  });

  test("JSON with an import attribute, and a module that needs __dirname and require", async () => {
    const files = {
      "index.ts": `import data from "./d.json" with { type: "json" }; import { y } from "./y.js"; export default () => [data.a, y];`,
      "d.json": '{"a":1}',
      "y.ts": `export const y = [typeof __dirname, typeof __filename, require("./z.cjs")];`,
      "z.cjs": "module.exports = 3",
    };
    expect(await answer(files)).toEqual([1, ["string", "string", 3]]);
  });

  test("files that import each other load where that is legal", async () => {
    expect(
      await answer({
        "index.ts": `import { even } from "./a.js"; export default () => even(4);`,
        "a.ts": `import { odd } from "./b.js"; export const even = (n: number): boolean => n === 0 || odd(n - 1);`,
        "b.ts": `import { even } from "./a.js"; export const odd = (n: number): boolean => n !== 0 && even(n - 1);`,
      }),
    ).toBe(true);
  });
});

describe("the host's modules", () => {
  test("the SDK is one instance for import, import() and require, in all plugins", async () => {
    const first = await answer({
      "index.ts": `import * as sdk from "openclaw/plugin-sdk"; export default async () => [sdk.seen, (await import("openclaw/plugin-sdk/index.js")).seen, (await import("openclaw/plugin-sdk/account-id")).seen];`,
    });
    const second = await answer(
      { "index.cjs": `module.exports = () => [require("openclaw/plugin-sdk").seen, require("openclaw/plugin-sdk/account-id.js").seen];` },
      "index.cjs",
    );
    const [seen, ...others] = [...(first as unknown[]), ...(second as unknown[])];
    expect(seen).toEqual([]);
    expect(others.map((other) => other === seen)).toEqual([true, true, true, true]);
  });

  test("an SDK that the plugin installed is not taken", async () => {
    expect(
      await answer({
        "index.ts": `import { sdkVersion } from "openclaw/plugin-sdk"; export default () => sdkVersion;`,
        "node_modules/openclaw/package.json": '{"exports":{"./plugin-sdk":"./sdk.js"}}',
        "node_modules/openclaw/sdk.js": "exports.sdkVersion = 'theirs'",
      }),
    ).toBe("1");
  });

  test("packages come from the plugin first, then from the host", async () => {
    const index = `import { z } from "zod"; import { Type } from "@sinclair/typebox"; import WebSocket from "ws"; export default () => [z.own === true, typeof z.object, Type.String().type, typeof WebSocket];`;
    expect(await answer({ "index.ts": index })).toEqual([false, "function", "string", "function"]);
    expect(
      await answer({
        "index.ts": index,
        "node_modules/zod/index.mjs": "export const z = { own: true };",
        "node_modules/zod/package.json": '{"exports":"./index.mjs"}',
      }),
    ).toEqual([true, "undefined", "string", "function"]);
  });

  test("the host's zod is one instance for import and require, and that of the SDK", async () => {
    write(join(sdkDir, "schemas.ts"), `import { z } from ${JSON.stringify(import.meta.resolve("zod"))}; export const hostZod = z;`);
    const [imported, sdk, required] = (await answer({
      "index.ts": `import { z } from "zod"; import { hostZod } from "openclaw/plugin-sdk/schemas"; export default () => [z, hostZod, require("zod").z, new (require("ws").WebSocketServer)({ noServer: true })];`,
    })) as unknown[];
    expect([imported === sdk, imported === required]).toEqual([true, true]);
  });

  test("of the host nothing but the SDK can be imported", async () => {
    await expect(load({ "index.ts": `\nimport x from "openclaw/dist/extensionAPI.js";\nexport default x;` })).rejects.toMatchObject({
      code: "PLUGIN_FAILED",
      message: expect.stringContaining("openclaw/dist/extensionAPI.js"),
      details: { line: 2, phase: "resolve" },
    });
  });
});
