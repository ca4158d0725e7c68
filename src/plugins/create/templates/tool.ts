import type { TemplateFiles } from "./index.ts";

export const tool: TemplateFiles = {
  description: "A tool that the model can call.",
  manifest: ({ hookKey }) => ({
    configSchema: {
      type: "object",
      additionalProperties: false,
      properties: { greeting: { type: "string", description: "What it says before the name." } },
    },
    contracts: { tools: [`${hookKey}_greet`] },
  }),
  code: ({ id, name, hookKey }) => `import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import type { OpenClawPluginApi } from "openclaw/plugin-sdk/plugin-entry";

export default definePluginEntry({
  id: ${JSON.stringify(id)},
  name: ${JSON.stringify(name)},
  description: "Greets people.",
  register(api: OpenClawPluginApi) {
    const greeting = api.pluginConfig?.greeting ?? "Hello";
    api.registerTool({
      name: "${hookKey}_greet",
      label: "Greet",
      description: "Greets somebody by name.",
      parameters: { type: "object", properties: { name: { type: "string" } }, required: ["name"], additionalProperties: false },
      async execute(_callId, params) {
        return { content: [{ type: "text", text: \`\${greeting}, \${params.name}!\` }], details: {} };
      },
    });
  },
});
`,
  test: ({ id, hookKey }) => `import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestHost } from "openclaw/plugin-sdk/testing";

const plugin = new URL("..", import.meta.url).pathname;

test("it loads without a complaint", async () => {
  await using host = await createTestHost({ plugins: [plugin] });
  assert.deepEqual(host.diagnostics().filter(({ level }) => level === "error"), []);
  assert.equal(host.plugins()[0]?.status, "loaded");
});

test("it greets as its settings say", async () => {
  const config = { plugins: { entries: { ${JSON.stringify(id)}: { config: { greeting: "Good day" } } } } };
  await using host = await createTestHost({ plugins: [plugin], config });
  const result = await host.callTool("${hookKey}_greet", { name: "Ada" });
  assert.deepEqual(result, { content: [{ type: "text", text: "Good day, Ada!" }], details: {} });
});
`,
};
