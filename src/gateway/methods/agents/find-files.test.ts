import { expect, test } from "vitest";
import { slowClock, turnsOfOthers } from "../../../base/slices.fixture.ts";
import { bestFiles } from "./find-files.ts";

const files = (count: number, name: (n: number) => string) => Array.from({ length: count }, (_, n) => ({ path: name(n), kind: "file" as const }));
const pathsOf = (found: Awaited<ReturnType<typeof bestFiles>>): string[] => found.map(({ path }) => path);

test("a large workspace is looked through in slices", async () => {
  const { result, turns } = await turnsOfOthers(() =>
    bestFiles(
      files(5000, (n) => `part/file-${n}.txt`),
      { query: "file", limit: 10, clock: slowClock() },
    ),
  );
  expect(result).toHaveLength(10);
  expect(turns).toBeGreaterThan(500);
});

test("the best of many files is found wherever it stands, and of equals the higher and shorter comes first", async () => {
  const many = [...files(3000, (n) => `deep/in/it/note-${n}.md`), ...files(3000, (n) => `top-note-${n}.md`)];
  for (const place of [0, 2500, 6000]) {
    const all = many.toSpliced(place, 0, { path: "deep/note", kind: "file" });
    const found = pathsOf(await bestFiles(all, { query: "note", limit: 3, clock: slowClock() }));
    // Names that are it, then those that begin with it, whose word does, and so on.
    expect(found).toEqual(["deep/note", "deep/in/it/note-0.md", "deep/in/it/note-1.md"]);
  }
});

test("letters in their order count only where no file has the text itself", async () => {
  const all = [...files(1500, (n) => `n-o-t-e-${n}.md`), { path: "a/note.md", kind: "file" as const }];
  const find = async (query: string) => pathsOf(await bestFiles(all, { query, limit: 5, clock: slowClock() }));
  expect(await find("note")).toEqual(["a/note.md"]);
  expect(await find("noe1499")).toEqual(["n-o-t-e-1499.md"]);
});
