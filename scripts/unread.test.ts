import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { UNCALLED } from "../src/plugins/registry/uncalled.ts";
import { added, isRead, page, uncalledMembers, unreadSettings } from "./unread.ts";

const PAGE = readFileSync(new URL("../docs/not-supported.md", import.meta.url), "utf8");

test("every setting that is accepted is read by some code, or a warning says that it has no effect", () => {
  expect(unreadSettings(), "accepted and read by nobody: read it, or do not accept it").toEqual([]);
});

test("every member of the channel contract is called, or plugins that bring it are named", () => {
  expect(uncalledMembers()).toEqual([...UNCALLED].sort());
});

test("docs/not-supported.md names what has no effect; nothing is added to it", () => {
  const made = page();
  expect(added(PAGE, made), "this has no effect: the page may only lose names").toEqual([]);
  expect(made, "something works now: run node scripts/unread.ts").toBe(PAGE);
});

test("a name that the page did not have is found, in the table and in the list", () => {
  expect(added("- `a`\n- `b.c`\n| x | `d`, `e` | |", "- `a`\n- `b`\n| x | `d`, `f` | |")).toEqual(["b", "f"]);
});

test("a setting of an account is read where the code knows of accounts", () => {
  const file = { path: "src/x.ts", names: new Set(["native"]), pairs: new Set<string>(), words: new Set(["channel", "commands"]) };
  const [ofChannel, ofAccount] = [
    ["channels", "slack", "commands", "native"],
    ["channels", "slack", "accounts", "*", "commands", "native"],
  ];
  expect([isRead(ofChannel, [file]), isRead(ofAccount, [file])]).toEqual([true, false]);
  expect(isRead(ofAccount, [{ ...file, words: new Set([...file.words, "accountId"]) }])).toBe(true);
});
