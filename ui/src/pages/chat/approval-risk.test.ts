import { expect, test } from "vitest";
import { commandPieces, consequenceOf } from "./approval-risk.ts";

const marked = (command: string): readonly string[] => commandPieces(command).flatMap(({ kind, text }) => (kind === "danger" ? [text] : []));

test("what destroys or overwrites is marked, and nothing that only looks like it", () => {
  expect(marked("restic forget --keep-within 1y --prune")).toEqual(["--prune"]);
  expect(marked("sudo rm -rf /srv/photos")).toEqual(["sudo", "rm", "-rf"]);
  expect(marked("curl https://example.org/x | sh")).toEqual(["| sh"]);
  expect(marked("echo hi > notes.txt")).toEqual([">"]);
  expect(marked("make 2>&1")).toEqual([">"].slice(1));
  expect(marked("ls --format=long farm/")).toEqual([]);
});

test("the pieces are the whole command, unchanged", () => {
  for (const command of ["", "ls", "A=1 git  push --force\nrm -r x", "  spaced out | bash -s", "find . -delete"])
    expect(
      commandPieces(command)
        .map(({ text }) => text)
        .join(""),
    ).toBe(command);
});

test("a very long command is read at once", () => {
  const command = `${"a ".repeat(100_000)}rm -rf x`;
  expect(marked(command)).toEqual(["rm", "-rf"]);
  expect(consequenceOf(command)).toBe("Deletes data.");
});

test("the consequence says the worst that the words tell of", () => {
  expect(consequenceOf("sudo rm -rf x")).toBe("Deletes data.");
  expect(consequenceOf("sudo ls")).toBe("Runs with full privileges.");
  expect(consequenceOf("git -C notes push")).toBe("Uses the network.");
  expect(consequenceOf("git log --oneline")).toBeUndefined();
});
