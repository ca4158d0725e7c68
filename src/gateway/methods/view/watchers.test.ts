import { expect, test } from "vitest";
import { createWatchers } from "./watchers.ts";

const here = (): AbortSignal => new AbortController().signal;

test("a session has its watchers, a connection its sessions", () => {
  const watchers = createWatchers();
  expect(watchers.sessions.size).toBe(0);
  for (const [connId, key] of [
    ["c1", "a"],
    ["c2", "a"],
    ["c1", "b"],
    ["c1", "a"],
  ] as const)
    watchers.add(connId, key, here());
  expect([watchers.keys("c1"), watchers.keys("c2"), [...watchers.sessions.keys()]]).toEqual([["a", "b"], ["a"], ["a", "b"]]);
  expect(watchers.sessions.get("a")).toEqual({ connIds: new Set(["c1", "c2"]), reasoning: false });
  watchers.allow("a", true);
  expect(watchers.sessions.get("a")!.reasoning).toBe(true);
  watchers.remove("c1", "a");
  watchers.remove("c1", "never");
  expect(watchers.sessions.get("a")!.connIds).toEqual(new Set(["c2"]));
});

test("a connection that is gone watches nothing, and nothing is kept of it", () => {
  const watchers = createWatchers();
  const connection = new AbortController();
  watchers.add("c1", "a", connection.signal);
  watchers.add("c1", "b", connection.signal);
  watchers.add("c2", "b", here());
  connection.abort();
  expect([watchers.keys("c1"), watchers.sessions.get("a"), watchers.sessions.get("b")!.connIds]).toEqual([[], undefined, new Set(["c2"])]);
  watchers.add("c1", "a", connection.signal);
  expect(watchers.sessions.get("a")).toBeUndefined();
  watchers.forget("c2");
  expect(watchers.sessions.size).toBe(0);
});

test("64 sessions are the most, and one that is watched already is none more", () => {
  const watchers = createWatchers();
  for (let n = 0; n < 64; n += 1) watchers.add("c1", `s${n}`, here());
  watchers.add("c1", "s5", here());
  expect(() => watchers.add("c1", "more", here())).toThrow("watches 64 sessions");
  watchers.add("c2", "more", here());
  watchers.remove("c1", "s5");
  watchers.add("c1", "more", here());
  expect(watchers.keys("c1")).toHaveLength(64);
});
