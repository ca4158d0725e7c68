import { expect, test } from "vitest";
import { citedOf, groupsOf, hitTitle, isNote, kindOf, noteName, notePathOf, reasonsIn, scoreText, snippetText, type Hit, type Note } from "./memory-facts.ts";

const note = (path: string, day?: string): Note => ({ path, bytes: 1, updatedAtMs: 1, ...(day === undefined ? {} : { day }) });
const hit: Hit = { path: "MEMORY.md", startLine: 3, endLine: 5, score: 0.5, snippet: "x", source: "memory" };

test("notes are grouped: long-term memory, months from the newest on, the others", () => {
  const notes = [
    note("MEMORY.md"),
    note("memory/2026-11-02.md", "2026-11-02"),
    note("memory/2026-11-01-a-trip.md", "2026-11-01"),
    note("memory/2026-10-30.md", "2026-10-30"),
    note("memory/recipes.md"),
  ];
  const groups = groupsOf(notes);
  expect(groups.map(({ notes: members }) => members.length)).toEqual([1, 2, 1, 1]);
  expect(groups.map(({ title }) => title)).toEqual(["Long-term memory", "November 2026", "October 2026", "Other notes"]);
  expect(noteName(notes[2]!)).toMatch(/Nov.*, a trip$/);
  expect(noteName(notes[4]!)).toBe("recipes.md");
});

test("the note of today is named after the day here", () => {
  expect(notePathOf(new Date(2026, 0, 5, 0, 30))).toBe("memory/2026-01-05.md");
  expect(notePathOf(new Date("2026-01-05T02:00:00Z"), "America/New_York")).toBe("memory/2026-01-04.md");
  expect(notePathOf(new Date(2026, 0, 5, 12), "Nowhere/At-All")).toBe("memory/2026-01-05.md");
});

test("files that can be opened differ from those that are only indexed, and results by where they come from", () => {
  expect(["MEMORY.md", "memory/a/b.md", "docs/a.md", "memory/a.txt"].map(isNote)).toEqual([true, true, false, false]);
  expect(kindOf({ source: "memory", path: "memory/2026-01-05-talk.md" })).toBe("days");
  expect(kindOf({ source: "memory", path: "memory/recipes.md" })).toBe("notes");
  expect(kindOf({ source: "sessions", path: "sessions/x.jsonl" })).toBe("chats");
});

test("a result is called by its innermost heading, its file, or who said it where", () => {
  const titles = new Map([["agent:main:web:a", "Train to Trieste"]]);
  expect(hitTitle({ ...hit, heading: "People › Food" }, titles)).toBe("Food");
  expect(hitTitle(hit, titles)).toBe("MEMORY.md");
  expect(hitTitle({ ...hit, source: "sessions", role: "user", speaker: "Mara", sessionKey: "agent:main:web:a" }, titles)).toBe("Mara in Train to Trieste");
  expect(hitTitle({ ...hit, source: "sessions", role: "assistant", sessionKey: "agent:main:web:a" }, titles)).toBe("Assistant in Train to Trieste");
});

test("reasons are apart: words, related words as they are written, what speaks for it and what against", () => {
  const why = { words: ["cake"], related: ["pet → dog"], effects: [], about: [], ranked: 0.5 };
  const reasons = ["+ words: cake", "+ similar words: pet → dog", "+ recent", "− said by someone else"];
  expect(reasonsIn({ why, reasons, snippet: "Our Dogs like cake" })).toEqual({
    words: ["cake"],
    related: ["Dogs (for pet)"],
    pro: ["Recent"],
    contra: ["Said by someone else"],
  });
});

test("scores have a meaning, citations are read, and snippets are shown without marks", () => {
  expect([0.9, 0.5, 0.2, 0.01].map(scoreText)).toEqual(["Very likely", "Likely", "Possible", "Unlikely"]);
  expect(citedOf("memory/a.md#L4-L6")).toEqual({ path: "memory/a.md", startLine: 4, endLine: 6 });
  expect(citedOf("memory/a.md#L4")).toEqual({ path: "memory/a.md", startLine: 4, endLine: 4 });
  expect(snippetText("## Food\n\n- one\n- two\n\nSource: MEMORY.md#L1-L4", "People › Food")).toBe("• one\n• two");
});
