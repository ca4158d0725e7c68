import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openInvokeJournal } from "./journal.ts";

const pathIn = (): string => join(mkdtempSync(join(tmpdir(), "openclaw-journal-")), "invokes");
const linesOf = (path: string): readonly string[] => readFileSync(path, "utf8").trimEnd().split("\n");

test("an id counts as begun in the process that began it, and in the next", () => {
  const path = pathIn();
  const journal = openInvokeJournal(path);
  expect(journal.begunBy("a")).toBeUndefined();
  journal.begin("a");
  expect(journal.begunBy("a")).toBe("now");
  expect(openInvokeJournal(path).begunBy("a")).toBe("before");
});

test("half a line that a kill left is no id", () => {
  const path = pathIn();
  writeFileSync(path, "a\nb c\n\0\nd");
  expect([openInvokeJournal(path).begunBy("b c"), linesOf(path)]).toEqual([undefined, ["a", "d"]]);
});

test("the file of a node that runs for long stays bounded, with the newest ids", () => {
  const path = pathIn();
  writeFileSync(path, Array.from({ length: 20 }, (_, n) => `old-${n}\n`).join(""));
  const journal = openInvokeJournal(path, 10);
  expect(linesOf(path)).toHaveLength(10);
  for (let n = 0; n <= 10; n += 1) {
    journal.begin(`new-${n}`);
    expect(linesOf(path).length).toBeLessThanOrEqual(20);
  }
  expect(linesOf(path)).toHaveLength(10);
  expect([journal.begunBy("old-19"), journal.begunBy("new-1"), journal.begunBy("new-10")]).toEqual([undefined, "now", "now"]);
});
