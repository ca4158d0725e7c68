import { expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import { silentLogger } from "../base/log/logger.ts";
import { createHookLog } from "./hook-log.ts";
import { createHooks } from "./create-hooks.ts";

const setup = () => {
  const hooks = createHooks({ clock: systemClock, log: silentLogger });
  return { hooks, log: createHookLog(hooks, () => 42) };
};
const by = (pluginId: string) => ({ pluginId, trusted: true }) as const;
const CALL = { toolName: "exec", params: {}, toolCallId: "1" };

test("results of deciding handlers are logged with their times, and the outcome is the same as without", async () => {
  const { hooks, log } = setup();
  hooks.on("before_tool_call", () => undefined, { ...by("quiet"), priority: 2 });
  hooks.on("before_tool_call", async () => ({ block: true, blockReason: "not here" }), by("guard"));
  const said = await log.hooks.run("before_tool_call", CALL, { toolName: "exec" });
  expect(said).toMatchObject({ block: true, blockReason: "not here", decidedBy: "guard" });
  expect(log.entries).toEqual([
    { hook: "before_tool_call", pluginId: "quiet", at: 42, ms: expect.any(Number) as number, decision: "ok" },
    { hook: "before_tool_call", pluginId: "guard", at: 42, ms: expect.any(Number) as number, decision: "decided", said: "block: not here" },
  ]);
});

test("failures are logged as such; observers are not logged; of synchronous handlers only their changes", async () => {
  const { hooks, log } = setup();
  hooks.on(
    "before_dispatch",
    () => {
      throw new Error("broken");
    },
    by("broken"),
  );
  hooks.on("message_received", () => undefined, by("watcher"));
  hooks.on("before_message_write", ({ message }) => (message.role === "user" ? { block: true } : undefined), by("filter"));
  await log.hooks.run("before_dispatch", { content: "x" }, { channelId: "test" });
  await log.hooks.run("message_received", { from: "a", content: "x" }, { channelId: "test" });
  for (const role of ["assistant", "user"]) log.hooks.run("before_message_write", { message: { role, content: "" } }, {});
  expect(log.entries.map(({ pluginId, decision, said }) => [pluginId, decision, said])).toEqual([
    ["broken", "failed", undefined],
    ["filter", "decided", "block"],
  ]);
});

test("it is bounded: without prompt texts, with short reasons, and 50 entries at most", async () => {
  const { hooks, log } = setup();
  hooks.on("before_dispatch", () => ({ content: "a secret", cancel: true, cancelReason: "why ".repeat(1000) }), by("guard"));
  for (let at = 0; at < 60; at += 1) await log.hooks.run("before_dispatch", { content: "x" }, { channelId: "test" });
  expect(log.entries).toHaveLength(50);
  expect(JSON.stringify(log.entries)).not.toContain("a secret");
  expect(log.entries[0]!.said!.length).toBeLessThanOrEqual(200);
});
