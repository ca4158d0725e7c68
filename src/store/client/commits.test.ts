import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import type { Store } from "../store.ts";
import { openStore } from "./open-store.ts";

let folder: string;
let store: Store;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "observed-"));
  store = await openStore({ stateDir: folder, clock: systemClock });
});
afterEach(async () => {
  await store[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

test("commits are reported once they are durable, before their caller continues; refused ones are not", async () => {
  const events: string[] = [];
  const subscription = store.onCommit((writes) => events.push(writes.map(([kind]) => kind).join(" ")));
  const start = store.write("turns.start", { id: "t1", sessionKey: "k", agentId: "main" }).then(() => events.push("continued"));
  expect(events).toEqual([]);
  await start;
  expect(events).toEqual(["turns.start", "continued"]);
  await expect(store.write("turns.start", { id: "t1", sessionKey: "k", agentId: "main" })).rejects.toMatchObject({ code: "CONFLICT" });
  await store.commit([
    ["turns.note", { id: "t1", detail: 1 }],
    ["turns.end", { id: "t1", outcome: "answered" }],
  ]);
  expect(events).toEqual(["turns.start", "continued", "turns.note turns.end"]);
  subscription[Symbol.dispose]();
  await store.write("turns.start", { id: "t2", sessionKey: "k", agentId: "main" });
  expect(events).toHaveLength(3);
  expect(await store.read("turns.get", { id: "t2" })).toMatchObject({ state: "running" });
});
