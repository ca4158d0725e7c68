import { expect, test } from "vitest";
import { arranged, marked, readInput, type Entry, type Group } from "./entries.ts";

const entry = (group: Group, label: string, hint = "", id = `${group} ${label}`): Entry => ({ id, group, icon: "chat", label, hint, run: () => undefined });

const labels = (entries: readonly Entry[]): readonly string[] => entries.map(({ label }) => label);

test("the first letter narrows the list: commands, chats, settings", () => {
  expect([">theme", "@ jonas ", "#model", "plain > text", "  >x"].map(readInput)).toEqual([
    { mode: "commands", words: "theme" },
    { mode: "chats", words: "jonas" },
    { mode: "settings", words: "model" },
    { mode: "all", words: "plain > text" },
    { mode: "commands", words: "x" },
  ]);
});

test("groups come in their order, whatever fits best, and in a group what begins with the words is first", () => {
  const entries = [
    entry("pages", "Backups"),
    entry("chats", "Laptop backup"),
    entry("chats", "Backup plan"),
    entry("object", "Run backup"),
    entry("chats", "Other", "about backup"),
  ];
  expect(labels(arranged(entries, "all", "backup"))).toEqual(["Run backup", "Backup plan", "Laptop backup", "Other", "Backups"]);
});

test("one mistyped letter of a longer word is forgiven, and what was typed right comes first", () => {
  const entries = [entry("pages", "Backups"), entry("pages", "Backusp notes"), entry("pages", "Approvals"), entry("pages", "Logs")];
  expect(labels(arranged(entries, "all", "backusp"))).toEqual(["Backusp notes", "Backups"]);
  expect(["aprovals", "approvasl", "approvels", "approvalls", "aprov"].map((typed) => labels(arranged(entries, "all", typed)))).toEqual(
    Array.from({ length: 5 }, () => ["Approvals"]),
  );
  expect(["lgs", "backing", "apr0vels"].map((typed) => labels(arranged(entries, "all", typed)))).toEqual([[], [], []]);
});

test("every word has to be there, and an entry is there once", () => {
  const entries = [
    entry("recent", "Photo backup", "", "chat 1"),
    entry("chats", "Photo backup", "", "chat 1"),
    entry("chats", "Photo backup", "", "chat 1"),
    entry("chats", "Photo album"),
  ];
  expect(labels(arranged(entries, "all", "photo back"))).toEqual(["Photo backup"]);
  expect(arranged(entries, "commands", "")).toEqual([]);
});

test("what was typed is marked, whatever characters it has", () => {
  expect(marked("Fallback (back)", "back")).toEqual([
    { text: "Fall", isFound: false },
    { text: "back", isFound: true },
    { text: " (", isFound: false },
    { text: "back", isFound: true },
    { text: ")", isFound: false },
  ]);
  expect(marked("a.b", ".")).toEqual([
    { text: "a", isFound: false },
    { text: ".", isFound: true },
    { text: "b", isFound: false },
  ]);
});
