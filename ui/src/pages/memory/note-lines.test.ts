import { expect, test } from "vitest";
import { drawnLine, noteBlocks } from "./note-lines.ts";

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
