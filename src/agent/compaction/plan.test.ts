import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ModelMessage, TranscriptEntry } from "../../protocol/index.ts";
import { pathItem, view, type PathItem } from "../../sessions/index.ts";
import { planCompaction, type CompactionPlan } from "./index.ts";

type Spoken = Record<string, unknown>;
const user = (content: unknown, rest: Spoken = {}): Spoken => ({ role: "user", content, ...rest });
const answer = (text: string, rest: Spoken = {}): Spoken => ({ role: "assistant", content: [{ type: "text", text }], stopReason: "stop", ...rest });
const calls = (...ids: string[]): Spoken => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "toolCall", id, name: "read", arguments: { path: `${id}.md` } })),
  stopReason: "toolUse",
});
const result = (toolCallId: string, text = "r"): Spoken => ({ role: "toolResult", toolCallId, toolName: "read", content: [{ type: "text", text }] });
/** So many tokens. */
const long = (tokens: number): string => "x".repeat(tokens * 4);

/** Items one below the other: `e0`, `e1`, … Objects with a `type` stand for themselves. */
const path = (list: readonly Spoken[]): PathItem[] =>
  list.map((item, at) =>
    pathItem({ ...(typeof item["type"] === "string" ? item : { type: "message", message: item }), id: `e${at}` } as unknown as TranscriptEntry),
  );
const plan = (list: readonly Spoken[], keepRecentTokens: number, overflow = false): CompactionPlan => {
  const made = planCompaction(path(list), { keepRecentTokens, overflow });
  if (made.kind === "nothing") throw new Error(made.why);
  return made;
};
const why = (list: readonly Spoken[], keepRecentTokens = 10): string => {
  const made = planCompaction(path(list), { keepRecentTokens });
  return made.kind === "nothing" ? made.why : `cut at ${made.firstKeptEntryId}`;
};

describe("where a conversation is cut", () => {
  test("at the first message after the part that goes", () => {
    const list = [user(long(10)), answer(long(10)), user(long(10)), answer(long(10))];
    const made = plan(list, 20);
    expect([made.firstKeptEntryId, made.history.length, made.turnStart.length, made.kept]).toEqual(["e2", 2, 0, 2]);
    expect([made.tokensBefore, made.compactedTokens, made.keptTokens]).toEqual([40, 20, 20]);
  });

  test("never at a tool result: the calls and their results go together", () => {
    const list = [user("go"), calls("a", "b"), result("a", long(30)), result("b", long(30)), answer("done"), user("next")];
    const made = plan(list, 20);
    expect(made.firstKeptEntryId).toBe("e4");
    expect([made.history.length, made.turnStart.length]).toEqual([0, 4]);
  });

  test("not between a call and a result that came late", () => {
    const list = [user("0"), answer("zero"), user("go"), calls("a"), user("wait"), answer("yes"), result("a", long(30)), answer("done")];
    expect(plan(list, 10).firstKeptEntryId).toBe("e7");
    // With nothing to cut at behind it, the calls stay with their results.
    expect(plan(list.slice(0, -1), 10).firstKeptEntryId).toBe("e3");
  });

  test("before calls that still run", () => {
    const list = [user(long(50)), answer(long(50)), user("go"), calls("a", "b"), result("a", long(90))];
    expect(plan(list, 10).firstKeptEntryId).toBe("e3");
    expect(plan([...list, user(long(20))], 10).firstKeptEntryId).toBe("e3");
    // A later answer shows that nobody waits for them.
    expect(plan([...list, user(long(20)), answer("yes")], 10).firstKeptEntryId).toBe("e5");
  });

  test("a turn that is cut in the middle has its beginning apart", () => {
    const list = [user("old"), answer("yes"), user("go"), calls("a"), result("a", long(90)), calls("b"), result("b", long(20)), answer("done")];
    const made = plan(list, 10);
    expect(made.firstKeptEntryId).toBe("e7");
    expect(made.history.map(({ entry }) => entry.id)).toEqual(["e0", "e1"]);
    expect(made.turnStart.map(({ entry }) => entry.id)).toEqual(["e2", "e3", "e4", "e5", "e6"]);
  });

  test("facts for programs that stand before the first kept message are kept", () => {
    const fact = { type: "custom", customType: "x" };
    const list = [user(long(50)), answer("a"), fact, { type: "model_change", provider: "p", modelId: "m" }, user(long(20))];
    expect(plan(list, 10).firstKeptEntryId).toBe("e2");
  });

  test("an earlier summary is carried on, and what it kept can go now", () => {
    const compaction = {
      type: "compaction",
      summary: "## Goal\n- old\n\n<read-files>\na.md\n</read-files>",
      firstKeptEntryId: "e1",
      details: { readFiles: ["a.md"], modifiedFiles: ["b.md"], standing: ["Never push."] },
    };
    const list = [user("gone"), user(long(30)), answer("kept"), compaction, user("new"), calls("c"), result("c", long(40)), answer(long(20))];
    const made = plan(list, 20);
    expect(made.history.map(({ entry }) => entry.id)).toEqual(["e1", "e2"]);
    expect(made.previous).toEqual({ text: "## Goal\n- old", files: { read: ["a.md"], modified: ["b.md"] }, standing: ["Never push."] });
    expect(made.files).toEqual({ read: ["a.md", "c.md"], modified: ["b.md"] });
  });

  test("after an overflow half of it goes, whatever the guess says", () => {
    const list = [user(long(10)), answer(long(10)), user(long(10)), answer(long(10))];
    expect(plan(list, 1_000, true).firstKeptEntryId).toBe("e2");
  });

  test.each<readonly [string, readonly Spoken[], RegExp]>([
    ["an empty session", [], /no conversation/],
    ["a short one", [user("hi"), answer("hello")], /recent/],
    ["one that was summed up just now", [user(long(50)), answer(long(50)), { type: "compaction", summary: "S", firstKeptEntryId: "e1" }], /already/],
    ["a single message", [user(long(90))], /cut/],
    ["a single call with its results", [calls("a"), result("a", long(90))], /cut/],
  ])("nothing is done to %s", (_, list, reason) => {
    expect(why(list)).toMatch(reason);
  });

  test("entries without an id of their own are no place to cut", () => {
    const items = path([user(long(50)), answer("a"), user(long(30)), answer("b"), user("c")]).map((item, at) =>
      at === 2 ? { ...item, entry: { ...item.entry, id: "e4" } } : item,
    );
    expect(planCompaction(items, { keepRecentTokens: 20 })).toMatchObject({ firstKeptEntryId: "e3" });
  });
});

describe("files", () => {
  test("what was written or patched is not listed as read", () => {
    const call = (name: string, args: unknown): Spoken => ({
      role: "assistant",
      content: [{ type: "toolCall", id: name + JSON.stringify(args).length, name, arguments: args }],
      stopReason: "stop",
    });
    const patch = "*** Begin Patch\n*** Update File: p.ts\n*** Move to: q.ts\n@@\n-a\n+b\n*** Add File: n.ts\n+x\n*** End Patch";
    const list = [
      user("go"),
      call("read", { path: "a.md" }),
      call("read", { file_path: "b.md" }),
      call("edit", { path: "b.md" }),
      call("write", { path: "c.md" }),
      call("apply_patch", { input: patch }),
      answer("done"),
      user(long(50)),
    ];
    expect(plan(list, 10).files).toEqual({ read: ["a.md"], modified: ["b.md", "c.md", "p.ts", "q.ts", "n.ts"] });
  });
});

const ids = fc.constantFrom("c1", "c2", "c3", "c4");
const text = fc.integer({ min: 0, max: 900 }).map((n) => "z".repeat(n));
const message = fc.oneof(
  text.map((words) => user(words)),
  text.map((words) => answer(words)),
  fc.array(ids, { minLength: 1, maxLength: 3 }).map((some) => calls(...some)),
  fc.tuple(ids, text).map(([id, words]) => result(id, words)),
);
const entry: fc.Arbitrary<Spoken> = fc.oneof(
  { weight: 12, arbitrary: message },
  fc.record({ type: fc.constant("compaction"), summary: text, firstKeptEntryId: fc.integer({ min: 0, max: 30 }).map((n) => `e${n}`) }),
  fc.constant({ type: "custom", customType: "x" }),
  fc.record({ type: fc.constantFrom("branch_summary", "custom_message", "novel"), summary: text, content: text }),
  fc.constant({ type: "message", message: { role: "user", content: 7 } }),
);
const names = fc.constantFrom<string | undefined>("e1", "e5", "", undefined);

/** Calls with their results, by what the view makes of them: an id is never used twice there. */
const pairs = (messages: readonly ModelMessage[]): { calls: string[]; results: string[]; unknown: number } => ({
  calls: messages.flatMap((one) => (one.role === "assistant" ? one.content.flatMap((part) => (part.type === "toolCall" ? [part.id] : [])) : [])),
  results: messages.flatMap((one) => (one.role === "toolResult" ? [one.toolCallId] : [])),
  unknown: messages.filter((one) => one.role === "toolResult" && JSON.stringify(one.content).includes("No result was recorded")).length,
});

test("for any transcript and any size, a cut parts no call from its result and the view after it is valid", () => {
  const model = { provider: "p", id: "m", contextWindow: 1_000_000 };
  let cuts = 0;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(entry, fc.option(names, { freq: 15 })), { maxLength: 40 }),
      fc.integer({ min: 1, max: 800 }),
      fc.boolean(),
      (list, keepRecentTokens, overflow) => {
        const items = path(list.map(([one]) => one)).map((item, at) => {
          const [, name] = list[at]!;
          return name === null ? item : pathItem({ ...item.entry, id: name } as TranscriptEntry);
        });
        const made = planCompaction(items, { keepRecentTokens, overflow });
        if (made.kind === "nothing") return;
        cuts += 1;
        const before = view({ path: items, model, now: 0 });
        const summary = pathItem({ type: "compaction", id: "new", summary: "S", firstKeptEntryId: made.firstKeptEntryId });
        const after = view({ path: [...items, summary], model, now: 0 });
        // What is kept is kept whole: no result lost its call, no call its result.
        expect(after.dropped.unanswered).toBeLessThanOrEqual(before.dropped.unanswered);
        expect(after.dropped.results).toBeLessThanOrEqual(before.dropped.results);
        const { calls: asked, results, unknown } = pairs(after.messages);
        expect(results).toEqual(asked);
        expect(unknown).toBeLessThanOrEqual(pairs(before.messages).unknown);
        expect(after.messages.length).toBeGreaterThan(1);
        expect(made.history.length + made.turnStart.length).toBeGreaterThan(0);
      },
    ),
    { numRuns: 500, seed: 7 },
  );
  expect(cuts).toBeGreaterThan(100);
});
