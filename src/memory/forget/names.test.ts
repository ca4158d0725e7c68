import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { createTextMatcher } from "../../base/erase-text.ts";
import { openStore, type Store } from "../../store/index.ts";
import { eraseNames } from "./names.ts";

let folder: string;
let store: Store;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "names-"));
  store = await openStore({ stateDir: folder, clock: manualClock() });
});
afterAll(async () => {
  await store[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const entry = { sessionId: "s1", updatedAt: 1, title: "Grey heron by the lake", label: "birds" };

test("a title that a model made of what is forgotten goes, other names stay", async () => {
  await store.write("sessions.put", { key: "agent:main:web:a", agentId: "main", entry, version: 0 });
  await eraseNames(store, "main", createTextMatcher(["grey heron"]));
  expect((await store.read("sessions.get", { key: "agent:main:web:a" }))!.entry).toEqual({ sessionId: "s1", updatedAt: 1, label: "birds" });
});

test("what is stored of deleted sessions is overwritten, too", async () => {
  const extensions = [{ pluginId: "p", namespace: "n", value: { seen: "a grey heron" } }];
  await store.write("trash.put", { id: "1", key: "agent:main:web:b", agentId: "main", entry, extensions });
  expect(await store.read("records.matching", { agentId: "main", texts: ["grey heron"] })).toEqual({ records: 1 });
  await store.write("records.redact", { agentId: "main", texts: ["grey heron"] });
  const gone = await store.read("trash.get", { id: "1" });
  expect(JSON.stringify(gone)).not.toMatch(/grey heron/i);
  expect(gone).toMatchObject({ entry: { sessionId: "s1", label: "birds" } });
});
