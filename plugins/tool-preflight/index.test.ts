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
  expect(await ask("rm")).toMatchObject({ block: true, blockReason: "rm is on the list of tools that never run" });
  expect(await ask("web_search")).toBeUndefined();
});

test("settings that do not fit keep it from being loaded, with the path", async () => {
  await using host = await createTestHost({ plugins, config: settings({ severity: "loud" }) });
  expect(host.plugins()[0]).toMatchObject({ status: "error" });
  expect(host.diagnostics().map(({ path }) => path)).toContain("plugins.entries.tool-preflight.config.severity");
});
