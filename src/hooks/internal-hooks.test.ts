import { expect, test } from "vitest";
import { manualClock } from "../base/clock.ts";
import { silentLogger, type Logger } from "../base/log/logger.ts";
import { createInternalHooks, type InternalHookEvent } from "./index.ts";

function setUp(enabled = true) {
  const clock = manualClock();
  const lines: string[] = [];
  const log: Logger = { ...silentLogger, warn: (message) => void lines.push(message), error: (message) => void lines.push(message) };
  return { clock, lines, hooks: createInternalHooks({ log, clock, enabled: () => enabled }) };
}

test("handlers of the type run before those of the action, and their messages go to the user", async () => {
  const { hooks, clock } = setUp();
  const seen: InternalHookEvent[] = [];
  hooks.register("command:new", (event) => void event.messages.push("second"), { pluginId: "a", name: "new" });
  hooks.register(["command", "gateway:startup"], async (event) => void (seen.push(event), event.messages.push("first")), { pluginId: "a", name: "all" });
  hooks.register("command:reset", (event) => void event.messages.push("never"), { pluginId: "a", name: "reset" });
  expect(await hooks.trigger("command", "new", "agent:main:main", { x: 1 })).toEqual(["first", "second"]);
  expect(seen).toEqual([
    { type: "command", action: "new", sessionKey: "agent:main:main", context: { x: 1 }, timestamp: new Date(clock.now()), messages: ["first", "second"] },
  ]);
});

test("the host reads what a handler adds to the context", async () => {
  const { hooks } = setUp();
  const context = { bootstrapFiles: ["a"] };
  hooks.register("agent:bootstrap", (event) => void (event.context["bootstrapFiles"] as string[]).push("b"), { pluginId: "a", name: "files" });
  await hooks.trigger("agent", "bootstrap", "s", context);
  expect(context.bootstrapFiles).toEqual(["a", "b"]);
});

test("nothing is called while internal hooks are disabled, or for handlers only declared or disposed", async () => {
  const off = setUp(false).hooks;
  off.register("command", () => expect.unreachable(), { pluginId: "a", name: "x" });
  expect([await off.trigger("command", "new", "s"), off.has("command", "new")]).toEqual([[], false]);
  const { hooks } = setUp();
  hooks.register("command", () => expect.unreachable(), { pluginId: "a", name: "x", register: false });
  hooks.register("command", () => expect.unreachable(), { pluginId: "a", name: "y" })[Symbol.dispose]();
  expect([await hooks.trigger("command", "new", "s"), hooks.has("command", "new")]).toEqual([[], false]);
});

test("a handler that throws or hangs is logged and the next one runs", async () => {
  const { hooks, lines, clock } = setUp();
  hooks.register("command", () => Promise.reject(new Error("boom")), { pluginId: "a", name: "bad" });
  hooks.register("command", () => new Promise(() => {}), { pluginId: "a", name: "slow" });
  hooks.register("command", (event) => void event.messages.push("done"), { pluginId: "b", name: "good" });
  const running = hooks.trigger("command", "new", "s");
  for (let i = 0; i < 10; i += 1) await Promise.resolve();
  clock.advance(30_000);
  expect(await running).toEqual(["done"]);
  expect(lines).toEqual([expect.stringMatching(/a: its internal hook bad failed: boom/), expect.stringMatching(/slow took longer than 30000 ms/)]);
});

test.each([
  [{ keys: "command", name: undefined, handler: () => {} }, "no name"],
  [{ keys: " ", name: "x", handler: () => {} }, "names no event"],
  [{ keys: "command", name: "x", handler: 1 }, "must be a function"],
])("a registration that is not complete is refused (%#)", ({ keys, name, handler }, text) => {
  const { hooks } = setUp();
  expect(() => hooks.register(keys, handler as never, { pluginId: "a", ...(name === undefined ? {} : { name }) })).toThrow(text);
});
