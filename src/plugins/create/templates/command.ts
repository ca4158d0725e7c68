import type { TemplateFiles } from "./index.ts";

export const command: TemplateFiles = {
  description: "A chat command that answers without the model.",
  manifest: () => ({ configSchema: { type: "object", additionalProperties: false, properties: {} } }),
  code: ({ id, name }) => `import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import type { OpenClawPluginApi } from "openclaw/plugin-sdk/plugin-entry";

export default definePluginEntry({
  id: ${JSON.stringify(id)},
  name: ${JSON.stringify(name)},
  description: "Answers a command.",
  register(api: OpenClawPluginApi) {
    api.registerCommand({
      name: ${JSON.stringify(id)},
      description: "Says back what it is told.",
      acceptsArgs: true,
      handler: ({ args }) => ({ text: args ? \`You said: \${args}\` : "Say something after the command." }),
    });
  },
});
`,
  test: ({ id }) => `import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestHost } from "openclaw/plugin-sdk/testing";

const plugin = new URL("..", import.meta.url).pathname;

test("the command says back what it is told", async () => {
  await using host = await createTestHost({ plugins: [plugin] });
  assert.deepEqual(await host.command("/${id} good morning"), { text: "You said: good morning" });
});

test("who is not allowed gets no answer from it", async () => {
  await using host = await createTestHost({ plugins: [plugin] });
  const reply = await host.command("/${id} hi", { isAuthorizedSender: false });
  assert.doesNotMatch(String(reply.text), /You said/);
});
`,
};
