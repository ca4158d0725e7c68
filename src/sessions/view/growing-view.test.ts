import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { TranscriptEntry } from "../../protocol/index.ts";
import { pathItem, type PathItem } from "./item.ts";
import { view, type View, type ViewMemo } from "./view.ts";

const WINDOW = 2_000;
const LARGE_WINDOW = 200_000;
const callId = fc.constantFrom("a", "b", "a_2", "b|x");
const text = fc.oneof(fc.constantFrom("", "hello"), fc.string({ maxLength: 30 }), fc.constant("long ".repeat(300)));

const message = fc.oneof(
  fc.record({ role: fc.constant("user"), content: text }),
  fc.record({
    role: fc.constant("assistant"),
    content: fc
      .tuple(text, fc.array(callId, { maxLength: 2 }))
      .map(([said, ids]) => [{ type: "text", text: said }, ...ids.map((id) => ({ type: "toolCall", id, name: "read", arguments: { id } }))]),
    usage: fc.record({ totalTokens: fc.nat(50) }),
    stopReason: fc.constantFrom("stop", "toolUse", "error"),
  }),
  fc.record({
    role: fc.constant("toolResult"),
    toolCallId: callId,
    toolName: fc.constant("read"),
    content: fc.oneof(text, fc.constant("page ".repeat(3000))).map((said) => [{ type: "text", text: said }]),
    details: fc.option(fc.record({ page: fc.record({ key: fc.constantFrom("t1", "t2"), whole: fc.boolean() }) }), { nil: undefined }),
  }),
);
const entry = fc.oneof(
  { weight: 20, arbitrary: message.map((said) => ({ type: "message", message: said })) },
  { weight: 1, arbitrary: fc.nat(10).map((kept) => ({ type: "compaction", summary: "before", firstKeptEntryId: `e${kept}` })) },
  { weight: 1, arbitrary: fc.constant({ type: "custom", customType: "openclaw:results-cut", data: { maxChars: 300 } }) },
  { weight: 1, arbitrary: fc.constant({ type: "model_change", provider: "p", modelId: "m" }) },
);

const items = (entries: readonly object[]): readonly PathItem[] => entries.map((one, at) => pathItem({ ...one, id: `e${at}` } as TranscriptEntry));
const seen = (path: readonly PathItem[], historyLimit?: number, memo?: ViewMemo, contextWindow = WINDOW): View =>
  view({ path, model: { provider: "p", id: "m", contextWindow }, settings: { historyLimit }, now: 0, memo });

test("a path that grows looks as it would look to a reader who sees it for the first time", () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 24 }), fc.array(fc.nat(24), { maxLength: 6 }), fc.constantFrom(WINDOW, LARGE_WINDOW), (entries, stops, window) => {
      const path = items(entries);
      const memo = {};
      for (const stop of stops) {
        const part = path.slice(0, stop);
        const fresh = items(entries.slice(0, stop));
        const known = seen(part, undefined, memo, window);
        expect(known).toEqual(seen(fresh, undefined, undefined, window));
        // A limit that nothing reaches makes it take the long way.
        expect(known).toEqual(seen(fresh, 1_000, undefined, window));
      }
    }),
    { numRuns: 500 },
  );
});

test("a result that comes later finds its call, though the call was shown without it", () => {
  const path = items([
    { type: "message", message: { role: "user", content: "read it" } },
    { type: "message", message: { role: "assistant", content: [{ type: "toolCall", id: "a", name: "read", arguments: {} }] } },
    { type: "message", message: { role: "toolResult", toolCallId: "a", toolName: "read", content: [{ type: "text", text: "A" }] } },
  ]);
  const memo = {};
  expect(seen(path.slice(0, 2), undefined, memo).dropped.unanswered).toBe(1);
  const later = seen(path, undefined, memo);
  expect(later.dropped.unanswered).toBe(0);
  expect(later.messages.at(-1)).toMatchObject({ role: "toolResult", toolCallId: "a", content: [{ text: "A" }] });
});

test("what was seen before is not read again", () => {
  const spoken = (n: number): object => ({ type: "message", message: { role: n % 2 === 0 ? "user" : "assistant", content: [{ type: "text", text: `${n}` }] } });
  const read: number[] = [];
  const path = items(Array.from({ length: 40 }, (_, n) => spoken(n))).map((item, at) => ({
    ...item,
    get message() {
      read.push(at);
      return item.message!;
    },
  }));
  const memo = {};
  seen(path.slice(0, 39), undefined, memo);
  read.length = 0;
  expect(seen(path, undefined, memo).messages).toHaveLength(40);
  expect(new Set(read)).toEqual(new Set([39]));
});
