import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openMethods, type MethodFixture } from "../harness/methods.ts";
import { line, said, seedSession } from "../harness/seeded-session.ts";

const key = (name: string): string => `agent:main:web:${name}`;
let fixture: MethodFixture;
beforeEach(async () => {
  fixture = await openMethods();
  for (const name of ["a", "b", "c"]) await seedSession(fixture.store, [line("1", null, said(`how ${name} began`), 1)], key(name), `session-${name}`);
});
afterEach(() => fixture[Symbol.asyncDispose]());

const listed = async (params: object = {}) => {
  const { sessions, total } = await fixture.call("sessions.list", params);
  expect(total).toBe(sessions.length);
  return sessions.map((row) => row.key.split(":").at(-1) ?? "").sort((a, b) => a.localeCompare(b));
};

test("sessions are pinned and archived for every client, without looking as if something had happened in them", async () => {
  const before = (await fixture.store.read("sessions.get", { key: key("a") }))!.entry.updatedAt;
  fixture.clock.advance(60_000);
  const { entry } = await fixture.call("sessions.patch", { key: key("a"), pinned: true });
  expect(entry).toMatchObject({ updatedAt: before, pinnedAt: fixture.clock.now() });
  await fixture.call("sessions.patch", { key: key("b"), archived: true });
  expect(await listed({ pinned: true })).toEqual(["a"]);
  expect(await listed({ pinned: false, archived: false })).toEqual(["c"]);
  expect(await listed({ archived: true })).toEqual(["b"]);
  expect(await listed()).toEqual(["a", "b", "c"]);
  // Archived is hidden, not lost.
  expect(await listed({ search: "began" })).toEqual(["a", "b", "c"]);
  const { sessions } = await fixture.call("sessions.list", { archived: true });
  expect(sessions).toMatchObject([{ archivedAt: fixture.clock.now() }]);
  await fixture.call("sessions.patch", { key: key("a"), pinned: false });
  await fixture.call("sessions.patch", { key: key("b"), archived: false });
  expect(await listed({ pinned: false, archived: false })).toEqual(["a", "b", "c"]);
});

test("a message in an archived session brings it back", async () => {
  await fixture.call("sessions.patch", { key: key("b"), archived: true });
  await fixture.call("chat.send", { sessionKey: key("b"), message: "hello again", idempotencyKey: "r1" });
  await fixture.echo.outcome("r1");
  expect(await listed({ archived: true })).toEqual([]);
});

test("a deletion is undone with messages, settings and what plugins keep there", async () => {
  await fixture.call("sessions.patch", { key: key("a"), pinned: true, thinkingLevel: "high" });
  await fixture.store.write("extensions.set", { sessionKey: key("a"), pluginId: "p", namespace: "n", value: { count: 3 } });
  const { undo, archived } = await fixture.call("sessions.delete", { key: key("a") });
  expect(await listed()).toEqual(["b", "c"]);
  expect(archived).toHaveLength(1);
  const { entry } = await fixture.call("sessions.restore", { undo: undo! });
  expect(entry).toMatchObject({ sessionId: "session-a", thinkingLevel: "high" });
  expect(await listed({ pinned: true })).toEqual(["a"]);
  const page = await fixture.call("chat.page", { sessionKey: key("a") });
  expect(page.entries).toMatchObject([{ kind: "user", content: [{ text: "how a began" }] }]);
  expect(await fixture.store.read("extensions.get", { sessionKey: key("a") })).toMatchObject([{ value: { count: 3 } }]);
  await expect(fixture.call("sessions.restore", { undo: undo! })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a deletion is not undone over a conversation that has the key now", async () => {
  const { undo } = await fixture.call("sessions.delete", { key: key("a") });
  await fixture.call("chat.send", { sessionKey: key("a"), message: "new", idempotencyKey: "r1" });
  await fixture.echo.outcome("r1");
  await expect(fixture.call("sessions.restore", { undo: undo! })).rejects.toMatchObject({ details: { reason: "in-use" } });
  expect((await fixture.call("chat.page", { sessionKey: key("a") })).entries).toMatchObject([{ content: [{ text: "new" }] }, {}]);
});

test("after a restart a deletion can still be undone, and the file has its name again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lists-"));
  try {
    let [undo, file]: [string, string] = ["", ""];
    {
      await using life = await openMethods({ folder });
      file = join(folder, await seedSession(life.store, [line("1", null, said("kept"), 1)], key("x"), "session-x"));
      undo = (await life.call("sessions.delete", { key: key("x") })).undo!;
    }
    expect(existsSync(file)).toBe(false);
    {
      await using life = await openMethods({ folder, seed: 2 });
      await life.call("sessions.restore", { undo });
    }
    expect(existsSync(file)).toBe(true);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("what the gateway deletes by itself is not stored for an undo", async () => {
  const { deleted, undo } = await fixture.call("sessions.delete", { key: key("a") }, { isOwn: true });
  expect([deleted, undo]).toEqual([true, undefined]);
});

test("of a deleted session only what it needs to come back is stored, and for 30 days", async () => {
  await fixture.store.write("sessions.merge", { key: key("a"), patch: { skillsSnapshot: { prompt: "x".repeat(10_000) } } });
  const { undo } = await fixture.call("sessions.delete", { key: key("a") });
  expect((await fixture.store.read("trash.get", { id: undo! }))!.entry).not.toHaveProperty("skillsSnapshot");
  fixture.clock.advance(31 * 86_400_000);
  await expect(fixture.call("sessions.restore", { undo: undo! })).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect((await fixture.store.maintain()).deleted).toMatchObject({ deleted_sessions: 1 });
});

test("a session comes back without a label that another one got meanwhile", async () => {
  await fixture.call("sessions.patch", { key: key("a"), label: "work" });
  const { undo } = await fixture.call("sessions.delete", { key: key("a") });
  await fixture.call("sessions.patch", { key: key("b"), label: "work" });
  expect((await fixture.call("sessions.restore", { undo: undo! })).entry.label).toBeUndefined();
  expect(await fixture.call("sessions.resolve", { label: "work" })).toMatchObject({ key: key("b") });
});

test("a process that is killed while a deletion is undone leaves no copy of the file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lists-"));
  try {
    let [file, deleted]: [string, string] = ["", ""];
    {
      await using life = await openMethods({ folder });
      file = join(folder, await seedSession(life.store, [line("1", null, said("kept"), 1)], key("x"), "session-x"));
      const gone = await life.call("sessions.delete", { key: key("x") });
      deleted = gone.archived[0]!;
      await life.call("sessions.restore", { undo: gone.undo! });
    }
    // As if it had been killed between the commit and this.
    renameSync(file, deleted);
    {
      await using life = await openMethods({ folder, seed: 2 });
      expect((await life.call("chat.page", { sessionKey: key("x") })).entries).toHaveLength(1);
    }
    expect([existsSync(file), existsSync(deleted)]).toEqual([true, false]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("sessions are put into folders for every client, listed by folder, and a folder ends with its last session", async () => {
  const before = (await fixture.store.read("sessions.get", { key: key("a") }))!.entry.updatedAt;
  fixture.clock.advance(60_000);
  const { entry } = await fixture.call("sessions.patch", { key: key("a"), folder: " Work " });
  expect(entry).toMatchObject({ updatedAt: before, folder: "Work" });
  await fixture.call("sessions.patch", { key: key("b"), folder: "Home" });
  expect([await listed({ folder: "Work" }), await listed({ filed: true }), await listed({ filed: false })]).toEqual([["a"], ["a", "b"], ["c"]]);
  const folders = async () => (await fixture.call("sessions.list", { includeFolders: true, limit: 1 })).folders;
  expect(await folders()).toEqual([
    { name: "Home", sessions: 1 },
    { name: "Work", sessions: 1 },
  ]);
  const { undo } = await fixture.call("sessions.delete", { key: key("b") });
  await fixture.call("sessions.patch", { key: key("a"), folder: null });
  expect(await folders()).toEqual([]);
  await fixture.call("sessions.restore", { undo: undo! });
  expect(await folders()).toEqual([{ name: "Home", sessions: 1 }]);
  await expect(fixture.call("sessions.patch", { key: key("a"), folder: " " })).rejects.toThrow("invalid folder");
  await expect(fixture.call("sessions.patch", { key: key("a"), folder: "a\nb" })).rejects.toThrow("non-printable");
});

test("pages by cursor skip and repeat nothing when a session moves to the front between them", async () => {
  const first = await fixture.call("sessions.list", { limit: 2 });
  expect([first.sessions.length, first.total, first.hasMore]).toEqual([2, 3, true]);
  fixture.clock.advance(60_000);
  const last = ["a", "b", "c"].map(key).find((one) => first.sessions.every((row) => row.key !== one))!;
  await fixture.call("sessions.patch", { key: first.sessions[1]!.key, label: "moved to the front" });
  const second = await fixture.call("sessions.list", { limit: 2, cursor: first.next! });
  expect(second.sessions.map((row) => row.key)).toEqual([last]);
  expect(second).not.toHaveProperty("next");
  await expect(fixture.call("sessions.list", { cursor: "nonsense" })).rejects.toThrow('invalid cursor "nonsense"');
  await expect(fixture.call("sessions.list", { cursor: first.next!, search: "a" })).rejects.toThrow("paged with offset");
});
