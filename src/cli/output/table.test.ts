import { expect, test } from "vitest";
import { createStyle } from "./style.ts";
import { formatTable } from "./table.ts";

const style = createStyle(false);
const LONG = "openai:alex@example.com rests 4h 12m after rate_limit; all models rest 3m after overloaded";

test("on a narrow terminal only the last column is cut, and not where it is wanted whole", () => {
  const rows = [["anthropic:alex@example.com", "2026-11-16 12:00:00Z (4h 12m)", "HTTP 429: too many requests, and many more words about it"]];
  const cut = formatTable(["Credential", "Until", "Why"], rows, { style, columns: 80 });
  expect(cut).toContain("2026-11-16 12:00:00Z (4h 12m)");
  expect(Math.max(...cut.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(80);
  expect(formatTable(["Profile", "State"], [["openai:work", LONG]], { style, columns: 80 })).not.toContain(LONG);
  expect(formatTable(["Profile", "State"], [["openai:work", LONG]], { style, columns: 80, whole: true })).toContain(LONG);
});
