import { expect, test } from "vitest";
import { drawnLine, noteBlocks, occurrence, splitAtLine, writtenLine } from "./note-lines.ts";

const NOTE = "\n# People\n\n- **Jonas**: nuts\n- Mara\n\n\n```\ncode\n\nmore\n```\n\nend";

test("the parts of a note know their lines, also behind empty ones and in code", () => {
  expect(noteBlocks(NOTE).map(({ text, first }) => [text.trim().split("\n")[0], first])).toEqual([
    ["# People", 2],
    ["- **Jonas**: nuts", 4],
    ["```", 8],
    ["end", 14],
  ]);
});

test("a line reads as it is drawn", () => {
  expect(drawnLine(NOTE, 4)).toBe("Jonas: nuts");
  expect(drawnLine(NOTE, 2)).toBe("People");
  expect(drawnLine(NOTE, 99)).toBe("");
});

test("a text that is not drawn is taken apart at a line", () => {
  expect(splitAtLine("a\nb\nc", 2)).toEqual(["a\n", "b", "\nc"]);
  expect(splitAtLine("a\nb", 2)).toEqual(["a\n", "b", ""]);
  expect(splitAtLine("a\nb", 3)).toEqual(["a\nb", undefined, ""]);
  expect(splitAtLine("a\nb", undefined)).toEqual(["a\nb", undefined, ""]);
});

test("lines that read alike are distinguished, and an empty one stands for the next", () => {
  const text = "- eggs\n- milk\n- eggs\n\n- rye";
  expect([occurrence(text, 1, 1), occurrence(text, 3, 1), occurrence(text, 3, 2)]).toEqual([0, 1, 0]);
  expect([writtenLine(text, 4), writtenLine(text, 5), writtenLine(text, 99)]).toEqual([5, 5, 99]);
});
