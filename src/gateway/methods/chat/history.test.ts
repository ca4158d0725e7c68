import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock } from "../../../base/clock.ts";
import { openStore, type EntryRow, type Store } from "../../../store/index.ts";
import { sessionContext } from "../view/context.ts";
import { readHistory } from "./history.ts";

const FILE = "agents/main/sessions/s1.jsonl";
const KEY = "agent:main:web:1";
let folder = "";
let opened: Store;
/** Rows of transcripts that were read. */
let rows: number;
let store: Store;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "history-"));
  opened = await openStore({ stateDir: folder, clock: manualClock() });
  rows = 0;
  const read = async (kind: "transcripts.path", input: { readonly file: string }): Promise<readonly EntryRow[]> => {
    const found = await opened.read(kind, input);
    if (kind === "transcripts.path") rows += found.length;
    return found;
  };
  store = { ...opened, read: read as Store["read"] };
  await opened.write("sessions.put", { key: KEY, agentId: "main", entry: { sessionId: "s1", updatedAt: 1 } });
  await opened.write("transcripts.ensure", { file: FILE, agentId: "main", sessionId: "s1", header: "{}" });
});
afterEach(async () => {
  await opened[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const idOf = (n: number): string | null => (n === 0 ? null : `e${n}`);

/** One entry below the other; `fields` says what each is. */
async function fill(count: number, fields: (n: number) => { readonly type: string; readonly [field: string]: unknown }): Promise<void> {
  const entries = Array.from({ length: count }, (_, at) => {
    const own = { ...fields(at + 1), id: `e${at + 1}`, parentId: idOf(at) };
    return { id: own.id, parentId: own.parentId, type: own.type, line: JSON.stringify(own) };
  });
  await opened.write("transcripts.append", { file: FILE, entries });
}

const message = (text: string) => ({ type: "message", message: { role: "user", content: [{ type: "text", text }] } });

test("of long messages only those are read that fit one answer", async () => {
  const part = { type: "text", text: "x".repeat(12_000) };
  await fill(200, () => ({ type: "message", message: { role: "user", content: Array.from({ length: 8 }, () => part) } }));
  const messages = await readHistory(store, FILE, 1000);
  expect(messages.length).toBeGreaterThan(50);
  expect(messages.length).toBeLessThan(70);
  expect(rows).toBeLessThan(messages.length + 5);
});

test("of a long conversation no more is read than was asked for, and what is no message is passed over", async () => {
  await fill(2000, (n) => (n % 2 === 0 ? message(`number ${n}`) : { type: "custom", customType: "note" }));
  const messages = await readHistory(store, FILE, 40);
  expect(messages.map(({ content }) => (content as readonly { readonly text: string }[])[0]?.text)).toEqual(
    Array.from({ length: 40 }, (_, n) => `number ${1922 + 2 * n}`),
  );
  expect(rows).toBeLessThan(300);
});

test("the size of the context is computed from what the last summary kept: nothing older is read", async () => {
  const compaction = { type: "compaction", summary: "all was well", firstKeptEntryId: "e1890", tokensBefore: 1000 };
  await fill(1900, (n) => (n === 1895 ? compaction : message("12345678")));
  const { parts } = await sessionContext({ key: KEY }, { store, config: { current: {} } as never });
  expect(parts.find(({ label }) => label === "Your messages")).toMatchObject({ chars: 10 * 8 });
  expect(parts.find(({ kind }) => kind === "summary")).toBeDefined();
  expect(rows).toBeLessThan(200);
});
