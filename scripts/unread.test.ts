import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { added, page } from "./unread.ts";

const PAGE = readFileSync(new URL("../docs/not-supported.md", import.meta.url), "utf8");

test("docs/not-supported.md names what is accepted and has no effect; nothing is added to it", () => {
  const made = page();
  expect(added(PAGE, made), "accepted and read by nobody: read it, or do not accept it").toEqual([]);
  expect(made, "something works now: run node scripts/unread.ts").toBe(PAGE);
});

test("a name that the page did not have is found", () => {
  expect(added("- `a`\n- `b.c`\n", "- `a`\n- `b`\n")).toEqual(["b"]);
});
