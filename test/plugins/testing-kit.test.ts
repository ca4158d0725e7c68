import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { createTestHost } from "../../src/plugin-testing/index.ts";
import type { OpenClawPluginApi } from "../../src/plugins/sdk/types/index.ts";

const plugin = (register: (api: OpenClawPluginApi) => unknown, id = "sample", manifest: Record<string, unknown> = {}) => ({ id, register, manifest });

test("a plugin written in the test runs in a real host, and nothing of it is left", async () => {
  const seen: string[] = [];
  const host = await createTestHost({
    plugins: [
      plugin((api) => {
        api.registerService({ id: "clock", start: () => void seen.push("start"), stop: () => void seen.push("stop") });
        api.on("gateway_start", () => void seen.push("gateway_start"));
      }),
    ],
  });
  expect(host.plugins()).toMatchObject([{ id: "sample", status: "loaded", services: ["clock"] }]);
  await host.ready();
  await host[Symbol.asyncDispose]();
  expect(seen).toEqual(["start", "gateway_start", "stop"]);
  expect(existsSync(host.stateDir)).toBe(false);
});

test("tools, commands, methods and routes answer", async () => {
  await using host = await createTestHost({
    plugins: [
      plugin((api) => {
        api.registerTool((ctx) => ({
          name: "where",
          description: "",
          parameters: { type: "object" },
          execute: async (_id, params) => ({ content: [{ type: "text", text: `${ctx.agentId} ${String(params["x"])}` }], details: {} }),
        }));
        api.registerCommand({ name: "hi", description: "Hi.", acceptsArgs: true, handler: ({ args, senderId }) => ({ text: `hi ${senderId} ${args}` }) });
        api.registerGatewayMethod("sample.add", ({ params, respond }) => respond(true, { sum: Number(params["a"]) + Number(params["b"]) }));
        api.registerGatewayMethod("sample.fail", () => {
          throw new Error("broken");
        });
        api.registerHttpRoute({ path: "/sample", match: "prefix", auth: "plugin", handler: (request, response) => void response.end(`seen ${request.url}`) });
        api.registerHttpHandler((request, response) => (request.url === "/old" ? (response.end("old"), true) : false));
      }),
    ],
  });
  expect(await host.callTool("where", { x: 1 }, { agentId: "main" })).toMatchObject({ content: [{ text: "main 1" }] });
  await expect(host.callTool("nowhere")).rejects.toThrow("there is no tool nowhere; there are: where");
  expect(await host.command("/hi there")).toEqual({ text: "hi test-user there" });
  await expect(host.command("/nothing")).rejects.toThrow("no plugin answers");
  expect(await host.request("sample.add", { a: 1, b: 2 })).toEqual({ ok: true, payload: { sum: 3 } });
  expect(await host.request("sample.fail")).toMatchObject({ ok: false, error: { message: expect.stringContaining("broken") } });
  expect(await (await host.fetch("/sample/a?b=c")).text()).toBe("seen /sample/a?b=c");
  expect(await (await host.fetch("/old")).text()).toBe("old");
  expect((await host.fetch("/nothing")).status).toBe(404);
});

test("time stands still until it is moved: a handler over its budget is abandoned then", async () => {
  await using host = await createTestHost({
    plugins: [plugin((api) => api.on("before_prompt_build", () => new Promise<never>(() => {}), { timeoutMs: 500 }))],
  });
  const run = host.hooks.run("before_prompt_build", { prompt: "", messages: [] });
  await host.advance(499);
  expect(host.hookCalls()).toEqual([]);
  await host.advance(1);
  expect(await run).toBeUndefined();
  expect(host.hookCalls()).toMatchObject([{ hook: "before_prompt_build", pluginId: "sample", outcome: "timeout" }]);
  expect(host.stats().hooks).toMatchObject([{ timeouts: 1 }]);
});

test("several plugins, settings, and what is wrong with one of them", async () => {
  await using host = await createTestHost({
    plugins: [
      plugin((api) => api.on("message_sending", () => ({ content: String(api.pluginConfig?.["word"]) })), "one"),
      plugin(() => {
        throw new Error("no");
      }, "two"),
    ],
    config: { plugins: { entries: { one: { config: { word: "changed" } } } } },
  });
  expect(host.plugins().map(({ id, status }) => [id, status])).toEqual([
    ["one", "loaded"],
    ["two", "error"],
  ]);
  expect(host.diagnostics()).toContainEqual(expect.objectContaining({ pluginId: "two", level: "error", message: expect.stringContaining("no") }));
  expect(await host.hooks.run("message_sending", { to: "x", content: "y" }, { channelId: "c" })).toMatchObject({ content: "changed" });
});

test("a configuration that is not valid, or something that is no plugin, is refused with the reason", async () => {
  await expect(createTestHost({ plugins: [], config: { gateway: { prot: 1 } } })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  await expect(createTestHost({ plugins: [{ id: "x" }] })).rejects.toThrow("a plugin must be a path, a function, or an object");
});

test("a message is answered by the model's script, with the plugin's hooks, commands and tools on the way", async () => {
  await using host = await createTestHost({
    plugins: [
      plugin((api) => {
        api.on("before_prompt_build", () => ({ prependContext: "Speak softly." }));
        api.on("message_sending", ({ content }) => ({ content: `${content}!` }));
        api.registerCommand({ name: "hi", description: "Hi.", handler: () => ({ text: "hi there" }) });
        api.registerTool({
          name: "look",
          description: "",
          parameters: { type: "object" },
          execute: async () => ({ content: [{ type: "text", text: "a tree" }], details: {} }),
        });
      }),
    ],
  });
  host.script([{ tools: [{ name: "look" }] }, "I see a tree"]);
  expect(await host.receive({ channel: "demo", from: "ada", text: "what is there?" })).toEqual({
    outcome: "answered",
    why: "",
    replies: [{ channel: "demo", accountId: "default", to: "ada", text: "I see a tree!", kind: "final" }],
  });
  expect(await host.receive({ channel: "demo", from: "ada", text: "/hi" })).toMatchObject({ replies: [{ text: "hi there!", kind: "command" }] });
  const [first, second] = host.modelCalls();
  expect([
    first?.tools.includes("look"),
    JSON.stringify(first?.messages).includes("Speak softly."),
    JSON.stringify(second?.messages).includes("a tree"),
  ]).toEqual([true, true, true]);
});

test("a stranger is turned away, a group's talk is kept for later, and a model that fails is reported as it is in a gateway", async () => {
  await using host = await createTestHost({ plugins: [], config: { channels: { demo: { groupPolicy: "open" } } } });
  expect(await host.receive({ channel: "demo", from: "eve", text: "hello", isAllowed: false })).toMatchObject({ outcome: "refused" });
  expect(await host.receive({ channel: "demo", from: "ada", group: "g1", mentioned: false, text: "the sky is green" })).toMatchObject({ outcome: "silent" });
  host.script(["I heard", { error: "out of words" }]);
  expect(await host.receive({ channel: "demo", from: "ada", group: "g1", text: "well?" })).toMatchObject({
    outcome: "answered",
    replies: [{ to: "g1", text: "I heard" }],
  });
  expect(JSON.stringify(host.modelCalls()[0]?.messages)).toContain("the sky is green");
  expect(await host.receive({ channel: "demo", from: "ada", text: "and now?" })).toMatchObject({ outcome: "failed" });
});

test("nothing of the environment around the test reaches the host", async () => {
  let env: string | undefined;
  await using host = await createTestHost({ plugins: [plugin((api) => void (env = api.runtime.state.resolveStateDir()))] });
  expect(env).toBe(host.stateDir);
});
