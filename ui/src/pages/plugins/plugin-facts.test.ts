import { describe, expect, test } from "vitest";
import { inOrder, permissionsOf, registeredBy, timingsOf, type Plugin, type Stats } from "./plugin-facts.ts";

const plugin = (over: Partial<Plugin> = {}): Plugin => ({
  id: "one",
  name: "One",
  source: "/p/one",
  origin: "global",
  enabled: true,
  status: "loaded",
  toolNames: [],
  hookNames: [],
  channelIds: [],
  providerIds: [],
  gatewayMethods: [],
  cliCommands: [],
  services: [],
  commands: [],
  httpHandlers: 0,
  hookCount: 0,
  configSchema: true,
  generation: 1,
  running: 0,
  timers: 0,
  servers: 0,
  ...over,
});

const stats = (hooks: readonly Partial<Stats["hooks"][number]>[], breakers: Stats["breakers"] = []): Stats => ({
  ts: 0,
  hooks: hooks.map((row) => ({ pluginId: "one", hook: "h", handlers: 1, calls: 0, failures: 0, timeouts: 0, skipped: 0, totalMs: 0, maxMs: 0, ...row })),
  breakers,
  plugins: [],
});

test("only kinds that a plugin registered are listed, commands with their slash", () => {
  expect(registeredBy(plugin({ toolNames: ["look"], commands: ["audit"], httpHandlers: 2 }))).toEqual([
    { kind: "Tools", names: ["look"] },
    { kind: "Chat commands", names: ["/audit"] },
    { kind: "HTTP routes", names: ["2 routes"] },
  ]);
});

describe("what a plugin may do", () => {
  const hears = (origin: Plugin["origin"], config: unknown): boolean | undefined => permissionsOf(plugin({ origin }), config)[1]?.allowed;
  const hooks = (value: object): unknown => ({ plugins: { entries: { one: { hooks: value } } } });

  test("a bundled one hears conversations unless that is taken away", () => {
    expect([hears("bundled", {}), hears("bundled", hooks({ allowConversationAccess: false }))]).toEqual([true, false]);
  });
  test("an installed one hears them only when it is allowed to", () => {
    expect([hears("global", undefined), hears("global", hooks({ allowConversationAccess: true }))]).toEqual([false, true]);
  });
  test("prompts are added to unless that is forbidden", () => {
    expect(permissionsOf(plugin(), hooks({ allowPromptInjection: false }))[2]).toMatchObject({ allowed: false });
  });
});

test("timings are averages with bars against the slowest, with what is held back", () => {
  const rows = timingsOf(
    stats(
      [
        { hook: "fast", calls: 10, totalMs: 10, failures: 1, timeouts: 2 },
        { hook: "slow", calls: 2, totalMs: 20 },
        { hook: "other", pluginId: "two", calls: 1, totalMs: 900 },
      ],
      [{ pluginId: "one", hook: "slow", state: "open", failures: 5, retryAt: 9 }],
    ),
    "one",
  );
  expect(rows.map(({ hook, averageMs, share, failures }) => [hook, averageMs, share, failures])).toEqual([
    ["slow", 10, 1, 0],
    ["fast", 1, 0.1, 3],
  ]);
  expect(rows[0]?.breaker).toEqual({ state: "open", retryAt: 9 });
});

test("a hook that was never called has no bar", () => {
  expect(timingsOf(stats([{}]), "one")[0]).toMatchObject({ averageMs: 0, share: 0 });
});

test("broken plugins come first and the filter looks at names and descriptions", () => {
  const all = [
    plugin({ id: "b", name: "B", status: "disabled" }),
    plugin({ id: "a", name: "A", description: "weather" }),
    plugin({ id: "c", name: "C", status: "error" }),
  ];
  expect(inOrder(all).map(({ id }) => id)).toEqual(["c", "a", "b"]);
  expect(inOrder(all, " Weath").map(({ id }) => id)).toEqual(["a"]);
});
