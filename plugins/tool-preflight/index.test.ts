import type { OpenClawPluginApi } from "openclaw/plugin-sdk";
import { createTestHost } from "openclaw/plugin-sdk/testing";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const plugins = [fileURLToPath(new URL(".", import.meta.url))];
const settings = (config: object) => ({ plugins: { entries: { "tool-preflight": { config } } } });

test("a tool on the list is asked about, with what it is to do", async () => {
  await using host = await createTestHost({ plugins });
  expect(host.diagnostics().filter(({ level }) => level === "error")).toEqual([]);
  const event = { toolName: "web_search", params: { query: "weather", note: "x".repeat(500) } };
  const decision = await host.hooks.run("before_tool_call", event, { toolName: "web_search" });
  expect(decision?.requireApproval).toMatchObject({
    title: "Run web_search?",
    severity: "info",
    timeoutMs: 60_000,
    timeoutBehavior: "deny",
    pluginId: "tool-preflight",
  });
  expect(decision?.requireApproval?.description).toMatch(/^query: weather\nnote: x{200}…$/);
  expect(decision?.block).toBeUndefined();
});

test("other tools run unasked", async () => {
  await using host = await createTestHost({ plugins });
  expect(await host.hooks.run("before_tool_call", { toolName: "read", params: {} }, { toolName: "read" })).toBeUndefined();
});

test("the answer is written to the log", async () => {
  await using host = await createTestHost({ plugins });
  const decision = await host.hooks.run("before_tool_call", { toolName: "web_search", params: {} }, { toolName: "web_search" });
  await decision?.requireApproval?.onResolution?.("deny");
  expect(host.logs().map(({ message }) => message)).toContain("[tool-preflight] web_search: deny");
});

test("settings choose the tools, and block others for good", async () => {
  await using host = await createTestHost({
    plugins,
    config: settings({ tools: ["exec"], never: ["rm"], severity: "critical", timeoutMs: 5000, timeoutBehavior: "allow" }),
  });
  const ask = (toolName: string) => host.hooks.run("before_tool_call", { toolName, params: {} }, { toolName });
  expect((await ask("exec"))?.requireApproval).toMatchObject({ severity: "critical", timeoutMs: 5000, timeoutBehavior: "allow" });
  expect(await ask("rm")).toMatchObject({ block: true, blockReason: "rm is on the list of blocked tools" });
  expect(await ask("web_search")).toBeUndefined();
});

test("a run waits for the operator's answer, and goes on with it", async () => {
  const tool = (name: string) => ({
    id: "garden",
    register: (api: OpenClawPluginApi) =>
      api.registerTool({
        name,
        description: "",
        parameters: { type: "object" },
        execute: async () => ({ content: [{ type: "text", text: "a tree" }], details: {} }),
      }),
  });
  await using host = await createTestHost({ plugins: [...plugins, tool("look")], config: settings({ tools: ["look"] }) });
  for (const [decision, seen] of [
    ["allow-once", "a tree"],
    ["deny", "denied"],
  ] as const) {
    host.script([{ tools: [{ name: "look", params: { where: "garden" } }] }, `done: ${decision}`]);
    const received = host.receive({ channel: "demo", from: "ada", text: "look into the garden" });
    const { id, request } = await host.approvals.next();
    expect(JSON.stringify(request)).toContain("Run look?");
    await host.approvals.answer(id, decision);
    expect(await received).toMatchObject({ outcome: "answered", replies: [{ text: `done: ${decision}` }] });
    expect(JSON.stringify(host.modelCalls().at(-1)?.messages.at(-1)).toLowerCase()).toContain(seen);
    expect(host.logs().map(({ message }) => message)).toContain(`[tool-preflight] look: ${decision}`);
  }
});

test("settings that do not fit keep it from being loaded, with the path", async () => {
  await using host = await createTestHost({ plugins, config: settings({ severity: "loud" }) });
  expect(host.plugins()[0]).toMatchObject({ status: "error" });
  expect(host.diagnostics().map(({ path }) => path)).toContain("plugins.entries.tool-preflight.config.severity");
});
