import { expect, test } from "vitest";
import { parseSimpleMarkdown } from "./simple-markdown.ts";

const plain = (text: string) => ({ kind: "text", text });

test("headings, lists, code, strong and emphasised words are read", () => {
  expect(parseSimpleMarkdown("# Menu\nToday **soup**, *bread* and `tea`\n\n- one\n- two\n1. first\n```\n**as written**\n```")).toEqual([
    { kind: "heading", level: 1, spans: [plain("Menu")] },
    {
      kind: "paragraph",
      spans: [plain("Today "), { kind: "strong", text: "soup" }, plain(", "), { kind: "em", text: "bread" }, plain(" and "), { kind: "code", text: "tea" }],
    },
    { kind: "list", isOrdered: false, items: [[plain("one")], [plain("two")]] },
    { kind: "list", isOrdered: true, items: [[plain("first")]] },
    { kind: "code", text: "**as written**" },
  ]);
});

test.each(["2 * 3 * 4", "snake_case_name", "<b onclick=x>bold</b>", "[a](javascript:alert(1))", "![a](https://a.b/c.png)", "*open", "#hash", "** **"])(
  "%s stays as it is written",
  (text) => {
    expect(parseSimpleMarkdown(text)).toEqual([{ kind: "paragraph", spans: [plain(text)] }]);
  },
);

test("hostile texts are read in linear time", () => {
  for (const text of ["*".repeat(200_000), "_a ".repeat(70_000), "`".repeat(100_001), "- ".repeat(100_000), "**a ".repeat(50_000), "# ".repeat(50_000)])
    expect(parseSimpleMarkdown(text).length).toBeGreaterThanOrEqual(0);
});
