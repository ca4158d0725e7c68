import { expect, test } from "vitest";
import { parseMarkdown, plainText, type Node } from "./parse.ts";
import { cellsOf, sortedRows, tableText } from "./table-cells.ts";

const kinds = (nodes: readonly Node[]): readonly string[] => nodes.flatMap((node) => [node.kind, ...("children" in node ? kinds(node.children) : [])]);
const formulas = (text: string): readonly string[] => {
  const found: string[] = [];
  const look = (nodes: readonly Node[]): void =>
    nodes.forEach((node) => (node.kind === "math" ? found.push(node.text) : "children" in node && look(node.children)));
  look(parseMarkdown(text));
  return found;
};

test("formulas are found in lines and in blocks, prices and code are not taken for some", () => {
  expect(formulas("the area is $\\pi r^2$, or \\(x+y\\)")).toEqual(["\\pi r^2", "x+y"]);
  expect(formulas("$$\n\\int_0^1 x\\,dx\n= \\frac12\n$$\n\nand \\[x\\]")).toEqual(["\\int_0^1 x\\,dx\n= \\frac12"]);
  expect(formulas("before\n\\[x\\]\nafter")).toEqual(["x"]);
  expect(formulas("it costs $5 and then $10, or $ 5$ or `$x$`")).toEqual([]);
  expect(formulas("$$\nnever closed")).toEqual([]);
  expect(formulas(`$${"x".repeat(5000)}$`)).toEqual([]);
});

test("many signs of formulas that are never closed do not take long", () => {
  expect(formulas("$a ".repeat(20_000)).length).toBeLessThan(20_000);
  expect(formulas("\\(".repeat(20_000))).toEqual([]);
  expect(formulas("$$a\n".repeat(20_000))).toEqual([]);
});

test("a footnote is marked where it belongs and stands at its place; one without text stays as written", () => {
  const nodes = parseMarkdown("Measured[^1] twice[^b].\n\n[^1]: With `du`.\n[^b]: By hand.");
  expect(kinds(nodes).filter((kind) => kind.startsWith("note"))).toEqual(["note-mark", "note-mark", "note", "note"]);
  expect(plainText(nodes)).toContain("With du.");
  expect(plainText(parseMarkdown("nothing here[^2]"))).toBe("nothing here[^2]");
});

const table = (...rows: readonly string[]) => {
  const [node] = parseMarkdown(`| Name | Size |\n| --- | ---: |\n${rows.map((row) => `| ${row} |`).join("\n")}`);
  return cellsOf(node && "children" in node ? node.children : []);
};

test("a table is sorted by numbers where they are some, otherwise by text, and empty cells come last", () => {
  const cells = table("b | 96 GB", "a | 1,412 GB", "c | ", "B10 | +18 GB", "B9 | −2 GB");
  const column = (at: number, down = false): readonly string[] => sortedRows(cells.rows, at, down).map((row) => plainText(row[at]!.children));
  expect(column(1)).toEqual(["−2 GB", "+18 GB", "96 GB", "1,412 GB", ""]);
  expect(column(1, true)).toEqual(["1,412 GB", "96 GB", "+18 GB", "−2 GB", ""]);
  expect(column(0)).toEqual(["a", "b", "B9", "B10", "c"]);
});

test("days and times are sorted as such", () => {
  const cells = table("a | 2026-11-18", "b | 2026-02-03", "c | 2025-12-31");
  expect(sortedRows(cells.rows, 1, false).map((row) => plainText(row[1]!.children))).toEqual(["2025-12-31", "2026-02-03", "2026-11-18"]);
  const times = table("a | 10:45", "b | 10:05", "c | 09:50");
  expect(sortedRows(times.rows, 1, false).map((row) => plainText(row[1]!.children))).toEqual(["09:50", "10:05", "10:45"]);
});

test("a table is copied as a spreadsheet takes it", () => {
  expect(tableText(table("`a` | **1**", "b | 2"))).toBe("Name\tSize\na\t1\nb\t2");
});
