import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { manualClock } from "../../../base/clock.ts";
import { createStateDatabases } from "./databases.ts";
import { openKeyedStore, openSyncKeyedStore, type KeyedStoreOptions } from "./keyed-store.ts";

function setup() {
  const folder = mkdtempSync(join(tmpdir(), "plugin-state-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const clock = manualClock();
  const databases = createStateDatabases(folder);
  onTestFinished(() => databases[Symbol.dispose]());
  const open = <T = unknown>(options: KeyedStoreOptions, plugin = "a", from = databases) => openSyncKeyedStore<T>(from.of(plugin), options, clock);
  return { folder, clock, databases, open };
}

test("what was written is there after a restart, and for others who have the file open", () => {
  const { folder, databases, open } = setup();
  const other = createStateDatabases(folder);
  onTestFinished(() => other[Symbol.dispose]());
  open({ namespace: "n" }).register("k", { deep: [1] });
  expect(open({ namespace: "n" }, "a", other).lookup("k")).toEqual({ deep: [1] });
  databases[Symbol.dispose]();
  const again = createStateDatabases(folder);
  onTestFinished(() => again[Symbol.dispose]());
  expect(open({ namespace: "n" }, "a", again).lookup("k")).toEqual({ deep: [1] });
});

test("plugins and namespaces do not see each other", () => {
  const { open } = setup();
  open({ namespace: "n" }).register("k", 1);
  expect(open({ namespace: "m" }).lookup("k")).toBeUndefined();
  expect(open({ namespace: "n" }, "b").lookup("k")).toBeUndefined();
});

test("a value goes after its time, and can be set again", () => {
  const { clock, open } = setup();
  const store = open({ namespace: "n", defaultTtlMs: 100 });
  store.register("k", 1);
  store.register("long", 2, { ttlMs: 1000 });
  expect(store.registerIfAbsent("k", 9)).toBe(false);
  clock.advance(100);
  expect(store.lookup("k")).toBeUndefined();
  expect(store.entries()).toEqual([{ key: "long", value: 2, createdAt: clock.now() - 100, expiresAt: clock.now() + 900 }]);
  expect(store.registerIfAbsent("k", 3)).toBe(true);
});

test("a full store lets go of the oldest, or refuses", () => {
  const { open } = setup();
  const evicting = open({ namespace: "e", maxEntries: 2 });
  for (const key of ["a", "b"]) evicting.register(key, key);
  evicting.register("a", "again");
  evicting.register("c", "c");
  expect(evicting.entries().map((entry) => entry.key)).toEqual(["a", "c"]);
  const strict = open({ namespace: "s", maxEntries: 1, overflowPolicy: "reject-new" });
  strict.register("a", 1);
  strict.register("a", 2);
  expect(() => strict.register("b", 1)).toThrow(expect.objectContaining({ code: "OVERLOADED" }));
  expect(strict.entries().map(({ key, value }) => [key, value])).toEqual([["a", 2]]);
});

test("a value is consumed once, deleted once, and all are cleared", () => {
  const { open } = setup();
  const store = open({ namespace: "n" });
  store.register("k", 1);
  expect([store.consume("k"), store.consume("k")]).toEqual([1, undefined]);
  store.register("k", 1);
  expect([store.delete("k"), store.delete("k")]).toEqual([true, false]);
  store.register("k", 1);
  store.clear();
  expect(store.entries()).toEqual([]);
});

test("a change is applied only over the value that was seen", async () => {
  const { open } = setup();
  const store = openKeyedStore<number>(() => open<number>({ namespace: "n" }));
  const seen = await store.observe("k");
  expect(await store.compareAndApply("k", seen.comparison, { action: "set", value: 1 })).toMatchObject({ status: "applied", current: { value: 1 } });
  const late = await store.compareAndApply("k", seen.comparison, { action: "set", value: 2 });
  expect(late).toMatchObject({ status: "conflict", current: { value: 1 } });
  expect(await store.compareAndApply("k", late.current.comparison, { action: "delete" })).toMatchObject({ status: "applied", current: { value: undefined } });
});

test("a value that went and came again is not the one that was seen", () => {
  const { open } = setup();
  const store = open<number>({ namespace: "n" });
  store.register("k", 1);
  const { comparison } = store.observe("k");
  store.delete("k");
  store.register("k", 1);
  expect(store.compareAndApply("k", comparison, { action: "set", value: 2 }).status).toBe("conflict");
});

test("what cannot be kept is refused, and failures of promised calls reject", async () => {
  const { open } = setup();
  expect(() => open({ namespace: " " })).toThrow("needs a namespace");
  const store = openKeyedStore<unknown>(() => open({ namespace: "n" }));
  await expect(store.register("", 1)).rejects.toMatchObject({ code: "INVALID_INPUT" });
  await expect(store.register("k", () => {})).rejects.toMatchObject({ code: "INVALID_INPUT" });
  expect(await store.lookup("k")).toBeUndefined();
});
