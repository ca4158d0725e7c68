/**
 * Every hook against its contract. The cases are made from the catalog; what the catalog itself must say stands here as lists, so that a wrong row
 * fails as well.
 */
import { describe, expect, test } from "vitest";
import { manualClock } from "../../src/base/clock.ts";
import type { LogFields, Logger } from "../../src/base/log/logger.ts";
import { createHooks, HOOKS, type FieldSpec, type HookHandler, type HookName, type HookSettings } from "../../src/hooks/index.ts";

const words = (text: string): string[] => text.trim().split(/\s+/);

const OBSERVED = words(`
  agent_end model_call_started model_call_ended llm_input llm_output after_tool_call message_received message_sent session_start session_end
  before_compaction after_compaction before_reset subagent_spawned subagent_ended gateway_start gateway_stop cron_changed
`);
const DECIDED = words(`
  before_model_resolve agent_turn_prepare before_prompt_build before_agent_start heartbeat_prompt_contribution before_agent_run
  before_agent_reply before_agent_finalize before_tool_call resolve_exec_env inbound_claim before_dispatch reply_dispatch message_sending
  reply_payload_sending subagent_spawning subagent_delivery_target before_install
`);
const AT_ONCE = ["tool_result_persist", "before_message_write"];
const NEWER = ["channel_pairing_requested", "cron_reconciled", "subagent_progress"];
const CONVERSATION = ["before_model_resolve", "before_agent_reply", "llm_input", "llm_output", "before_agent_finalize", "agent_end", "before_agent_run"];
const THROW_BLOCKS = ["before_agent_run", "before_install", "before_tool_call"];
const TIMEOUT_BLOCKS = ["before_agent_run", "before_install"];
const PROMPT = ["agent_turn_prepare", "before_prompt_build", "before_agent_start", "heartbeat_prompt_contribution"];
const BUDGETS: Readonly<Record<string, number>> = { gateway_stop: 5_000, channel_pairing_requested: 2_000 };

const names = Object.keys(HOOKS) as HookName[];
const byMode = (mode: string): string[] => names.filter((name) => HOOKS[name].mode === mode && !HOOKS[name].newer).sort();

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields;
}

function recorder(): { lines: Line[]; log: Logger } {
  const lines: Line[] = [];
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
  return { lines, log };
}

function bench(settings: Readonly<Record<string, HookSettings>> = {}) {
  const clock = manualClock();
  const { lines, log } = recorder();
  const allowed: HookSettings = { allowConversationAccess: true };
  const hooks = createHooks({ clock, log, settings: (id) => settings[id] ?? allowed });
  return { clock, lines, hooks };
}

type Loose = (event: Record<string, unknown>, ctx: Record<string, unknown>) => unknown;

/** One event for all hooks: the runner looks at none of it but what results rewrite. */
const event = () => ({
  prompt: "hello",
  content: "hello",
  params: { query: "a", deep: { list: [1, { two: 2 }] } },
  message: { role: "user", content: [{ type: "text", text: "hello" }] },
  payload: { text: "hello", channelData: { x: { y: 1 } } },
  messages: [{ role: "user", content: [{ type: "text", text: "hello" }] }],
  metadata: { list: ["a"] },
});
const ctx = () => ({ toolName: "exec", channelId: "telegram", sessionId: "s", sessionKey: "agent:main:main", channelContext: { sender: { id: "1" } } });

function setUp(name: HookName, settings: Readonly<Record<string, HookSettings>> = {}) {
  const made = bench(settings);
  const on = (pluginId: string, handler: Loose, options: { priority?: number; timeoutMs?: number } = {}) =>
    made.hooks.on(name, handler as unknown as HookHandler<HookName>, { pluginId, ...options });
  const given = event();
  const run = () => made.hooks.run(name, given, ctx()) as Record<string, unknown> | undefined | Promise<Record<string, unknown> | undefined>;
  return { ...made, on, run, given };
}

const sample = (field: FieldSpec, which: "a" | "b"): unknown => {
  if (typeof field.type === "object") return field.type[0];
  const values = {
    text: `text ${which}`,
    flag: which === "a",
    record: { [which]: 1, both: which },
    list: [which],
    texts: ["both", which],
    approval: { title: `title ${which}`, description: "why" },
  };
  return values[field.type];
};

test("the catalog holds the 38 hooks of the contract in their modes, and three newer ones", () => {
  expect(byMode("observe")).toEqual([...OBSERVED].sort());
  expect(byMode("decide")).toEqual([...DECIDED].sort());
  expect(byMode("sync")).toEqual([...AT_ONCE].sort());
  expect(names.filter((name) => HOOKS[name].newer).sort()).toEqual([...NEWER].sort());
  expect(OBSERVED.length + DECIDED.length + AT_ONCE.length).toBe(38);
});

test("the catalog says who fails closed, who needs access, whose results are parts of prompts", () => {
  const where = (is: (name: HookName) => boolean) => names.filter(is).sort();
  expect(where((name) => HOOKS[name].onThrow === "block")).toEqual([...THROW_BLOCKS].sort());
  expect(where((name) => HOOKS[name].onTimeout === "block")).toEqual([...TIMEOUT_BLOCKS].sort());
  expect(where((name) => HOOKS[name].onTimeout === "operator")).toEqual(["before_tool_call"]);
  expect(where((name) => HOOKS[name].access === "conversation")).toEqual([...CONVERSATION].sort());
  expect(where((name) => Object.values(HOOKS[name].fields).some((field) => field.prompt))).toEqual([...PROMPT].sort());
  for (const name of names) {
    const usual = { observe: 30_000, decide: 15_000, sync: 0 }[HOOKS[name].mode];
    expect(HOOKS[name].budgetMs, name).toBe(BUDGETS[name] ?? usual);
  }
});

describe.each(names)("%s", (name) => {
  const spec = HOOKS[name];

  test("handlers are called by priority, then in the order of registration", async () => {
    const { on, run } = setUp(name);
    const order: string[] = [];
    for (const [id, priority] of [
      ["c", 0],
      ["a", 10],
      ["d", undefined],
      ["e", -1],
      ["b", 10],
    ] as const) {
      on(id, () => void order.push(id), priority === undefined ? {} : { priority });
    }
    await run();
    expect(order).toEqual(["a", "b", "c", "d", "e"]);
  });

  test("a handler that throws is logged with its plugin, and the next one runs unless that blocks", async () => {
    const { on, run, lines, hooks } = setUp(name);
    const called: string[] = [];
    on("bad", () => {
      throw new Error("boom");
    });
    on("good", () => void called.push("good"));
    const outcome = await run();
    const blocks = THROW_BLOCKS.includes(name);
    expect(called).toEqual(blocks ? [] : ["good"]);
    expect(outcome).toEqual(blocks ? expect.objectContaining({ decidedBy: "bad" }) : undefined);
    expect(lines).toEqual([expect.objectContaining({ level: "error", fields: expect.objectContaining({ pluginId: "bad", hook: name }) })]);
    expect(hooks.stats().find((row) => row.pluginId === "bad")).toMatchObject({ calls: 1, failures: 1, timeouts: 0 });
  });

  test("what a handler changes stays with it", async () => {
    const { on, run, given } = setUp(name);
    const ruin = (value: Record<string, unknown>, depth = 0): void => {
      for (const key of Object.keys(value)) {
        const child = value[key];
        if (typeof child === "object" && child !== null && depth < 6) ruin(child as Record<string, unknown>, depth + 1);
        if (Array.isArray(child)) child.push("ruined");
        else value[key] = "ruined";
      }
      value["added"] = true;
    };
    const seen: unknown[] = [];
    on("first", (e, c) => {
      ruin(e);
      ruin(c);
    });
    on("second", (e, c) => {
      const { context: _, ...rest } = e;
      seen.push(structuredCopy(rest), structuredCopy({ ...c }));
    });
    await run();
    expect(seen).toEqual([event(), ctx()]);
    expect(given).toEqual(event());
  });

  test("each handler finds the configuration of its own plugin", async () => {
    const settings = { a: { allowConversationAccess: true, pluginConfig: { level: 1 } }, b: { allowConversationAccess: true, pluginConfig: { level: 2 } } };
    const { on, run } = setUp(name, settings);
    const seen: unknown[] = [];
    for (const id of ["a", "b"]) on(id, (e) => void seen.push((e["context"] as { pluginConfig: unknown }).pluginConfig));
    await run();
    expect(seen).toEqual([{ level: 1 }, { level: 2 }]);
  });

  test("access: a plugin that is not bundled needs the operator's word for conversations", () => {
    const { on, hooks } = setUp(name, { plain: {}, bundled: { bundled: true }, allowed: { allowConversationAccess: true } });
    const refused = CONVERSATION.includes(name);
    const add = (id: string) => on(id, () => undefined);
    if (refused)
      expect(() => add("plain")).toThrow(expect.objectContaining({ code: "PERMISSION_DENIED", message: expect.stringContaining("allowConversationAccess") }));
    else add("plain");
    add("bundled");
    add("allowed");
    expect(hooks.stats().filter((row) => row.handlers > 0)).toHaveLength(refused ? 2 : 3);
  });

  if (spec.mode === "sync") {
    test("a promise is ignored with a warning, and its failure harms nobody", async () => {
      const { on, run, lines, hooks } = setUp(name);
      const later = Promise.withResolvers<unknown>();
      on("slow", () => later.promise);
      on("next", () => ({ message: { role: "user", content: "next" } }));
      expect(run()).toEqual({ message: { role: "user", content: "next" } });
      later.reject(new Error("late"));
      await later.promise.catch(() => {});
      expect(lines).toEqual([
        expect.objectContaining({ level: "warn", message: expect.stringContaining("promise"), fields: { pluginId: "slow", hook: name } }),
      ]);
      await Promise.resolve();
      expect(hooks.stats().find((row) => row.pluginId === "slow")).toMatchObject({ ignored: 1, lateFailures: 1 });
    });
  } else {
    const budget = BUDGETS[name] ?? (spec.mode === "observe" ? 30_000 : 15_000);

    test("a handler over its budget is abandoned, logged once, and the next one runs unless that blocks", async () => {
      const { on, run, clock, lines, hooks } = setUp(name);
      const called: string[] = [];
      let signal: AbortSignal | undefined;
      const late = Promise.withResolvers<unknown>();
      on("slow", (_, c) => {
        signal = c["signal"] as AbortSignal;
        return late.promise;
      });
      on("next", () => void called.push("next"));
      const running = run();
      clock.advance(budget - 1);
      expect([lines, signal!.aborted]).toEqual([[], false]);
      clock.advance(11);
      const outcome = await running;
      const blocks = TIMEOUT_BLOCKS.includes(name);
      expect(signal!.aborted).toBe(true);
      expect(called).toEqual(blocks ? [] : ["next"]);
      expect(outcome).toEqual(blocks ? expect.objectContaining({ decidedBy: "slow" }) : undefined);
      late.reject(new Error("too late"));
      await late.promise.catch(() => {});
      await Promise.resolve();
      expect(lines).toEqual([expect.objectContaining({ fields: expect.objectContaining({ pluginId: "slow", hook: name }) })]);
      expect(hooks.stats().find((row) => row.pluginId === "slow")).toMatchObject({ timeouts: 1, failures: 0, lateFailures: 1 });
    });

    test("the operator's budget for the hook wins over his general one, that over the author's", async () => {
      const both = { allowConversationAccess: true, timeoutMs: 2_000, timeouts: { [name]: 500 } };
      const { on, run, clock, hooks } = setUp(name, { both, general: { allowConversationAccess: true, timeoutMs: 2_000 } });
      const over = () =>
        hooks
          .stats()
          .filter((row) => row.timeouts === 1)
          .map((row) => row.pluginId);
      const never = () => new Promise(() => {});
      for (const id of ["both", "general", "author"]) {
        const handler = on(id, never, { timeoutMs: 4_000 });
        const running = run();
        const expected = { both: 500, general: 2_000, author: 4_000 }[id]!;
        clock.advance(expected - 1);
        expect(over()).not.toContain(id);
        clock.advance(11);
        await running;
        expect(over()).toContain(id);
        handler[Symbol.dispose]();
      }
    });
  }

  if (spec.mode === "observe") {
    test("handlers run side by side and what they return is ignored", async () => {
      const { on, run } = setUp(name);
      const first = Promise.withResolvers<void>();
      on("first", async () => {
        await first.promise;
        return { block: true, cancel: true, handled: true };
      });
      on("second", () => first.resolve());
      expect(await run()).toBeUndefined();
    });

    test("after three failures in a row a handler is skipped for a minute, then tried once", async () => {
      const { on, run, clock, hooks } = setUp(name);
      let calls = 0;
      let fails = true;
      on("flaky", async () => {
        calls += 1;
        if (fails) throw new Error("down");
      });
      for (let i = 0; i < 5; i += 1) await run();
      expect([calls, hooks.breakers()]).toEqual([
        3,
        [expect.objectContaining({ pluginId: "flaky", hook: name, state: "open", failures: 3, retryAt: clock.now() + 60_000 })],
      ]);
      clock.advance(60_000);
      await run();
      await run();
      expect([calls, hooks.breakers()[0]!.state]).toEqual([4, "open"]);
      clock.advance(60_000);
      fails = false;
      await run();
      await run();
      expect([calls, hooks.breakers()]).toEqual([6, []]);
      expect(hooks.stats()[0]).toMatchObject({ calls: 6, failures: 4, skipped: 3 });
    });
    return;
  }

  test("a deciding handler that keeps failing is called every time", async () => {
    const { on, run } = setUp(name);
    let calls = 0;
    on("flaky", () => {
      calls += 1;
      throw new Error("down");
    });
    for (let i = 0; i < 5; i += 1) await run();
    expect(calls).toBe(5);
  });

  test.each((spec.terminal ?? []).map(({ field, value }) => [field, value] as const))("%s: %s ends it", async (field, value) => {
    const { on, run } = setUp(name);
    const called: string[] = [];
    on("first", () => ({ [field]: value, reason: "why", error: "why" }), { priority: 1 });
    on("second", () => void called.push("second"));
    expect(await run()).toEqual(expect.objectContaining({ [field]: value, decidedBy: "first" }));
    expect(called).toEqual([]);
  });

  const flags = (spec.terminal ?? []).filter(({ value }) => value === true);
  test.each(flags.map(({ field }) => [field] as const))("%s: false decides nothing", async (field) => {
    const { on, run } = setUp(name);
    on("first", () => ({ [field]: false }));
    on("second", () => ({ [field]: true }));
    expect(await run()).toEqual(expect.objectContaining({ [field]: true, decidedBy: "second" }));
  });

  if (!spec.whole) {
    const merged = Object.entries(spec.fields).filter(([field]) => !spec.terminal?.some((end) => end.field === field) && !spec.fields[field]!.withTerminal);
    test.each(merged)("%s of two handlers become one", async (field, rule) => {
      const { on, run, given } = setUp(name);
      const [a, b] = [sample(rule, "a"), sample(rule, "b")];
      const seen: unknown[] = [];
      on("a", () => ({ [field]: a }));
      on("b", (e) => {
        if (rule.rewrites) seen.push(structuredCopy(e[rule.rewrites]));
        return spec.mode === "sync" ? { [field]: b } : Promise.resolve({ [field]: b });
      });
      const outcome = (await run())!;
      const before = rule.rewrites ? (given as Record<string, unknown>)[rule.rewrites] : undefined;
      const asked = rule.type === "approval" ? { ...(a as object), pluginId: "a" } : a;
      const expected = {
        first: asked,
        last: b,
        join: `${String(a)}\n\n${String(b)}`,
        append: ["a", "b"],
        narrow: ["both"],
        assign: { ...(before as object), ...(a as object), ...(b as object) },
        any: true,
      }[rule.merge];
      expect(outcome[field]).toEqual(expected);
      if (rule.rewrites) expect(seen).toEqual([rule.merge === "assign" ? { ...(before as object), ...(a as object) } : a]);
      expect(given).toEqual(event());
    });
  }

  const typed = Object.entries(spec.fields);
  test.each(typed)("a wrong %s is ignored with a diagnostic that names it, unless that blocks", async (field, rule) => {
    const { on, run, lines, hooks } = setUp(name);
    on("odd", () => ({ [field]: 42 }));
    const outcome = await run();
    const blocks = spec.strict || rule.wrong === "block";
    expect(outcome).toEqual(blocks ? expect.objectContaining({ decidedBy: "odd" }) : undefined);
    expect(lines).toEqual([expect.objectContaining({ level: "warn", message: expect.stringContaining(field), fields: { pluginId: "odd", hook: name } })]);
    await run();
    expect(lines).toHaveLength(1);
    expect(hooks.stats()[0]!.ignored).toBe(2);
  });

  test.each([["text"], [7], [true], [[1]]])("%j in place of a result is ignored, unless that blocks", async (garbage) => {
    const { on, run, lines } = setUp(name);
    on("odd", () => garbage);
    expect(await run()).toEqual(spec.strict ? expect.objectContaining({ outcome: "block", decidedBy: "odd" }) : undefined);
    expect(lines).toEqual([expect.objectContaining({ message: expect.stringContaining("odd"), fields: { pluginId: "odd", hook: name } })]);
  });

  if (spec.whole || spec.environment) return;
  test("allowPromptInjection: false drops parts of prompts and nothing else", async () => {
    const { on, run, hooks } = setUp(name, { quiet: { allowConversationAccess: true, allowPromptInjection: false } });
    const fields = Object.entries(spec.fields).filter(([field]) => !spec.terminal?.some((end) => end.field === field) && !spec.fields[field]!.withTerminal);
    on("quiet", () => Object.fromEntries(fields.map(([field, rule]) => [field, sample(rule, "a")])));
    const kept = fields.filter(([, rule]) => !rule.prompt).map(([field]) => field);
    const { decidedBy: _, ...outcome } = (await run()) ?? {};
    expect(Object.keys(outcome).sort()).toEqual(kept.sort());
    expect(hooks.stats()[0]!.dropped).toBe(fields.length - kept.length);
  });
});

/** Plain data of what a handler holds. */
function structuredCopy(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
