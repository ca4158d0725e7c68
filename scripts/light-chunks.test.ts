import { expect, test } from "vitest";
import { inAscii, lightBuiltins } from "./light-chunks.ts";

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
