import { describe, expect, test } from "vitest";
import { createIds } from "../../base/ids.ts";
import { seededRandom } from "../../base/random.ts";
import type { ModelMessage } from "../../protocol/index.ts";
import { pathItem, view, type PathItem } from "../../sessions/index.ts";
import { OVERFLOW_TEXT, shrinkPath, shrinkToolResults } from "./index.ts";

const result = (id: string, chars: number): ModelMessage => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "read",
  content: [{ type: "text", text: `HEAD${"x".repeat(Math.max(chars - 8, 0))}TAIL` }],
  isError: false,
  timestamp: 1,
});
const sizes = (messages: readonly ModelMessage[]): number[] =>
  messages.map(({ content }) =>
    typeof content === "string" ? content.length : content.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0),
  );

describe("tool results after an overflow that compaction did not help", () => {
  test("are cut until half of them is left, the longest first; short ones stay", () => {
    const { messages, cut } = shrinkToolResults([result("a", 500), result("b", 9_000), result("c", 40_000), result("d", 3_000)], 200_000);
    expect(cut).toBe(1);
    expect(sizes(messages)[0]).toBe(500);
    expect(sizes(messages).reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(52_500 / 2);
    expect(JSON.stringify(messages[2])).toMatch(/HEADx+\\n\[… cut: 40000 characters.*\]\\nx+TAIL/);
  });

  test("never exceed 30 % of the window, and 2,000 characters of each are left", () => {
    expect(sizes(shrinkToolResults([result("a", 390_000)], 48_000).messages)[0]).toBeLessThanOrEqual(57_600);
    expect(sizes(shrinkToolResults([result("a", 2_000_000)], 10_000_000).messages)[0]).toBeLessThanOrEqual(400_000);
    expect(sizes(shrinkToolResults([result("a", 3_000)], 1_000).messages)[0]).toBe(2_000);
    const small = [result("a", 2_000), result("b", 2_000)];
    expect(shrinkToolResults(small, 1_000)).toEqual({ messages: small, cut: 0 });
  });

  test("words of people and of the model are left alone", () => {
    const said: ModelMessage = { role: "user", content: "w".repeat(500_000), timestamp: 1 };
    expect(shrinkToolResults([said], 1_000)).toEqual({ messages: [said], cut: 0 });
  });

  test("in a session one entry does it: the view shows less, nothing above is rewritten", () => {
    const message = (at: number, own: object): PathItem => pathItem({ type: "message", id: `e${at}`, message: own });
    const calls = (id: string): object => ({ role: "assistant", content: [{ type: "toolCall", id, name: "read", arguments: {} }], stopReason: "toolUse" });
    const path = [message(0, calls("a")), message(1, result("a", 30_000)), message(2, calls("b")), message(3, result("b", 3_000))];
    const before = JSON.stringify(path);
    const model = { provider: "p", id: "m", contextWindow: 48_000 };
    const place = { ids: createIds(seededRandom(1)), parentId: "e3", at: 5 };
    let shorter = shrinkPath(path, 48_000, place)!;
    expect(shorter.cut).toBe(1);
    expect(shorter.entry).toMatchObject({ type: "custom", parentId: "e3" });
    const seen = view({ path: shorter.path, model, now: 0 });
    expect(sizes(seen.messages)[1]).toBeLessThanOrEqual(13_500);
    expect(sizes(seen.messages)[3]).toBe(3_000);
    expect(seen.dropped.guarded).toBe(1);
    expect(JSON.stringify(path)).toBe(before);
    // What comes later is shown as it is.
    const later = view({ path: [...shorter.path, message(5, calls("c")), message(6, result("c", 30_000))], model, now: 0 });
    expect(sizes(later.messages)[5]).toBe(30_000);
    // Each time there is half, until there is nothing to gain.
    let rounds = 1;
    for (let next = shrinkPath(shorter.path, 48_000, place); next; next = shrinkPath(shorter.path, 48_000, place)) {
      shorter = next;
      rounds += 1;
    }
    expect(rounds).toBeLessThan(6);
    expect(sizes(view({ path: shorter.path, model, now: 0 }).messages).filter((size) => size > 2_000)).toEqual([]);
  });

  test("the last word suggests a new session", () => {
    expect(OVERFLOW_TEXT).toContain("/new");
  });
});
