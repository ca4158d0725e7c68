import { describe, expect, it } from "vitest";
import { itemsOf, type Item } from "./items.ts";
import type { ChatEntry } from "./state.ts";

const DAY = 86_400_000;
const text = (words: string): ChatEntry["content"] => [{ type: "text", text: words }];
const entry = (seq: number, kind: ChatEntry["kind"], extra: Partial<ChatEntry> = {}): ChatEntry => ({ seq, ts: 10 * DAY + seq, kind, content: [], ...extra });
const kinds = (items: readonly Item[]): string[] => items.map(({ kind }) => kind);

describe("the log", () => {
  it("puts results to their calls, and shows a result whose call is not there on its own", () => {
    const items = itemsOf([
      entry(1, "tool", { toolCallId: "lost", toolName: "read" }),
      entry(2, "assistant", { content: [...text("look"), { type: "toolCall", id: "c1", name: "exec", arguments: { command: "ls" } }] }),
      entry(3, "tool", { toolCallId: "c1", content: text("files") }),
      entry(4, "assistant", { content: text("done") }),
    ]);
    expect(kinds(items)).toEqual(["day", "result", "answer", "answer"]);
    expect(items[2]).toMatchObject({ text: "look", calls: [{ name: "exec", args: { command: "ls" }, result: { seq: 3 } }] });
  });

  it("tells each new day once, and none of what has no time", () => {
    const items = itemsOf([entry(1, "user", { ts: 0 }), entry(2, "user"), entry(3, "user"), entry(4, "user", { ts: 12 * DAY })]);
    expect(kinds(items)).toEqual(["user", "day", "user", "user", "day", "user"]);
  });

  it("adds up what a turn took, at its last answer", () => {
    const items = itemsOf([
      entry(1, "user", { content: text("ask") }),
      entry(2, "assistant", { usage: { input: 10, output: 5, cacheRead: 100, cost: 0.25 } }),
      entry(3, "assistant", { usage: { input: 20, output: 7, cost: 0.5 } }),
      entry(4, "user", { content: text("again") }),
      entry(5, "assistant"),
    ]);
    const turns = items.flatMap((item) => (item.kind === "answer" ? [item.turn] : []));
    expect(turns).toEqual([undefined, { usage: { input: 30, output: 12, cached: 100, cost: 0.75 }, asked: items[1] }, { usage: undefined, asked: items[4] }]);
    expect([items[1], items[4]]).toMatchObject([{ text: "ask" }, { text: "again" }]);
  });

  it("does not count what the gateway wrote to the turn before it", () => {
    const items = itemsOf([entry(1, "user"), entry(2, "assistant", { usage: { input: 1, output: 1 } }), entry(3, "assistant", { model: "gateway-injected" })]);
    expect(items.flatMap((item) => (item.kind === "answer" ? [item.turn?.usage] : []))).toEqual([
      { input: 1, output: 1, cached: 0, cost: undefined },
      undefined,
    ]);
  });

  it("tells a failure once, though both the answer and a note of it say why", () => {
    const said = entry(1, "user", { content: text("ask") });
    const failed = entry(2, "assistant", { error: "no key", stopReason: "error", runId: "r1" });
    const failures = (entries: readonly ChatEntry[]) =>
      itemsOf([said, ...entries]).flatMap((item) => (item.kind === "answer" ? [item.failed] : item.kind === "note" ? [`note: ${item.entry.error}`] : []));
    expect(failures([failed, entry(3, "note", { error: "no key", runId: "r1" })])).toEqual(["no key"]);
    expect(failures([failed, entry(3, "note", { error: "all models failed: no key" })])).toEqual(["all models failed: no key"]);
    expect(failures([entry(2, "assistant", { stopReason: "error" }), entry(3, "note", { error: "no key", runId: "r1" })])).toEqual(["no key"]);
    const untold = itemsOf([entry(2, "assistant", { stopReason: "error" }), entry(3, "note", { error: "no key", runId: "r1" })]);
    expect(untold[1]).toMatchObject({ kind: "answer", entry: { seq: 2, runId: "r1" } });
    expect(failures([failed, entry(3, "note", { error: "something else", runId: "r1" })])).toEqual(["no key", "note: something else"]);
    expect(failures([failed, entry(3, "note", { error: "no key", runId: "r2" })])).toEqual(["no key", "note: no key"]);
    expect(failures([entry(2, "assistant", { stopReason: "aborted", error: "aborted (rpc)" })])).toEqual([undefined]);
  });

  it("knows what was asked before a failure, so that it can be sent again", () => {
    const items = itemsOf([entry(1, "user", { content: text("ask") }), entry(2, "note", { error: "no key" })]);
    expect(items[2]).toMatchObject({ kind: "note", asked: { text: "ask" } });
  });

  it("has marks and notes, each under a key of its own", () => {
    const items = itemsOf([entry(1, "compaction", { content: text("so far") }), entry(2, "note", { error: "no key" })]);
    expect(items.slice(1)).toMatchObject([{ kind: "compaction", text: "so far" }, { kind: "note" }]);
    expect(new Set(items.map(({ key }) => key)).size).toBe(items.length);
  });
});
