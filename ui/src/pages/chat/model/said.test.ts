import { expect, test } from "vitest";
import { withoutFileLines } from "./said.ts";

test.each([
  ["Sum it up\n📎 a.pdf\n📎 b.csv", { words: "Sum it up", names: ["a.pdf", "b.csv"], notes: [] }],
  ["Sum it up\n📎 a.pdf\n\n[media: a.pdf could not be read]", { words: "Sum it up", names: ["a.pdf"], notes: ["a.pdf could not be read"] }],
  ["📎 a.pdf", { words: "", names: ["a.pdf"], notes: [] }],
  ["none\n", { words: "none", names: [], notes: [] }],
  ["📎 mine\nis no file", { words: "📎 mine\nis no file", names: [], notes: [] }],
  ["[media: my own words]", { words: "[media: my own words]", names: [], notes: [] }],
  ["a\n[media: my own words]\n📎 a.pdf", { words: "a\n[media: my own words]", names: ["a.pdf"], notes: [] }],
])("%j", (text, parts) => expect(withoutFileLines(text)).toEqual(parts));
