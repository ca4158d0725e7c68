import { expect, test } from "vitest";
import type { ToolContext } from "../../tools/index.ts";
import { pluginTools } from "./plugin-tools.ts";

const CONTEXT: ToolContext = { agentId: "main", sessionKey: "agent:main:main", sessionId: "s", runId: "r", workspaceDir: "/nowhere", owner: false };

/** The tools of one plugin, which declares these. */
function toolsOf(...declared: readonly object[]) {
  const made = declared.map((tool, index) => ({
    name: `t${index}`,
    pluginId: "p",
    optional: false,
    isLive: () => true,
    execute: () => undefined,
    ...tool,
  }));
  return pluginTools({ tools: () => made } as never, CONTEXT, {});
}

test("a plugin's tool runs beside others only when it declares so", () => {
  const tools = toolsOf({}, { executionMode: "parallel" }, { executionMode: "sequential" }, { executionMode: 7 });
  expect(tools.map(({ executionMode }) => executionMode)).toEqual([undefined, "parallel", undefined, undefined]);
});
