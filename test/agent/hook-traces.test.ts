import { expect, onTestFinished, test } from "vitest";
import type { HookName } from "../../src/hooks/index.ts";
import { textOutcome } from "../../src/tools/index.ts";
import { openAgentFixture } from "../harness/agent-fixture.ts";

const HOOKS: readonly HookName[] = ["session_start", "before_agent_run", "before_tool_call", "tool_result_persist", "before_message_write", "agent_end"];

test("hooks of one turn belong to one trace, those about its session and its transcript too", async () => {
  const look = {
    name: "look",
    description: "looks",
    parameters: { type: "object", properties: {} },
    source: { kind: "core" },
    run: () => Promise.resolve(textOutcome("seen")),
  } as const;
  const at = await openAgentFixture({ says: [{ calls: [{ name: "look" }] }, "found it"], tools: [look] });
  onTestFinished(() => at[Symbol.asyncDispose]());
  const traces: [HookName, unknown][] = [];
  for (const hook of HOOKS) {
    const note = (_event: unknown, ctx: object): void => void traces.push([hook, (ctx as { trace?: { traceId?: string } }).trace?.traceId]);
    at.hooks.on(hook, note, { pluginId: "test", trusted: true });
  }
  await at.turn("where is it?");
  await new Promise((resolve) => setImmediate(resolve));
  expect(new Set(traces.map(([hook]) => hook))).toEqual(new Set(HOOKS));
  expect(traces.filter(([, trace]) => trace !== traces[0]![1] || trace === undefined)).toEqual([]);
});
