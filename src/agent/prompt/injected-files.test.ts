import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { BootstrapFile } from "../workspace/bootstrap-names.ts";
import { injectFiles } from "./injected-files.ts";

const file = (name: string, content?: string): BootstrapFile => ({
  name,
  path: `/w/${name}`,
  ...(content === undefined ? {} : { content }),
  missing: content === undefined,
});

test("a file that fits is shown as it is, without its trailing blank lines", () => {
  expect(injectFiles([file("A.md", "  one\ntwo\n\n")]).files[0]).toEqual({
    name: "A.md",
    path: "/w/A.md",
    missing: false,
    rawChars: 11,
    truncated: false,
    text: "  one\ntwo",
  });
});

test("a missing file is one line that says where it was expected", () => {
  expect(injectFiles([file("A.md")]).files[0]).toMatchObject({ missing: true, rawChars: 0, text: "[MISSING] Expected at: /w/A.md" });
});

test("a file that was refused says why", () => {
  expect(injectFiles([{ ...file("A.md"), missing: false, refused: "it leads out" }]).files[0]?.text).toBe("[NOT READ] /w/A.md: it leads out");
});

test("an empty file shows nothing and takes no space", () => {
  expect(injectFiles([file("A.md", " \n")]).files[0]).toMatchObject({ text: "", truncated: false, missing: false });
});

test("a long file keeps 70 percent at the beginning, 20 at the end and says what is left out", () => {
  const text = `${"a".repeat(30_000)}${"z".repeat(30_000)}`;
  const [shown] = injectFiles([file("TOOLS.md", text)]).files;
  expect(shown).toMatchObject({ rawChars: 60_000, truncated: true });
  expect(shown!.text).toMatch(/^a{14000}\n\[… 42000 of 60000 characters are left out here; read TOOLS\.md for all of it …\]\nz{4000}$/);
});

test("a file of which only a part was read counts as cut", () => {
  const [shown] = injectFiles([{ ...file("A.md", "part"), rawChars: 9_000_000 }]).files;
  expect(shown).toMatchObject({ rawChars: 9_000_000, truncated: true });
});

test("all files together stay below the total, and later ones are left out when nearly nothing is left", () => {
  const { files } = injectFiles([file("A.md", "a".repeat(900)), file("B.md", "b".repeat(900)), file("C.md", "c")], { maxChars: 1000, totalMaxChars: 1000 });
  expect(files.map(({ name, truncated }) => [name, truncated])).toEqual([
    ["A.md", false],
    ["B.md", true],
    ["C.md", true],
  ]);
  expect(files[2]?.text).toBe("");
});

test("whatever the files are, no limit is passed and no character is halved", () => {
  const contents = fc.array(fc.option(fc.string({ unit: "grapheme-composite", maxLength: 400 }), { nil: undefined }), { maxLength: 6 });
  fc.assert(
    fc.property(contents, fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 1500 }), (all, maxChars, totalMaxChars) => {
      const { files } = injectFiles(
        all.map((content, index) => file(`${index}.md`, content)),
        { maxChars, totalMaxChars },
      );
      expect(files.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(totalMaxChars);
      for (const { text } of files) {
        expect(text.length).toBeLessThanOrEqual(maxChars);
        expect(text.isWellFormed()).toBe(true);
      }
    }),
  );
});
