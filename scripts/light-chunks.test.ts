import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { inAscii, lightBuiltins, onceLoaded } from "./light-chunks.ts";

test("named and default imports of the runtime's modules become questions to the runtime", () => {
  const code = `import { a, b as c } from "node:fs";\nimport path from "node:path";\nimport { x } from "./x.js";\n`;
  expect(lightBuiltins(code)).toBe(
    `const { a, b: c } = globalThis.process.getBuiltinModule("node:fs");\nconst path = globalThis.process.getBuiltinModule("node:path");\nimport { x } from "./x.js";\n`,
  );
});

test("imports that a list of names cannot say stay imports", () => {
  const code = `import { default as fs, statSync } from "node:fs";\nimport * as os from "node:os";\n`;
  expect(lightBuiltins(code)).toBe(code);
});

test("code in ASCII means the same", async () => {
  const code = 'export const text = "a → b 😀", at = /[→…]/u;';
  const plain = inAscii(code);
  expect(plain).toMatch(/^[\x20-\x7e]+$/);
  const { text, at } = (await import(`data:text/javascript,${encodeURIComponent(plain)}`)) as { text: string; at: RegExp };
  expect([text, at.test("…")]).toEqual(["a → b 😀", true]);
});

test("a chunk that was loaded stays loaded when its file goes; one that could not be loaded is tried again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "light-chunks-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const code = 'export const one = () => import("./one.js");\nexport const two = async () => (await import("./two.js")).two;\n';
  writeFileSync(join(folder, "all.mjs"), onceLoaded(code));
  writeFileSync(join(folder, "one.js"), "export const one = 1;");
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const all = (await import(join(folder, "all.mjs"))) as { one(): Promise<{ one: number }>; two(): Promise<number> };
  expect((await all.one()).one).toBe(1);
  rmSync(join(folder, "one.js"));
  expect((await all.one()).one).toBe(1);
  await expect(all.two()).rejects.toThrow("Cannot find module");
  writeFileSync(join(folder, "two.js"), "export const two = 2;");
  expect(await all.two()).toBe(2);
});

test("code without late chunks stays as it is", () => {
  const code = 'const fs = await import("node:fs"), other = await import(url);';
  expect(onceLoaded(code)).toBe(code);
});
