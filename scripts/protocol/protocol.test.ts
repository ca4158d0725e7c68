import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";
import { EVENTS, METHODS } from "../../src/protocol/catalog.ts";
import { frozenProtocol } from "./frozen.ts";
import { protocolPage } from "./page.ts";
import { protocolSchema } from "./schema.ts";
import { shapeText } from "./shape.ts";

test("the page in docs says what is declared", () => {
  expect(readFileSync(new URL("../../docs/protocol.md", import.meta.url), "utf8")).toBe(protocolPage());
});

test("the page names every method and event once in its tables", () => {
  const page = protocolPage();
  for (const name of Object.keys(METHODS)) expect(page.split(`| \`${name}\``).length, name).toBe(name in EVENTS ? 3 : 2);
  for (const name of Object.keys(EVENTS)) expect(page, name).toContain(`| \`${name}\`<br>`);
});

test("every reference in the schema document leads somewhere, and the document is plain JSON", () => {
  const schema = protocolSchema();
  const text = JSON.stringify(schema);
  expect(JSON.parse(text)).toEqual(schema);
  const definitions = schema["definitions"] as Record<string, unknown>;
  const refs = [...text.matchAll(/"\$ref":"#\/definitions\/([^"]+)"/gu)].map((match) => match[1]!);
  expect(refs.length).toBe(3 + Object.keys(METHODS).length * 2 + Object.keys(EVENTS).length);
  for (const ref of refs) expect(definitions, ref).toHaveProperty([ref]);
});

test("a shape is written in one line", () => {
  const schema = {
    type: "object",
    properties: {
      key: { type: "string", minLength: 1 },
      limit: { type: "integer", minimum: 1, maximum: 50, default: 12 },
      kind: { anyOf: [{ enum: ["a", "b"] }, { type: "null" }] },
    },
    required: ["key"],
    additionalProperties: false,
  };
  expect(shapeText(schema)).toBe('{key: text, limit?: whole 1..50 (12), kind?: "a" / "b" / null}');
});

test("the bundled module loads no schema library, and its validators come in a chunk of their own", async () => {
  const folder = fileURLToPath(new URL("../../src/protocol", import.meta.url));
  const index = join(folder, "index.ts");
  const entry = {
    name: "entry",
    resolveId: (id: string) => (id === "entry" ? id : undefined),
    load: (id: string) => (id === "entry" ? `export { METHODS, EVENTS, loadValidators } from ${JSON.stringify(index)};` : undefined),
  };
  const bundle = await rolldown({ input: "entry", platform: "node", plugins: [entry, frozenProtocol()] });
  const { output } = await bundle.generate({ format: "esm" });
  await bundle.close();
  const chunks = output.filter((file) => file.type === "chunk");
  expect(chunks.flatMap((chunk) => chunk.moduleIds).filter((id) => id.includes("node_modules"))).toEqual([]);
  const first = chunks.find((chunk) => chunk.isEntry)!;
  expect(first.moduleIds.map((id) => relative(folder, id)).filter((id) => /validators|schemas|check/u.test(id))).toEqual([]);
  expect(chunks.filter((chunk) => !chunk.isEntry).flatMap((chunk) => chunk.moduleIds).length).toBeGreaterThan(0);
  expect(first.code).toContain("sessions.usage.timeseries");
});
