import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import { observeCommits, type ObservedStore } from "./observed.ts";
import { openStore } from "./open.ts";

let folder: string;
let store: ObservedStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "observed-"));
  store = observeCommits(await openStore({ stateDir: folder, clock: systemClock }));
});
afterEach(async () => {
  await store[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

test("what was committed is told once it is there, before its writer goes on; what was refused is not", async () => {
  const told: string[] = [];
  const ear = store.onCommit((writes) => told.push(writes.map(([kind]) => kind).join(" ")));
  const start = store.write("turns.start", { id: "t1", sessionKey: "k", agentId: "main" }).then(() => told.push("went on"));
  expect(told).toEqual([]);
  await start;
  expect(told).toEqual(["turns.start", "went on"]);
  await expect(store.write("turns.start", { id: "t1", sessionKey: "k", agentId: "main" })).rejects.toMatchObject({ code: "CONFLICT" });
  await store.commit([
    ["turns.note", { id: "t1", detail: 1 }],
    ["turns.end", { id: "t1", outcome: "answered" }],
  ]);
  expect(told).toEqual(["turns.start", "went on", "turns.note turns.end"]);
  ear[Symbol.dispose]();
  await store.write("turns.start", { id: "t2", sessionKey: "k", agentId: "main" });
  expect(told).toHaveLength(3);
  expect(await store.read("turns.get", { id: "t2" })).toMatchObject({ state: "running" });
});
