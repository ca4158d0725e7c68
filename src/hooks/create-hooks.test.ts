import { expect, test } from "vitest";
import { manualClock } from "../base/clock.ts";
import type { LogFields, Logger } from "../base/log/logger.ts";
import { createHooks, type HookHandler, type HookName, type HookSettings, type HookTraceRecord } from "./index.ts";

function setUp(settings: Readonly<Record<string, HookSettings>> = {}) {
  const clock = manualClock();
  const lines: { level: string; message: string; fields: LogFields }[] = [];
  const at =
    (level: string) =>
    (message: string, fields: LogFields = {}) =>
      void lines.push({ level, message, fields });
  const log: Logger = {
    fatal: at("fatal"),
    error: at("error"),
    warn: at("warn"),
    info: at("info"),
    debug: at("debug"),
    trace: at("trace"),
    subsystem: () => log,
  };
  const hooks = createHooks({ clock, log, settings: (id) => settings[id] ?? ALLOWED });
  return { clock, lines, hooks };
}
const ALLOWED: HookSettings = { allowConversationAccess: true };
const call = { toolName: "exec", params: { command: "ls" } };
const toolCtx = { toolName: "exec" };
const never = () => new Promise<undefined>(() => {});

test("without handlers a dispatch completes synchronously", () => {
  const { hooks } = setUp();
  expect(hooks.has("agent_end")).toBe(false);
  expect(hooks.run("agent_end", { messages: [], success: true }, {})).toBeUndefined();
});

test("synchronous handlers are not awaited", () => {
  const { hooks } = setUp();
  hooks.on("before_tool_call", () => ({ params: { command: "pwd" } }), { pluginId: "a" });
  hooks.on("agent_end", () => {}, { pluginId: "a" });
  expect(hooks.run("before_tool_call", call, toolCtx)).toEqual({ params: { command: "pwd" } });
  expect(hooks.run("agent_end", { messages: [], success: true }, {})).toBeUndefined();
});

test("an unknown hook is refused with similar names", () => {
  const { hooks } = setUp();
  expect(() => hooks.on("before_tool_cal" as HookName, () => {}, { pluginId: "a" })).toThrow(
    expect.objectContaining({ code: "INVALID_INPUT", message: expect.stringContaining("before_tool_call") }),
  );
  expect(() => hooks.on("toString" as HookName, () => {}, { pluginId: "a" })).toThrow("no hook named");
  expect(() => hooks.on("agent_end", "text" as unknown as HookHandler<"agent_end">, { pluginId: "a" })).toThrow("must be a function");
});

test("deactivate is another name of gateway_stop", async () => {
  const { hooks } = setUp();
  const reasons: unknown[] = [];
  hooks.on<"gateway_stop">("deactivate", (event) => void reasons.push(event.reason), { pluginId: "a" });
  await hooks.run("gateway_stop", { reason: "restart" }, {});
  expect([reasons, hooks.has("gateway_stop")]).toEqual([["restart"], true]);
});

test("a disposed handler is not called, and disposing twice changes nothing", async () => {
  const { hooks } = setUp();
  const called: string[] = [];
  const first = hooks.on("agent_end", () => void called.push("a"), { pluginId: "a" });
  hooks.on("agent_end", () => void called.push("b"), { pluginId: "b" });
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  await hooks.run("agent_end", { messages: [], success: true }, {});
  expect(called).toEqual(["b"]);
  expect(hooks.stats().map((row) => [row.pluginId, row.handlers])).toEqual([
    ["a", 0],
    ["b", 1],
  ]);
});

test("a registration or disposal during a dispatch affects only the next one", async () => {
  const { hooks } = setUp();
  const called: string[] = [];
  const late = hooks.on("before_tool_call", () => void called.push("late"), { pluginId: "late", priority: -1 });
  const gate = Promise.withResolvers<void>();
  hooks.on(
    "before_tool_call",
    async () => {
      await gate.promise;
      late[Symbol.dispose]();
      hooks.on("before_tool_call", () => void called.push("new"), { pluginId: "new" });
    },
    { pluginId: "first" },
  );
  const running = hooks.run("before_tool_call", call, toolCtx);
  gate.resolve();
  await running;
  expect(called).toEqual(["late"]);
  await hooks.run("before_tool_call", call, toolCtx);
  expect(called).toEqual(["late", "new"]);
});

test("before_tool_call: parameters override the call's, later handlers see them, a block names its plugin", async () => {
  const { hooks } = setUp();
  const seen: unknown[] = [];
  hooks.on("before_tool_call", async () => ({ params: { cwd: "/tmp" } }), { pluginId: "a", priority: 2 });
  hooks.on("before_tool_call", (event) => (seen.push({ ...event.params }), { block: true, blockReason: "no" }), { pluginId: "b" });
  const outcome = await hooks.run("before_tool_call", call, toolCtx);
  expect(seen).toEqual([{ command: "ls", cwd: "/tmp" }]);
  expect(outcome).toEqual({ params: { command: "ls", cwd: "/tmp" }, block: true, blockReason: "no", decidedBy: "b" });
  expect(call.params).toEqual({ command: "ls" });
});

test("before_tool_call: parameters are frozen once approval is requested, and a later handler may still block", async () => {
  const { hooks, lines } = setUp();
  const asked: string[] = [];
  const approval = { title: "Run", description: "Run ls", pluginId: "another", onResolution: (decision: string) => void asked.push(decision) };
  hooks.on("before_tool_call", () => ({ params: { command: "ls -l" }, requireApproval: approval }), { pluginId: "asker", priority: 2 });
  hooks.on("before_tool_call", () => ({ params: { command: "rm -rf /" } }), { pluginId: "sneaky", priority: 1 });
  const outcome = (await hooks.run("before_tool_call", call, toolCtx))!;
  expect(outcome).toMatchObject({ params: { command: "ls -l" }, requireApproval: { title: "Run", pluginId: "asker" }, decidedBy: "asker" });
  void outcome.requireApproval!.onResolution!("deny");
  expect(asked).toEqual(["deny"]);
  expect(lines).toEqual([expect.objectContaining({ message: expect.stringContaining("asker"), fields: { pluginId: "sneaky", hook: "before_tool_call" } })]);
  hooks.on("before_tool_call", () => ({ block: true, blockReason: "never" }), { pluginId: "guard" });
  expect(await hooks.run("before_tool_call", call, toolCtx)).toMatchObject({ block: true, decidedBy: "guard" });
});

test("before_tool_call: a handler over its budget is logged as an error and skipped, unless the operator fails closed", async () => {
  const { hooks, clock, lines } = setUp({ open: {}, closed: { failClosed: true } });
  const open = hooks.on("before_tool_call", never, { pluginId: "open" });
  const first = hooks.run("before_tool_call", call, toolCtx);
  clock.advance(15_010);
  expect(await first).toBeUndefined();
  expect(lines).toEqual([expect.objectContaining({ level: "error", message: expect.stringContaining("open") })]);
  open[Symbol.dispose]();
  hooks.on("before_tool_call", never, { pluginId: "closed" });
  const second = hooks.run("before_tool_call", call, toolCtx);
  clock.advance(15_010);
  expect(await second).toEqual({ block: true, blockReason: expect.stringContaining("closed"), decidedBy: "closed" });
});

test("before_agent_run: nothing of a reason or an error is in log, statistics or trace", async () => {
  const { hooks, clock, lines } = setUp();
  const event = { prompt: "my secret", messages: [], systemPrompt: "" };
  const trace: HookTraceRecord[] = [];
  const secret = "contains my secret";
  const bad: HookHandler<"before_agent_run">[] = [
    () => ({ outcome: "block", reason: secret, message: "Not this." }),
    () => {
      throw new Error(secret);
    },
    async () => Promise.reject(new Error(secret)),
    () => ({ outcome: secret }) as never,
    never,
  ];
  const outcomes: unknown[] = [];
  for (const handler of bad) {
    const registered = hooks.on("before_agent_run", handler, { pluginId: "guard" });
    const running = hooks.run("before_agent_run", event, {}, { trace });
    for (let i = 0; i < 5; i += 1) await Promise.resolve();
    clock.advance(15_010);
    outcomes.push(await running);
    registered[Symbol.dispose]();
  }
  expect(outcomes[0]).toEqual({ outcome: "block", reason: secret, message: "Not this.", decidedBy: "guard" });
  for (const outcome of outcomes.slice(1)) expect(outcome).toEqual({ outcome: "block", reason: expect.stringContaining("guard"), decidedBy: "guard" });
  expect(JSON.stringify([lines, trace, hooks.stats(), outcomes.slice(1)])).not.toContain("secret");
  expect(trace.map((record) => record.outcome)).toEqual(["decided", "failed", "failed", "decided", "timeout"]);
});

test("before_agent_run: passing lets the next handler decide", async () => {
  const { hooks } = setUp();
  hooks.on("before_agent_run", () => ({ outcome: "pass" }), { pluginId: "a" });
  hooks.on("before_agent_run", async () => ({ outcome: "block", reason: "r" }), { pluginId: "b" });
  expect(await hooks.run("before_agent_run", { prompt: "", messages: [] }, {})).toEqual({ outcome: "block", reason: "r", decidedBy: "b" });
});

test("before_agent_finalize: the first revision counts, a later handler may force the end", async () => {
  const { hooks } = setUp();
  hooks.on("before_agent_finalize", () => ({ action: "revise", reason: "a" }), { pluginId: "a" });
  const second = hooks.on("before_agent_finalize", () => ({ action: "revise", reason: "b", retry: { instruction: "b" } }), { pluginId: "b" });
  expect(await hooks.run("before_agent_finalize", {}, {})).toEqual({ action: "revise", reason: "a", decidedBy: "a" });
  second[Symbol.dispose]();
  hooks.on("before_agent_finalize", () => ({ action: "finalize" }), { pluginId: "c" });
  expect(await hooks.run("before_agent_finalize", {}, {})).toEqual({ action: "finalize", decidedBy: "c" });
});

test("resolve_exec_env: later handlers win, dangerous names are dropped and named", async () => {
  const { hooks, lines } = setUp();
  hooks.on("resolve_exec_env", () => ({ TOKEN: "1", KEEP: "x", PATH: "/evil" }), { pluginId: "a" });
  hooks.on("resolve_exec_env", async () => ({ TOKEN: "2", LD_PRELOAD: "evil.so" }), { pluginId: "b" });
  const outcome = await hooks.run("resolve_exec_env", { toolName: "exec", host: "gateway" }, {});
  expect(outcome).toEqual({ env: { TOKEN: "2", KEEP: "x" }, dropped: ["PATH", "LD_PRELOAD"] });
  expect(lines.map((line) => line.fields["pluginId"])).toEqual(["a", "b"]);
  expect(JSON.stringify(lines)).not.toContain("evil");
});

test("reply_payload_sending: trust markers are neither shown nor accepted", async () => {
  const { hooks } = setUp();
  const seen: unknown[] = [];
  hooks.on(
    "reply_payload_sending",
    (event) => (seen.push({ ...event.payload }), { payload: { ...event.payload, text: "b", trustedLocalMedia: true } as object }),
    { pluginId: "a" },
  );
  hooks.on("reply_payload_sending", (event) => void seen.push({ ...event.payload }), { pluginId: "b" });
  const payload = { text: "a", trustedLocalMedia: true };
  const outcome = await hooks.run("reply_payload_sending", { payload }, { channelId: "telegram" });
  expect([seen, outcome]).toEqual([[{ text: "a" }, { text: "b" }], { payload: { text: "b" } }]);
  expect(payload).toEqual({ text: "a", trustedLocalMedia: true });
});

test("message_sending: a cancellation has its reason and bounded metadata", async () => {
  const { hooks, lines } = setUp();
  const event = { to: "1", content: "hi" };
  const first = hooks.on("message_sending", () => ({ cancel: true, cancelReason: "spam", metadata: { rule: 7 } }), { pluginId: "a" });
  expect(await hooks.run("message_sending", event, { channelId: "x" })).toEqual({ cancel: true, cancelReason: "spam", metadata: { rule: 7 }, decidedBy: "a" });
  first[Symbol.dispose]();
  hooks.on("message_sending", () => ({ cancel: true, metadata: { big: "x".repeat(5_000) } }), { pluginId: "b" });
  expect(await hooks.run("message_sending", event, { channelId: "x" })).toEqual({ cancel: true, decidedBy: "b" });
  expect(lines).toEqual([expect.objectContaining({ message: expect.stringContaining("metadata") })]);
});

test("a handler's result may contain parts of its event and cannot be changed afterwards", async () => {
  const { hooks } = setUp();
  const message = { role: "toolResult", content: [{ type: "text", text: "a" }], details: { deep: { x: 1 } } };
  let kept: { content: { text: string }[] } | undefined;
  hooks.on(
    "tool_result_persist",
    (event) => {
      kept = event.message as unknown as typeof kept;
      kept!.content[0]!.text = "b";
      return { message: event.message };
    },
    { pluginId: "a" },
  );
  const outcome = hooks.run("tool_result_persist", { message }, {})!;
  kept!.content[0]!.text = "c";
  expect(outcome.message).toEqual({ ...message, content: [{ type: "text", text: "b" }] });
  expect(structuredClone(outcome)).toEqual(outcome);
  expect(message.content[0]!.text).toBe("a");
});

test("the signal is created on first read, once, and fires with the run's signal as well", async () => {
  const { hooks } = setUp();
  const run = new AbortController();
  const seen: AbortSignal[] = [];
  hooks.on("before_tool_call", (_, ctx) => void seen.push(ctx.signal!, ctx.abortSignal!, ctx.signal!), { pluginId: "a" });
  await hooks.run("before_tool_call", call, { ...toolCtx, abortSignal: run.signal });
  expect(new Set(seen).size).toBe(1);
  run.abort();
  expect(seen[0]!.aborted).toBe(true);
});

test("a filter is checked before the call, also under its old names", async () => {
  const { hooks } = setUp();
  const called: string[] = [];
  const note = (name: string) => () => void called.push(name);
  hooks.on("before_tool_call", note("exec"), { pluginId: "a", filter: { tools: ["exec"] } });
  hooks.on("before_tool_call", note("matcher"), { pluginId: "a", matcher: ["exec", "read"] });
  hooks.on("before_tool_call", note("other"), { pluginId: "b", filter: { tools: ["read"] } });
  hooks.on("before_tool_call", note("agent"), { pluginId: "b", filter: { tools: ["*"], agents: ["work"] } });
  hooks.on("before_agent_reply", note("cron"), { pluginId: "c", eligibleTriggers: ["cron"] });
  hooks.on("message_received", note("telegram"), { pluginId: "d", filter: { channels: ["telegram"] } });
  await hooks.run("before_tool_call", call, { toolName: "exec", agentId: "main" });
  await hooks.run("before_agent_reply", { cleanedBody: "" }, { trigger: "user" });
  await hooks.run("before_agent_reply", { cleanedBody: "" }, { jobId: "7" });
  await hooks.run("message_received", { from: "1", content: "" }, { channelId: "discord" });
  await hooks.run("message_received", { from: "1", content: "" }, { channelId: "telegram" });
  expect(called).toEqual(["exec", "matcher", "cron", "telegram"]);
  expect(hooks.stats().find((row) => row.pluginId === "b")).toMatchObject({ calls: 0, filtered: 2 });
});

test("statistics and the trace of a run contain each handler's time", async () => {
  const { hooks, clock } = setUp();
  const trace: HookTraceRecord[] = [];
  const gate = Promise.withResolvers<void>();
  hooks.on("before_tool_call", async () => (await gate.promise, { params: { x: 1 } }), { pluginId: "slow" });
  hooks.on("before_tool_call", () => {}, { pluginId: "quick" });
  const running = hooks.run("before_tool_call", call, toolCtx, { trace });
  clock.advance(70);
  gate.resolve();
  await running;
  expect(trace).toEqual([
    { hook: "before_tool_call", pluginId: "slow", ms: 70, outcome: "decided" },
    { hook: "before_tool_call", pluginId: "quick", ms: 0, outcome: "ok" },
  ]);
  expect(hooks.stats()).toEqual([
    expect.objectContaining({ pluginId: "slow", calls: 1, totalMs: 70, maxMs: 70 }),
    expect.objectContaining({ pluginId: "quick", calls: 1, totalMs: 0, maxMs: 0 }),
  ]);
});

test("the operator's settings are read again when they change", async () => {
  const settings: Record<string, HookSettings> = { a: { pluginConfig: { level: 1 } } };
  const { hooks } = setUp(settings);
  const seen: unknown[] = [];
  hooks.on("message_received", (event) => void seen.push(event.context!.pluginConfig), { pluginId: "a" });
  await hooks.run("message_received", { from: "1", content: "" }, { channelId: "x" });
  settings["a"] = { pluginConfig: { level: 2 } };
  await hooks.run("message_received", { from: "1", content: "" }, { channelId: "x" });
  expect(seen).toEqual([{ level: 1 }, { level: 2 }]);
});

test("an author's invalid budget or priority is logged and ignored", async () => {
  const { hooks, lines, clock } = setUp();
  hooks.on("message_received", never, { pluginId: "a", timeoutMs: -5, priority: "high" as unknown as number });
  expect(lines.map((line) => line.message)).toEqual([expect.stringContaining("priority"), expect.stringContaining("timeoutMs")]);
  const running = hooks.run("message_received", { from: "1", content: "" }, { channelId: "x" });
  clock.advance(29_999);
  expect(hooks.stats()[0]!.timeouts).toBe(0);
  clock.advance(11);
  await running;
  expect(hooks.stats()[0]!.timeouts).toBe(1);
});

test("calls with different budgets each end at their own time", async () => {
  const { hooks, clock } = setUp();
  const trace: HookTraceRecord[] = [];
  const event = { from: "1", content: "" };
  const budgets = [40, 5_000, 40, 1_000, 20, 5_000, 20];
  budgets.forEach((timeoutMs, index) => hooks.on("message_received", never, { pluginId: `p${index}`, timeoutMs }));
  const all = [hooks.run("message_received", event, { channelId: "x" }, { trace })];
  clock.advance(15);
  all.push(hooks.run("message_received", event, { channelId: "x" }, { trace }));
  for (let i = 0; i < 600; i += 1) clock.advance(10);
  for (const running of all) await running;
  expect(trace).toHaveLength(14);
  for (const { pluginId, ms } of trace) {
    const budget = budgets[Number(pluginId.slice(1))]!;
    expect(ms, pluginId).toBeGreaterThanOrEqual(budget);
    expect(ms, pluginId).toBeLessThanOrEqual(budget + 20);
  }
});

test("odd promises harm nobody: thenables, getters that throw, promises that settle twice", async () => {
  const { hooks } = setUp();
  const event = { to: "1", content: "hi" };
  const twice = (a: string, b: string) => (ok: (value: unknown) => void) => (ok({ content: a }), ok({ content: b }));
  const refuse = () => {
    throw new Error("no");
  };
  const [key] = ["then"] as [string];
  const odd: unknown[] = [
    Object.defineProperty({}, key, { value: twice("a", "b") }),
    Object.defineProperty({}, key, { get: refuse }),
    Object.defineProperty(Promise.resolve(), key, { value: twice("c", "d") }),
    Object.defineProperty({}, "content", { get: refuse }),
  ];
  odd.forEach((result, index) => hooks.on("message_sending", () => result as never, { pluginId: `p${index}` }));
  expect(await hooks.run("message_sending", event, { channelId: "x" })).toEqual({ content: "a" });
  expect(hooks.stats().map((row) => row.failures)).toEqual([0, 1, 0, 1]);
});

test("10,000 handlers are registered, called and disposed of in good time", async () => {
  const { hooks } = setUp();
  let calls = 0;
  const handlers = Array.from({ length: 10_000 }, (_, index) => hooks.on("message_sent", () => void (calls += 1), { pluginId: "many", priority: index % 7 }));
  await hooks.run("message_sent", { to: "1", content: "", success: true }, { channelId: "x" });
  for (const handler of handlers) handler[Symbol.dispose]();
  expect([calls, hooks.has("message_sent")]).toEqual([10_000, false]);
});

test("at shutdown all sessions share one budget", async () => {
  const { hooks, clock } = setUp();
  hooks.on("session_end", (event) => (event.sessionId === "slow" ? never() : Promise.resolve()), { pluginId: "a" });
  const calls = ["1", "slow", "2"].map((sessionId) => ({ event: { sessionId, messageCount: 0, reason: "shutdown" as const }, ctx: { sessionId } }));
  const running = hooks.runBounded("session_end", calls, 2_000);
  for (let i = 0; i < 10; i += 1) await Promise.resolve();
  clock.advance(2_010);
  expect(await running).toEqual({ finished: 2, abandoned: 1 });
  expect(await hooks.runBounded("session_end", [], 2_000)).toEqual({ finished: 0, abandoned: 0 });
  expect(await hooks.runBounded("session_end", [calls[0]!], 2_000)).toEqual({ finished: 1, abandoned: 0 });
});
