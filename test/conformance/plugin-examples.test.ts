/** Plugins written from the examples of the specification: they load, register, and their hooks answer. */
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { createTestHost, type TestHost } from "../../src/plugin-testing/index.ts";

const FOLDER = fileURLToPath(new URL("../fixtures/plugins/spec/", import.meta.url));
const ALL = readdirSync(FOLDER).sort();

const open = (id: string, entry: object = {}): Promise<TestHost> =>
  createTestHost({ plugins: [FOLDER + id], config: { hooks: { internal: { enabled: true } }, plugins: { entries: { [id]: entry } } } });

const errors = (host: TestHost): string[] => host.diagnostics().flatMap(({ level, message }) => (level === "error" ? [message] : []));

test("there are at least ten", () => expect(ALL.length).toBeGreaterThanOrEqual(10));

test("all of them load side by side, and nothing is wrong with any", async () => {
  const entries = { "turn-gate": { hooks: { allowConversationAccess: true } } };
  await using host = await createTestHost({ plugins: ALL.map((id) => FOLDER + id), config: { plugins: { entries } } });
  expect(errors(host)).toEqual([]);
  expect(host.plugins().map(({ id, status }) => [id, status])).toEqual(ALL.map((id) => [id, "loaded"]));
});

describe("ways to export a plugin", () => {
  test.each([
    ["export-function", "from_function", "a function"],
    ["export-object", "from_object", "an object"],
    ["export-named", "from_named", "a named export"],
    ["export-commonjs", "from_commonjs", "a CommonJS function"],
    ["export-commonjs-object", "from_commonjs_object", "a CommonJS object"],
  ])("%s", async (id, tool, text) => {
    await using host = await open(id);
    expect(host.plugins()[0]).toMatchObject({ id, status: "loaded", toolNames: [tool] });
    expect(await host.callTool(tool)).toMatchObject({ content: [{ type: "text", text }] });
  });

  test("an internal hook is registered under its name", async () => {
    await using host = await open("export-function");
    expect(host.plugins()[0]?.hookNames).toEqual(["new-and-reset"]);
  });
});

test("a tool factory makes a tool for the run it is asked for", async () => {
  await using host = await open("workspace-action");
  const context = {
    sessionKey: "agent:main:main",
    workspaceDir: "/home/me/agent",
    agentId: "main",
    messageChannel: "telegram",
    agentAccountId: "a",
    sandboxed: false,
  };
  const run = async (over: object) =>
    ((await host.callTool("workspace-action", { action: "look" }, { ...context, ...over })) as { content: [{ text: string }] }).content[0].text;
  expect(await run({})).toBe("look in /home/me/agent for main over telegram (agent:main:main, a)");
  expect(await run({ sandboxed: true, agentId: "other" })).toBe("look in /home/me/agent/safe for other over telegram (agent:main:main, a)");
});

test("before_tool_call asks, rewrites for those behind it, and blocks", async () => {
  await using host = await open("search-preflight");
  const call = (toolName: string, params: Record<string, unknown>) => host.hooks.run("before_tool_call", { toolName, params }, { toolName });
  expect((await call("web_search", { query: "tea" }))?.requireApproval).toMatchObject({
    description: "Allow this search: tea",
    timeoutBehavior: "deny",
    pluginId: "search-preflight",
  });
  expect((await call("exec", { command: "ls" }))?.params).toEqual({ command: "ls", timeout: 10 });
  expect(await call("exec", { command: "rm -rf /" })).toMatchObject({ block: true, blockReason: "never", decidedBy: "search-preflight" });
  expect((await call("read", {}))?.block).not.toBe(true);
});

test("what is added to prompts is joined in the order of priority, and the last system prompt holds", async () => {
  await using host = await open("prompt-context");
  expect(await host.hooks.run("before_prompt_build", { prompt: "hi", messages: [] })).toMatchObject({
    prependContext: "high\n\nlow",
    systemPrompt: "last wins",
    appendSystemContext: "rules",
  });
  expect(await host.hooks.run("before_agent_start", { prompt: "hi" })).toMatchObject({ prependContext: "legacy" });
  expect(await host.hooks.run("agent_turn_prepare", { prompt: "hi", messages: [], injections: [] })).toMatchObject({ appendContext: "prepared" });
  expect(await host.hooks.run("heartbeat_prompt_contribution", {})).toMatchObject({ prependContext: "a heartbeat" });
});

test("an operator who forbids prompts to be changed is obeyed", async () => {
  await using host = await open("prompt-context", { hooks: { allowPromptInjection: false } });
  expect((await host.hooks.run("before_prompt_build", { prompt: "hi", messages: [] }))?.prependContext).toBeUndefined();
});

test("synchronous hooks replace and hold back what is written", async () => {
  await using host = await open("result-trimmer");
  const message = { role: "toolResult", content: [{ type: "text", text: "very long" }] };
  expect(await host.hooks.run("tool_result_persist", { toolName: "exec", toolCallId: "1", message })).toMatchObject({
    message: { content: [{ text: "trimmed" }] },
  });
  expect(await host.hooks.run("before_message_write", { message: { role: "user", content: "my password is x" } })).toMatchObject({ block: true });
  expect((await host.hooks.run("before_message_write", { message: { role: "user", content: "hi" } }))?.block).not.toBe(true);
});

test("messages are rewritten, kept back, claimed and watched", async () => {
  await using host = await open("message-guard");
  const ctx = { channelId: "telegram" };
  expect(await host.hooks.run("message_sending", { to: "1", content: "damn good" }, ctx)).toMatchObject({ content: "darn good" });
  expect(await host.hooks.run("message_sending", { to: "1", content: "damn it" }, ctx)).toMatchObject({ cancel: true, cancelReason: "not polite" });
  expect(await host.hooks.run("inbound_claim", { content: "ping" }, ctx)).toMatchObject({ handled: true, reply: { text: "pong" } });
  await host.hooks.run("message_received", { from: "ada", content: "hi" }, ctx);
  expect(host.logs().map(({ message }) => message)).toContain("[message-guard] from ada");
  await host.hooks.run("message_sent", { to: "1", content: "x", success: false }, ctx);
  expect(host.stats().hooks.find(({ hook }) => hook === "message_sent")).toMatchObject({ calls: 1, failures: 1, lastError: "observers may fail" });
  expect(host.hookCalls().at(-1)).toMatchObject({ hook: "message_sent", outcome: "failed" });
});

test("a plugin that reads conversations needs the operator's word; the rest of it loads without", async () => {
  await using refused = await open("turn-gate");
  expect(refused.plugins()[0]?.status).toBe("loaded");
  expect(refused.diagnostics().filter(({ message }) => message.includes("allowConversationAccess"))).toHaveLength(4);
  expect(refused.hooks.has("before_agent_run")).toBe(false);
  await using host = await open("turn-gate", { hooks: { allowConversationAccess: true } });
  expect(errors(host)).toEqual([]);
  expect(await host.hooks.run("before_model_resolve", { prompt: "a prompt that is not so short" })).toMatchObject({
    modelOverride: "large",
    providerOverride: "local",
  });
  expect(await host.hooks.run("before_agent_run", { prompt: "the secret", messages: [] })).toMatchObject({
    outcome: "block",
    message: "I may not answer that.",
  });
  expect(await host.hooks.run("before_agent_run", { prompt: "hello", messages: [] })).not.toMatchObject({ outcome: "block" });
  expect(await host.hooks.run("before_agent_finalize", {})).toMatchObject({ action: "revise", retry: { instruction: "Run the tests." } });
});

test("session state, a text for the next turn exactly once, installs, schedules and the environment of programs", async () => {
  await using host = await open("workflow");
  expect(errors(host)).toEqual([]);
  const ctx = { sessionKey: "agent:main:main" };
  expect([await host.command("/continue tests", ctx), await host.command("/continue tests", ctx)]).toEqual([{ text: "queued" }, { text: "queued before" }]);
  await host.ready();
  await host.hooks.run("cron_changed", { reason: "added", action: "added", jobId: "nightly" });
  expect(host.logs().map(({ message }) => message)).toEqual(expect.arrayContaining(["[workflow] port 0", "[workflow] added nightly"]));
  const install = (targetName: string) => host.hooks.run("before_install", { targetType: "plugin", targetName, sourcePath: "/staged" });
  expect(await install("unwanted")).toMatchObject({ block: true, blockReason: "not here" });
  expect(await install("fine")).toMatchObject({ findings: [{ message: "looked at" }] });
  expect(JSON.stringify(await host.hooks.run("resolve_exec_env", { sessionKey: "x", toolName: "exec", host: "gateway" }))).toMatch(/^(?!.*evil).*WORKFLOW/);
});
