import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock } from "../base/clock.ts";
import { openStore, type EntryRow, type Store } from "../store/index.ts";
import { newestLines, newestRows } from "./newest-rows.ts";

const FILE = "agents/main/sessions/s1.jsonl";
let folder = "";
let store: Store;
/** Rows of each read. */
let reads: (readonly EntryRow[])[];
let counted: Pick<Store, "read">;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "newest-"));
  store = await openStore({ stateDir: folder, clock: manualClock() });
  reads = [];
  counted = {
    read: (async (kind: "transcripts.path", input: { file: string }) => {
      const rows = await store.read(kind, input);
      reads.push(rows);
      return rows;
    }) as Store["read"],
  };
  await store.write("transcripts.ensure", { file: FILE, agentId: "main", sessionId: "s1", header: "{}" });
});
afterEach(async () => {
  await store[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const entry = (id: string, parentId: string | null, chars = 10) => ({
  id,
  parentId,
  type: "message",
  line: JSON.stringify({ type: "message", id, parentId, text: "x".repeat(chars) }),
});

/** Entries one below the other: e1, e2, … */
async function chain(count: number, chars?: number): Promise<void> {
  const entries = Array.from({ length: count }, (_, n) => entry(`e${n + 1}`, n === 0 ? null : `e${n}`, chars));
  await store.write("transcripts.append", { file: FILE, entries });
}

const idsOf = async (rows: AsyncIterable<EntryRow>): Promise<(string | null)[]> => (await Array.fromAsync(rows)).map(({ id }) => id);

test("entries come newest first, in parts of limited size", async () => {
  await chain(1000);
  expect(await idsOf(newestRows(counted, FILE, 900))).toEqual(Array.from({ length: 900 }, (_, n) => `e${1000 - n}`));
  expect(reads.length).toBeGreaterThan(5);
  expect(Math.max(...reads.map((rows) => rows.length))).toBeLessThanOrEqual(200);
});

test("long lines come in parts of fewer rows", async () => {
  await chain(40, 100_000);
  expect(await idsOf(newestRows(counted, FILE, 100))).toHaveLength(40);
  expect(Math.max(...reads.map((rows) => rows.length))).toBeLessThanOrEqual(5);
  reads = [];
  expect(await idsOf(newestLines(counted, FILE, 100))).toHaveLength(40);
  expect(Math.max(...reads.map((rows) => rows.length))).toBeLessThanOrEqual(5);
});

test("a caller that needs no more reads no more", async () => {
  await chain(1000);
  for await (const { id } of newestRows(counted, FILE, Infinity)) if (id === "e990") break;
  expect(reads).toHaveLength(1);
});

test("only the branch in use is read; the lines of a file are those of all branches", async () => {
  await chain(3);
  await store.write("transcripts.append", { file: FILE, entries: [entry("other", "e1"), entry("last", "other")] });
  expect(await idsOf(newestRows(counted, FILE, 10))).toEqual(["last", "other", "e1"]);
  expect(await idsOf(newestLines(counted, FILE, 4))).toEqual(["last", "other", "e3", "e2"]);
});

test("a file of the first format, which has no branches, is read from its end", async () => {
  const entries = Array.from({ length: 300 }, (_, n) => ({ type: "message", line: JSON.stringify({ n }) }));
  await store.write("transcripts.append", { file: FILE, entries });
  const lines = (await Array.fromAsync(newestRows(counted, FILE, 1000))).map(({ line }) => line);
  expect(lines).toEqual(Array.from({ length: 300 }, (_, n) => JSON.stringify({ n: 299 - n })));
});
