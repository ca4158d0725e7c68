import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { createHooks, HOOKS, type HookHandler, type HookName, type HookSettings } from "../../src/hooks/index.ts";
import { median, round } from "../stats.ts";
import type { Measure, Row } from "../row.ts";

const HANDLERS = 5;
/** A plugin's configuration, as handlers find it in their event. */
const SETTINGS: HookSettings = { pluginConfig: { level: "strict", limit: 3 }, timeoutMs: 5_000, allowConversationAccess: true };

function runner() {
  return createHooks({ clock: systemClock, log: silentLogger, settings: () => SETTINGS });
}

/** Every hook once with many shapes of events, as in a gateway that has been running: code that is quick for one shape only is found out. */
async function liveIn(): Promise<void> {
  const hooks = runner();
  const names = Object.keys(HOOKS) as HookName[];
  for (const name of names) hooks.on(name, (event: object, ctx: object) => void [event, ctx], { pluginId: "resident" });
  const fields = (count: number, from: number, value: (index: number) => unknown): Record<string, unknown> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${(from + index) % 23}`, value(index)]));
  for (let round = 0; round < 200; round += 1) {
    for (const [index, name] of names.entries()) {
      const event = fields(2 + (index % 5), index * 7, (key) => (key % 2 === 0 ? { nested: { deep: key } } : "text"));
      await hooks.run(
        name,
        event,
        fields(2 + (index % 4), index * 5, () => "text"),
      );
    }
  }
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

function fiveSync(contexts: boolean) {
  const hooks = runner();
  for (let i = 0; i < HANDLERS; i += 1) {
    const handler: HookHandler<"tool_result_persist"> = contexts
      ? (event, ctx) => (event.isSynthetic && ctx.agentId === "main" ? { message: event.message } : undefined)
      : (event) => (event.isSynthetic ? { message: event.message } : undefined);
    hooks.on("tool_result_persist", handler, { pluginId: `plugin-${i}`, priority: i });
  }
  const event = resultEvent();
  const ctx = transcriptContext();
  return () => hooks.run("tool_result_persist", event, ctx);
}

/** What five handlers with an event of their own cost without a runner. */
function bareLoop() {
  const handlers = Array.from({ length: HANDLERS }, () => (event: ReturnType<typeof resultEvent>) => (event.isSynthetic ? event.message : undefined));
  const event = resultEvent();
  return () => {
    let result: unknown;
    for (const handler of handlers) result = handler({ ...event }) ?? result;
    return result;
  };
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
    await liveIn();
    const none = await measured(noHandlers());
    const async = await measured(fiveAsync());
    const sync = await measured(fiveSync(false));
    const contexts = await measured(fiveSync(true));
    const loop = await measured(bareLoop());
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
      row("hooks: five synchronous handlers", sync, 450, {
        "with contexts ns": round(contexts, 0),
        "bare loop ns": round(loop, 0),
        "of the bare loop": round(sync / loop, 1),
      }),
    ];
  },
};
