import type { TemplateFiles } from "./index.ts";

export const channel: TemplateFiles = {
  description: "A channel that people write over.",
  manifest: ({ id }) => ({ channels: [id], configSchema: { type: "object", additionalProperties: false, properties: {} } }),
  code: ({ id, name }) => `import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import type { ChannelPlugin, OpenClawPluginApi } from "openclaw/plugin-sdk";

/** Sends a text to somebody. Put the call to your service here. */
async function send(to: string, text: string) {
  return { channel: ${JSON.stringify(id)}, messageId: \`\${to}-\${text.length}\` };
}

const channel: ChannelPlugin = {
  id: ${JSON.stringify(id)},
  meta: {
    id: ${JSON.stringify(id)},
    label: ${JSON.stringify(name)},
    selectionLabel: ${JSON.stringify(name)},
    docsPath: "/channels/${id}",
    blurb: "A channel of your own.",
  },
  capabilities: { chatTypes: ["direct"] },
  config: {
    listAccountIds: () => ["default"],
    resolveAccount: (cfg) => ({ accountId: "default", enabled: cfg.channels?.[${JSON.stringify(id)}]?.enabled !== false }),
  },
  outbound: {
    deliveryMode: "direct",
    sendText: ({ to, text }) => send(to, text),
  },
};

export default definePluginEntry({
  id: ${JSON.stringify(id)},
  name: ${JSON.stringify(name)},
  description: "A channel.",
  register(api: OpenClawPluginApi) {
    api.registerChannel({ plugin: channel });
  },
});
`,
  test: ({ id }) => `import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestHost } from "openclaw/plugin-sdk/testing";

const plugin = new URL("..", import.meta.url).pathname;

test("the channel is registered", async () => {
  await using host = await createTestHost({ plugins: [plugin] });
  assert.deepEqual(host.diagnostics().filter(({ level }) => level === "error"), []);
  assert.deepEqual(host.plugins()[0]?.channelIds, [${JSON.stringify(id)}]);
});
`,
};
