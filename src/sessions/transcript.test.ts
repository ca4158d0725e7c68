import { expect, test } from "vitest";
import { createIds } from "../base/ids.ts";
import { seededRandom } from "../base/random.ts";
import { leafForRun, messageEntry, pathState, readPath, readTranscript, STORED_RESULT_CHARS, view } from "./index.ts";

const said = (id: string | undefined, parentId: string | null | undefined, text: string, role = "user") => ({
  type: "message",
  id,
  parentId,
  message: { role, content: text },
});
const file = (...lines: unknown[]): string => lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
const ids = (path: readonly { readonly id?: string }[]): unknown[] => path.map(({ id }) => id);
const HEADER = { type: "session", version: 3, id: "s1", timestamp: "2026-02-19T10:00:00.000Z" };

test("a file with several headers, several roots, unknown types and torn lines is read whole", () => {
  const text = file(
    HEADER,
    said("a", null, "partial", "assistant"),
    HEADER,
    said("b", null, "hello"),
    { type: "novel", id: "n", parentId: "b" },
    said("c", "n", "partial", "assistant"),
    '{"type":"mess',
  );
  const { headers, entries, unreadable } = readTranscript(text);
  expect([headers.length, entries.length, unreadable]).toEqual([2, 4, 1]);
  expect(ids(readPath(entries))).toEqual(["b", "n", "c"]);
  expect(view({ entries, model: { provider: "p", id: "m", contextWindow: 1_000 }, now: 0 }).messages).toHaveLength(2);
});

test("the last line is the leaf; another one may be given", () => {
  const entries = [said("a", null, "1"), said("b", "a", "2"), said("c", "a", "3")];
  expect(ids(readPath(entries))).toEqual(["a", "c"]);
  expect(ids(readPath(entries, "b"))).toEqual(["a", "b"]);
  expect([readPath(entries, null), readPath(entries, "gone")]).toEqual([[], []]);
});

test("of an id that is there twice the later line counts, a circle ends the way, a lost parent begins it", () => {
  expect(readPath([said("a", null, "old"), said("a", null, "new"), said("b", "a", "x")]).map((entry) => JSON.stringify(entry).includes("old"))).toEqual([
    false,
    false,
  ]);
  expect(ids(readPath([said("a", "b", "1"), said("b", "a", "2")]))).toEqual(["a", "b"]);
  expect(ids(readPath([said("b", "lost", "2"), said("c", "b", "3")]))).toEqual(["b", "c"]);
});

test("files of the first format have no tree: each line follows the one before", () => {
  const entries = readTranscript(file({ type: "session", id: "s1" }, said(undefined, undefined, "1"), said(undefined, undefined, "2", "assistant"))).entries;
  expect(readPath(entries)).toHaveLength(2);
});

test("a run hangs its entries above a user message that nobody answered", () => {
  const entries = [said("a", null, "1"), said("b", "a", "2", "assistant"), said("c", "b", "dead")];
  expect(leafForRun(readPath(entries))).toBe("b");
  expect(leafForRun(readPath(entries, "b"))).toBe("b");
  expect([leafForRun(readPath(entries, "a")), leafForRun([])]).toEqual([null, null]);
});

test("model and thinking level are those of the last entries that tell; the gateway's words tell nothing", () => {
  const answered = (provider: string, model: string) => ({ type: "message", message: { role: "assistant", provider, model, content: [] } });
  const path = [
    { type: "model_change", provider: "p", modelId: "one" },
    { type: "thinking_level_change", thinkingLevel: "low" },
    answered("q", "two"),
    answered("openclaw", "gateway-injected"),
  ];
  expect(pathState(path)).toEqual({ model: { provider: "q", id: "two" }, thinkingLevel: "low" });
});

test("an entry is one line of format 3, and a large tool result is cut when it is stored", () => {
  const place = { ids: createIds(seededRandom(1)), parentId: null, at: Date.UTC(2026, 1, 19) };
  const content = [
    { type: "text", text: "x".repeat(STORED_RESULT_CHARS) },
    { type: "text", text: "more" },
  ] as const;
  const entry = messageEntry(place, { role: "toolResult", toolCallId: "c", toolName: "read", content, isError: false, timestamp: 1 });
  const { message, ...rest } = JSON.parse(entry.line) as { message: { content: { text: string }[] } };
  expect(rest).toEqual({ type: "message", id: entry.id, parentId: null, timestamp: "2026-02-19T00:00:00.000Z" });
  expect(entry.id).toMatch(/^[0-9a-f]{8}$/);
  expect(message.content.map(({ text }) => text.length > 1_000)).toEqual([true, false]);
  expect(message.content[1]!.text).toContain("400004");
});
