import { describe, expect, test } from "vitest";
import { ALL, arrange, CHATS, costsOf, hiddenCount, lineOf, merged, type SessionLine, type SessionRow } from "./session-table.ts";

const NOW = 1_000_000_000;
const row = (key: string, over: Partial<SessionRow> = {}): SessionRow => ({ key, kind: "direct", updatedAt: NOW, ...over });
const lines = (...rows: readonly SessionRow[]): readonly SessionLine[] => rows.map((one) => lineOf(one, "main", new Map([["agent:main:web:b", 0.5]])));
const keys = (found: readonly SessionLine[]): readonly string[] => found.map(({ key }) => key.split(":").at(-1)!);
const newest = { by: "updatedAt", down: true } as const;

const some = lines(
  row("agent:main:web:a", { label: "Groceries", totalTokens: 5, updatedAt: NOW - 3_600_000 }),
  row("agent:main:web:b", { label: "Garden", totalTokens: 900 }),
  row("agent:ops:telegram:c", { displayName: "Night watch", totalTokens: 70, updatedAt: NOW - 60_000 }),
);

describe("the table", () => {
  test("shows the newest first, or what was used most", () => {
    expect(keys(arrange(some, ALL, newest, NOW))).toEqual(["b", "c", "a"]);
    expect(keys(arrange(some, ALL, { by: "tokens", down: true }, NOW))).toEqual(["b", "c", "a"]);
    expect(keys(arrange(some, ALL, { by: "title", down: false }, NOW))).toEqual(["b", "a", "c"]);
    expect(keys(arrange(some, ALL, { by: "cost", down: true }, NOW))[0]).toBe("b");
  });
  test("finds words anywhere, in any order", () => {
    expect(keys(arrange(some, { ...ALL, text: "watch night" }, newest, NOW))).toEqual(["c"]);
    expect(arrange(some, { ...ALL, text: "watch garden" }, newest, NOW)).toEqual([]);
  });
  test("narrows by agent, channel and activity", () => {
    expect(keys(arrange(some, { ...ALL, agent: "ops" }, newest, NOW))).toEqual(["c"]);
    expect(keys(arrange(some, { ...ALL, where: "telegram" }, newest, NOW))).toEqual(["c"]);
    expect(keys(arrange(some, { ...ALL, minutes: 30 }, newest, NOW))).toEqual(["b", "c"]);
  });
});

test("sessions of automation are counted and not shown, until they are asked for, searched for or chosen by their kind", () => {
  const all = [...some, ...lines(row("agent:main:cron:nightly", { label: "Cron: Nightly" }))];
  expect([keys(arrange(all, CHATS, newest, NOW)), hiddenCount(all, CHATS)]).toEqual([["b", "c", "a"], 1]);
  for (const more of [{ automation: true }, { text: "nightly" }, { where: "cron" }]) {
    const filter = { ...CHATS, ...more };
    expect(keys(arrange(all, filter, newest, NOW))).toContain("nightly");
    expect(hiddenCount(all, filter)).toBe(0);
  }
});

test("newer rows replace older ones, so that a setting that was cleared is gone", () => {
  const found = merged([row("a", { label: "cleared", totalTokens: 1 }), row("b")], [row("a", { totalTokens: 2 }), row("c")]);
  expect(found.map(({ key }) => key)).toEqual(["a", "b", "c"]);
  expect(found[0]).toEqual(row("a", { totalTokens: 2 }));
});

test("sessions without usage cost nothing", () => {
  expect([
    ...costsOf({
      sessions: [
        { key: "a", usage: { totalCost: 2 } },
        { key: "b", usage: null },
      ],
    }),
  ]).toEqual([["a", 2]]);
});
