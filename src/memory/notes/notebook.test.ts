import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { createIds } from "../../base/ids.ts";
import { seededRandom } from "../../base/random.ts";
import { noteItem } from "./note-path.ts";
import { createNotebook, type Notebook } from "./notebook.ts";

const HOUR = 3_600_000;

let folder: string;
let workspace: string;
let clock = manualClock();
let changed: string[];
let notes: Notebook;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "notes-"));
  workspace = join(folder, "workspace");
  clock = manualClock(Date.parse("2026-11-17T23:30:00Z"));
  changed = [];
  notes = createNotebook({
    clock,
    ids: createIds(seededRandom(1)),
    stateDir: join(folder, "state"),
    workspaceOf: () => workspace,
    changed: (agentId) => changed.push(agentId),
  });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("notes are listed with MEMORY.md first, then days from the newest on, then the others; links and other files are not notes", async () => {
  expect(await notes.list("main")).toEqual({ notes: [], truncated: false });
  mkdirSync(join(workspace, "memory", "people"), { recursive: true });
  for (const name of ["MEMORY.md", "memory/zoo.md", "memory/2026-01-02.md", "memory/2026-01-03-trip.md", "memory/people/ida.md", "memory/list.txt"])
    writeFileSync(join(workspace, name), "x");
  symlinkSync(join(workspace, "MEMORY.md"), join(workspace, "memory", "link.md"));
  const { notes: listed } = await notes.list("main");
  expect(listed.map(({ path, day }) => [path, day])).toEqual([
    ["MEMORY.md", undefined],
    ["memory/2026-01-03-trip.md", "2026-01-03"],
    ["memory/2026-01-02.md", "2026-01-02"],
    ["memory/people/ida.md", undefined],
    ["memory/zoo.md", undefined],
  ]);
});

test("a note is written in one step, and not when it is another one by now", async () => {
  const made = await notes.set("main", { path: "memory/a.md", text: "one\n", hash: "" });
  expect(readFileSync(join(workspace, "memory", "a.md"), "utf8")).toBe("one\n");
  await expect(notes.set("main", { path: "memory/a.md", text: "two\n", hash: "" })).rejects.toMatchObject({ code: "CONFLICT" });
  writeFileSync(join(workspace, "memory", "a.md"), "by someone else\n");
  await expect(notes.set("main", { path: "memory/a.md", text: "two\n", hash: made.hash })).rejects.toMatchObject({
    code: "CONFLICT",
    details: { reason: "CONFLICT" },
  });
  const { hash } = await notes.get("main", "memory/a.md");
  expect(await notes.set("main", { path: "memory/a.md", text: "two\n", hash })).toMatchObject({ path: "memory/a.md", text: "two\n" });
  expect(changed).toEqual(["main", "main"]);
  expect(readdirSync(join(workspace, "memory"))).toEqual(["a.md"]);
});

test("only notes are written: nothing else of the workspace, nothing outside, nothing behind a link", async () => {
  mkdirSync(join(folder, "elsewhere"));
  mkdirSync(join(workspace, "memory"), { recursive: true });
  symlinkSync(join(folder, "elsewhere"), join(workspace, "memory", "out"));
  for (const path of [
    "AGENTS.md",
    "../x.md",
    "memory/../AGENTS.md",
    "memory/a.txt",
    "/etc/x.md",
    "memory",
    "",
    "memory//a.md",
    "memory/.md/..",
    "memory/out/a.md",
    "memory/a\0.md",
  ]) {
    await expect(notes.set("main", { path, text: "x" }), path).rejects.toMatchObject({ code: "INVALID_INPUT" });
  }
  expect(readdirSync(join(folder, "elsewhere"))).toEqual([]);
});

test("a removed note can be restored for a day, then nothing of it is left", async () => {
  await notes.set("main", { path: "memory/a.md", text: "keep me\n" });
  const { undo, undoUntil } = await notes.remove("main", "memory/a.md");
  expect(undoUntil).toBe(clock.now() + 24 * HOUR);
  expect(existsSync(join(workspace, "memory", "a.md"))).toBe(false);
  clock.advance(23 * HOUR);
  expect(await notes.restore(undo)).toMatchObject({ agentId: "main", path: "memory/a.md", text: "keep me\n" });
  await expect(notes.restore(undo)).rejects.toMatchObject({ code: "NOT_FOUND" });
  const again = await notes.remove("main", "memory/a.md");
  await notes.set("main", { path: "memory/a.md", text: "another\n" });
  await expect(notes.restore(again.undo)).rejects.toMatchObject({ code: "CONFLICT" });
  clock.advance(24 * HOUR);
  await expect.poll(() => readdirSync(join(folder, "state", "memory", "removed"))).toEqual([]);
  await expect(notes.restore(again.undo)).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(notes.restore("../../x")).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(notes.remove("main", "memory/none.md")).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("removed notes are erased when their text is to be gone, those of other agents stay", async () => {
  await notes.set("main", { path: "memory/a.md", text: "secret\n" });
  const own = await notes.remove("main", "memory/a.md");
  await notes.set("other", { path: "memory/a.md", text: "secret\n" });
  const others = await notes.remove("other", "memory/a.md");
  expect(await notes.eraseRemoved("main", (text) => text.includes("secret"))).toBe(1);
  await expect(notes.restore(own.undo)).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await notes.restore(others.undo)).toMatchObject({ text: "secret\n" });
});

test("an edit is made on what the file holds then", async () => {
  await notes.set("main", { path: "memory/a.md", text: "1\n" });
  expect(await notes.edit("main", "memory/a.md", (text) => `${text}2\n`)).toMatchObject({ text: "1\n2\n" });
  expect(await notes.edit("main", "memory/a.md", () => undefined)).toMatchObject({ text: "1\n2\n" });
});

describe("an item", () => {
  const now = Date.parse("2026-11-17T23:30:00Z");

  test("goes into the note of the user's day, with the user's time", () => {
    const item = noteItem("Call Ida\nabout the loft", { always: false, now, timeZone: "Europe/Berlin" });
    expect(item.path).toBe("memory/2026-11-18.md");
    expect(item.added("")).toEqual({ text: "# 2026-11-18\n\n- 00:30 Call Ida\n  about the loft\n", line: 3 });
    expect(item.added("# 2026-11-18\n\n- one")).toEqual({ text: "# 2026-11-18\n\n- one\n- 00:30 Call Ida\n  about the loft\n", line: 4 });
  });

  test("goes into MEMORY.md when it always holds; an unknown time zone is no reason to fail", () => {
    const item = noteItem("Ida is allergic", { always: true, now, timeZone: "Nowhere/Land" });
    expect([item.path, item.added("# Me\n")]).toEqual(["MEMORY.md", { text: "# Me\n- Ida is allergic\n", line: 2 }]);
  });
});

test("a note that is not UTF-8 is read, but neither written nor removed: its bytes stay", async () => {
  mkdirSync(join(workspace, "memory"), { recursive: true });
  const file = join(workspace, "memory", "old.md");
  const bytes = Buffer.from("Stra\u00dfe\nT\u00fcr\n", "latin1");
  writeFileSync(file, bytes);
  const { hash, ...note } = await notes.get("main", "memory/old.md");
  expect(note).toEqual({ path: "memory/old.md", text: "Straße\nTür\n" });
  expect(await notes.isEditable("main", "memory/old.md")).toBe(false);
  const refused = { code: "INVALID_INPUT", message: "memory/old.md is not UTF-8; edit it yourself" };
  await expect(notes.set("main", { path: "memory/old.md", text: "x", hash })).rejects.toMatchObject(refused);
  await expect(notes.set("main", { path: "memory/old.md", text: "x" })).rejects.toMatchObject(refused);
  await expect(notes.edit("main", "memory/old.md", (text) => `${text}x`)).rejects.toMatchObject(refused);
  await expect(notes.remove("main", "memory/old.md", hash)).rejects.toMatchObject(refused);
  expect(readFileSync(file)).toEqual(bytes);
  expect(changed).toEqual([]);
});
