/** The templates of new plugins. */

/** What a template knows about the plugin. */
export interface Facts {
  readonly id: string;
  readonly name: string;
  /** The id as a name that models may call. */
  readonly hookKey: string;
}

export interface TemplateFiles {
  readonly description: string;
  /** More fields of the manifest; `configSchema` among them. */
  readonly manifest: (facts: Facts) => Readonly<Record<string, unknown>>;
  readonly code: (facts: Facts) => string;
  readonly test: (facts: Facts) => string;
}

const tool: TemplateFiles = {
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
      description: "Greets a person by name.",
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

const hook: TemplateFiles = {
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

const command: TemplateFiles = {
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
      description: "Repeats its arguments.",
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

test("the command repeats its arguments", async () => {
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

const channel: TemplateFiles = {
  description: "A channel that people write over.",
  manifest: ({ id }) => ({
    channels: [id],
    channelConfigs: { [id]: { common: true } },
    configSchema: { type: "object", additionalProperties: false, properties: {} },
  }),
  code: ({ id, name }) => `import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import { defineChannel } from "openclaw/plugin-sdk/channel-kit";
import type { OpenClawPluginApi } from "openclaw/plugin-sdk/plugin-entry";

const channel = defineChannel({
  id: ${JSON.stringify(id)},
  label: ${JSON.stringify(name)},
  blurb: "A channel of your own.",
  // A token that people set: credentials: [{ key: "token", label: "Token", inputs: ["token"] }], and its schema in openclaw.plugin.json.

  /** Runs while the account is on. What people write goes to run.intake.add(event); an error that is thrown ends in another attempt. */
  async connect(run) {
    run.up();
    await run.stopped();
  },

  /** Sends one message and gives its id. Put the call to your service here. */
  async send(account, { to, text }) {
    return \`\${account.accountId}-\${to}-\${text.length}\`;
  },
});

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

test("a message is answered over it", async () => {
  await using host = await createTestHost({ plugins: [plugin] });
  await host.ready();
  host.script(["Hello, Ada!"]);
  await host.receive({ channel: ${JSON.stringify(id)}, from: "ada", text: "hello" });
  assert.deepEqual(host.replies().map(({ to, text }) => [to, text]), [["ada", "Hello, Ada!"]]);
});
`,
};

export const TEMPLATES = { tool, hook, command, channel } as const satisfies Readonly<Record<string, TemplateFiles>>;

export type Template = keyof typeof TEMPLATES;
