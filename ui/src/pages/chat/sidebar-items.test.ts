import { expect, test } from "vitest";
import { listed } from "./sidebar-groups.ts";
import { drawnLines, HEIGHTS, linesOf } from "./sidebar-items.ts";

const sessions = (count: number) =>
  Array.from({ length: count }, (_, at) => listed({ key: `agent:main:web:${at}`, kind: "direct", updatedAt: count - at }, "main"));

test("sections are lines with exact places, each list that goes on ends with a line that says so", () => {
  const { items, tops } = linesOf([
    { name: "Work", sessions: [], folder: { name: "Work", total: 3, isOpen: false } },
    { name: "Today", sessions: sessions(2), more: "chats" },
  ]);
  expect(items.map(({ id }) => id)).toEqual(["h folder:Work", "h Today", "Today agent:main:web:0", "Today agent:main:web:1", "m chats"]);
  expect([...tops]).toEqual([
    0,
    HEIGHTS.head,
    2 * HEIGHTS.head,
    2 * HEIGHTS.head + HEIGHTS.session,
    2 * (HEIGHTS.head + HEIGHTS.session),
    2 * (HEIGHTS.head + HEIGHTS.session) + HEIGHTS.more,
  ]);
});

test("of ten thousand sessions only those around the view are drawn, wherever it is", () => {
  const lines = linesOf([{ name: "Today", sessions: sessions(10_000) }]);
  for (const top of [0, 1000, 300_000, 10_000 * HEIGHTS.session, 9_999_999, -50]) {
    const { from, to } = drawnLines(lines, top, 700);
    expect(to - from).toBeLessThan(50);
    expect(from).toBeGreaterThanOrEqual(0);
    expect(to).toBeLessThanOrEqual(lines.items.length);
    const seen = Math.min(Math.max(0, top), lines.tops.at(-1)! - 1);
    expect(lines.tops[from]!).toBeLessThanOrEqual(seen);
    expect(lines.tops[to]!).toBeGreaterThan(seen);
  }
});

test("an empty list draws nothing", () => expect(drawnLines(linesOf([]), 0, 700)).toEqual({ from: 0, to: 0 }));
