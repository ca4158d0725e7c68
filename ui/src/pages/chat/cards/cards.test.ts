import { describe, expect, it } from "vitest";
import { differenceOf } from "./difference.ts";
import { argumentsText, outputOf, pictureIndexes, tailOf } from "./output.ts";
import { summaryOf } from "./summary.ts";

describe("a card", () => {
  it("says in one line what its call is about", () => {
    expect(summaryOf("exec", { command: "ls -la\n  /tmp", timeout: 5 })).toBe("ls -la /tmp");
    expect(summaryOf("read", { path: "notes/a.md", limit: 10 })).toBe("notes/a.md");
    expect(summaryOf("web_fetch", { url: "https://example.com/a/b?c=1" })).toBe("example.com");
    expect(summaryOf("apply_patch", { input: "*** Begin Patch\n*** Update File: a.ts\n@@\n*** Add File: b.ts\n*** End Patch" })).toBe("a.ts, b.ts");
    expect(summaryOf("made_up", { count: 3, deep: {}, on: true })).toBe("count: 3, on: true");
    expect(summaryOf("made_up", undefined)).toBe("");
    expect(summaryOf("exec", { command: "x".repeat(500) })).toHaveLength(161);
  });

  it("shows what changes in a file: as the tool reported it, or as it was requested", () => {
    expect(differenceOf("edit", { path: "a", oldText: "one\ntwo\nthree", newText: "one\n2\nthree" })).toBe(" one\n-two\n+2\n three");
    expect(differenceOf("edit", { oldText: "a", newText: "b" }, { diff: "-1 a\n+1 b" })).toBe("-1 a\n+1 b");
    expect(differenceOf("write", { path: "a", content: "one\ntwo\n" })).toBe("+one\n+two");
    expect(differenceOf("apply_patch", { input: "*** Begin Patch" })).toBe("*** Begin Patch");
    expect(differenceOf("read", { path: "a" })).toBeUndefined();
  });

  it("shows what a tool gave, whatever its form", () => {
    expect(outputOf([{ type: "text", text: "a" }, { type: "image" }, { type: "text", text: "b" }])).toBe("a\n\nb");
    expect(outputOf({ content: [{ type: "text", text: "a" }] })).toBe("a");
    expect(outputOf("plain")).toBe("plain");
    expect(outputOf({ status: "ok" })).toBe('{\n  "status": "ok"\n}');
    expect(outputOf("\u001b[1;31mred\u001b[0m \u001b]0;title\u0007text")).toBe("red text");
    expect(outputOf(undefined)).toBe("");
    expect(argumentsText({ a: 1 })).toBe('{\n  "a": 1\n}');
  });

  it("shows the end of an output that grows", () => {
    expect(tailOf("1\n2\n3\n4\n", 2, 100)).toEqual({ text: "3\n4", cut: true });
    expect(tailOf("1\n2", 2, 100)).toEqual({ text: "1\n2", cut: false });
    expect(tailOf("x".repeat(50), 2, 10)).toEqual({ text: "x".repeat(10), cut: true });
  });

  it("finds pictures by their place", () => {
    expect(pictureIndexes([{ type: "text" }, { type: "image" }, { type: "image" }])).toEqual([1, 2]);
    expect(pictureIndexes("text")).toEqual([]);
  });
});
