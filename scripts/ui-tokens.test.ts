import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..", "ui", "src");
const sources = readdirSync(ROOT, { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  // The canvas is the agent's own page.
  .filter((path) => /\.(?:ts|css)$/.test(path) && !/\.test\.ts$|^canvas\//.test(path))
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));

test("sizes of type are tokens", () => {
  const literal = sources.flatMap(({ path, text }) => [...text.matchAll(/(?:font-size: |font: (?:\d+ )?)[\d.]+px/g)].map(([found]) => `${path}: ${found}`));
  expect(literal).toEqual([]);
});

test("every token that is used is declared", () => {
  const declared = new Set(sources.flatMap(({ text }) => [...text.matchAll(/(--[a-z][\w-]*):/g)].map(([, name]) => name)));
  const missing = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/var\((--type-[\w-]+|--motion|--calm)/g)].filter(([, name]) => !declared.has(name)).map(([, name]) => `${path}: ${name}`),
  );
  expect(missing).toEqual([]);
});

test("more contrast is the same whether the system or the reader asks for it", () => {
  const { text } = sources.find(({ path }) => path === "look/tokens.css")!;
  const block = (start: string): string[] => {
    const from = text.indexOf(start);
    return [...text.slice(from, text.indexOf("}", from)).matchAll(/--[\w-]+: [^;]+;/g)].map(([found]) => found);
  };
  expect(block("@media (prefers-contrast: more)").length).toBeGreaterThan(10);
  expect(block(':root[data-contrast="more"]')).toEqual(block("@media (prefers-contrast: more)"));
});
