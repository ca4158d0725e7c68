import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { createHooks, type HookSettings } from "../../src/hooks/index.ts";
import { median, round } from "../stats.ts";
import type { Measure, Row } from "../row.ts";

const HANDLERS = 5;
/** A plugin's configuration, as handlers find it in their event. */
const SETTINGS: HookSettings = { pluginConfig: { level: "strict", limit: 3 }, timeoutMs: 5_000 };

function runner() {
  return createHooks({ clock: systemClock, log: silentLogger, settings: () => SETTINGS });
}

const toolEvent = () => ({ toolName: "web_search", params: { query: "weather in Vienna", count: 5 }, toolCallId: "call-1", runId: "run-1" });
const toolContext = () => ({ toolName: "web_search", agentId: "main", sessionKey: "agent:main:main", sessionId: "s-1", runId: "run-1" });
const resultEvent = () => ({
  toolName: "web_search",
  toolCallId: "call-1",
  message: { role: "toolResult", content: [{ type: "text", text: "sunny" }] },
  isSynthetic: false,
});
const transcriptContext = () => ({ agentId: "main", sessionKey: "agent:main:main", toolName: "web_search", toolCallId: "call-1" });

/** Nanoseconds of one call, by the median of several rounds. */
async function nanoseconds(rounds: number, calls: number, call: () => unknown): Promise<number> {
  const each: number[] = [];
  for (let i = 0; i < rounds; i += 1) {
    const before = performance.now();
    for (let j = 0; j < calls; j += 1) {
      const result = call();
      if (result instanceof Promise) await result;
    }
    each.push(((performance.now() - before) * 1e6) / calls);
  }
  return median(each);
}

function noHandlers() {
  const hooks = runner();
  const event = toolEvent();
  const ctx = toolContext();
  return () => hooks.run("before_tool_call", event, ctx);
}

/** Handlers look at their event, like real ones; every other one at its configuration. */
function fiveAsync() {
  const hooks = runner();
  for (let i = 0; i < HANDLERS; i += 1) {
    hooks.on("before_tool_call", async (event) => (event.params["query"] === "never" ? { block: true } : undefined), { pluginId: `plugin-${i}`, priority: i });
  }
  const event = toolEvent();
  const ctx = toolContext();
  return () => hooks.run("before_tool_call", event, ctx);
}

function fiveSync() {
  const hooks = runner();
  for (let i = 0; i < HANDLERS; i += 1) {
    hooks.on("tool_result_persist", (event) => (event.isSynthetic ? { message: event.message } : undefined), { pluginId: `plugin-${i}`, priority: i });
  }
  const event = resultEvent();
  const ctx = transcriptContext();
  return () => hooks.run("tool_result_persist", event, ctx);
}

/** What five awaited calls and a timer for each of them cost by themselves. */
function bareAwaits(timers: boolean) {
  const handlers = Array.from(
    { length: HANDLERS },
    () => async (event: { params: { query: string } }) => (event.params.query === "never" ? { block: true } : undefined),
  );
  const event = toolEvent();
  const all = async () => {
    for (const handler of handlers) {
      const timer = timers ? setTimeout(() => {}, 5_000) : undefined;
      await handler(event);
      clearTimeout(timer);
    }
  };
  return () => all();
}

export const hooks: Measure = {
  name: "hooks",
  async run({ quick }): Promise<readonly Row[]> {
    const rounds = quick ? 3 : 15;
    const calls = quick ? 2_000 : 100_000;
    const measured = async (call: () => unknown) => {
      await nanoseconds(1, quick ? 500 : 50_000, call);
      return nanoseconds(rounds, calls, call);
    };
    const none = await measured(noHandlers());
    const async = await measured(fiveAsync());
    const sync = await measured(fiveSync());
    const bare = await measured(bareAwaits(false));
    const timers = await measured(bareAwaits(true));
    const row = (name: string, value: number, bar: number, facts: Row["facts"]): Row => ({
      name,
      value: round(value, 1),
      unit: "ns",
      bar,
      better: "lower",
      facts,
    });
    return [
      row("hooks: a dispatch without handlers", none, 100, {}),
      row("hooks: five asynchronous handlers, budgets and isolation", async, 2_000, {
        "bare awaits ns": round(bare, 0),
        "bare awaits with timers ns": round(timers, 0),
      }),
      row("hooks: five synchronous handlers", sync, 450, {}),
    ];
  },
};
