import type { TemplateFiles } from "./index.ts";

export const hook: TemplateFiles = {
  description: "A hook that looks at every tool call before it runs.",
  manifest: () => ({
    configSchema: {
      type: "object",
      additionalProperties: false,
      properties: { blocked: { type: "array", items: { type: "string" }, description: "Names of tools that must not run." } },
    },
  }),
  code: ({ id, name }) => `import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import type { OpenClawPluginApi } from "openclaw/plugin-sdk/plugin-entry";

export default definePluginEntry({
  id: ${JSON.stringify(id)},
  name: ${JSON.stringify(name)},
  description: "Keeps tools from running.",
  register(api: OpenClawPluginApi) {
    const blocked = new Set(Array.isArray(api.pluginConfig?.blocked) ? api.pluginConfig.blocked : []);
    api.on("before_tool_call", (event) => {
      if (blocked.has(event.toolName)) return { block: true, blockReason: \`\${event.toolName} is turned off here\` };
    });
  },
});
`,
  test: ({ id }) => `import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestHost } from "openclaw/plugin-sdk/testing";

const plugin = new URL("..", import.meta.url).pathname;

test("a tool on the list is blocked, another one is not", async () => {
  const config = { plugins: { entries: { ${JSON.stringify(id)}: { config: { blocked: ["exec"] } } } } };
  await using host = await createTestHost({ plugins: [plugin], config });
  const call = (toolName: string) => host.hooks.run("before_tool_call", { toolName, params: {}, toolCallId: "1" }, { toolName });
  assert.equal((await call("exec"))?.block, true);
  assert.equal((await call("read"))?.block, undefined);
  assert.equal(host.hookCalls().length, 2);
});
`,
};
