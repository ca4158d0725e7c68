import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { once } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { fileOf, moduleOf, openHost, seen } from "../harness/plugin-host.ts";

const statusOf = (place: Awaited<ReturnType<typeof openHost>>, id: string) => place.host.list().find((plugin) => plugin.id === id)!;

test("what a plugin registers is found by kind, with its owner", async () => {
  await using place = await openHost([
    {
      id: "one",
      code: `
      const { registerTool, registerCommand, registerGatewayMethod, on } = api; // Methods work when they are taken off.
      registerTool({ name: "look", description: "d", parameters: {}, execute: async () => ({ content: [] }) }, { optional: true });
      registerTool(() => null, { names: ["a", "b"] });
      registerCommand({ name: "Hi", description: "d", handler: () => ({ text: "hi" }) });
      registerGatewayMethod("one.say", () => {}, { scope: "operator.read" });
      api.registerHttpRoute({ path: "one/", auth: "gateway", match: "prefix", handler() {} });
      api.registerHttpHandler(() => false);
      api.registerChannel({ plugin: { id: "chan", gateway: { startAccount() {} } }, dock: { id: "chan" } });
      api.registerProvider({ id: "prov", label: "P", auth: [] });
      api.registerMediaUnderstandingProvider({ id: "eyes", capabilities: ["image"], describeImage: async () => ({ text: "x" }) });
      api.registerCli(() => {}, { commands: ["one"] });
      api.registerService({ id: "svc", start() {} });
      api.session.state.registerSessionExtension({ namespace: "state", description: "d" });
      on("message_received", () => {}, { priority: 3 });
      api.registerHook("command:new", () => {}, { name: "mine" });
    `,
    },
  ]);
  expect(place.messages()).toEqual([]);
  expect(statusOf(place, "one")).toMatchObject({
    status: "loaded",
    generation: 1,
    toolNames: ["look", "a", "b"],
    hookNames: ["message_received", "mine"],
    channelIds: ["chan"],
    providerIds: ["prov"],
    mediaProviders: ["mediaUnderstanding/eyes"],
    gatewayMethods: ["one.say"],
    cliCommands: ["one"],
    services: ["svc"],
    commands: ["hi"],
    httpHandlers: 2,
    hookCount: 2,
  });
  expect(place.host.registries.gatewayMethods.get("one.say")).toMatchObject({ owner: { pluginId: "one", generation: 1 }, value: { access: "operator.read" } });
  expect([...place.mounted]).toEqual(["/one"]);
  expect(place.hooks.has("message_received")).toBe(true);
});

test("providers of media are registered in their slots and listed; those that nothing asks yet are named, one without an id is refused", async () => {
  const slots = ["Speech", "RealtimeTranscription", "RealtimeVoice", "ImageGeneration", "VideoGeneration", "MusicGeneration"];
  await using place = await openHost([
    { id: "studio", code: slots.map((slot) => `api.register${slot}Provider({ id: "studio", label: "S" });`).join("\n") },
    { id: "odd", code: `api.registerImageGenerationProvider({ label: "no id" }); api.registerImageGenerationProvider({ id: "studio" });` },
  ]);
  const listed = slots.map((slot) => `${slot.charAt(0).toLowerCase()}${slot.slice(1)}/studio`);
  expect(statusOf(place, "studio")).toMatchObject({ status: "loaded", mediaProviders: listed });
  expect(place.host.registries.mediaProviders.list().map(({ value }) => value.slot)).toHaveLength(slots.length);
  const messages = place.messages().join("\n");
  // `image_generate` asks those that make pictures.
  for (const name of listed.filter((one) => !one.startsWith("imageGeneration/")))
    expect(messages).toContain(`the provider ${name} is registered and listed; this version does not call it`);
  expect(messages).toMatch(/api\.registerImageGenerationProvider: provider\.id/);
});

test("what this host does not have is not on the API, and what it tells is a copy", async () => {
  await using _ = await openHost(
    [
      {
        id: "looks",
        pluginConfig: { word: "w" },
        code: `
      seen.push(api.registerMemoryCapability, api.registrationMode, api.resolvePath("~/x"), api.resolvePath("data"), api.runtime.version);
      api.config.logging.level = "silent"; api.pluginConfig.word = "changed";
      seen.push(api.lifecycle.signal.aborted);
    `,
      },
      { id: "next", code: `seen.push(api.config.logging.level)` },
    ],
    { config: { logging: { level: "info" } } },
  );
  const [capability, mode, home, data, version, aborted, level] = seen.seen;
  expect([capability, mode, home, version, aborted, level]).toEqual([undefined, "full", "/home/user/x", "1", false, "info"]);
  expect(data).toMatch(/openclaw-plugin-.*\/data$/);
});

test.each([
  ["throws", `api.on("message_sent", () => {}); throw new Error("no")`, "register failed: no"],
  ["rejects", `export default async (api) => { api.on("message_sent", () => {}); await 0; throw new Error("later") }`, "register failed: later"],
  ["throws at import", `export default () => {}; throw new Error("import")`, /import/],
  ["has a syntax error", `export default function ( {`, /load failed/],
  ["has no registration", `export default 5`, /register\/activate/],
])("a plugin that %s leaves nothing behind and stops no other", async (_what, code, message) => {
  await using place = await openHost([
    { id: "bad", code },
    { id: "good", code: `api.on("message_received", () => {})` },
  ]);
  expect(statusOf(place, "bad")).toMatchObject({ status: "error", hookCount: 0 });
  expect(place.messages("bad")).toEqual([typeof message === "string" ? message : expect.stringMatching(message)]);
  expect(place.host.diagnostics()[0]?.source).toBe(fileOf(place.entries[0]!));
  expect([place.hooks.has("message_sent"), place.hooks.has("message_received")]).toEqual([false, true]);
});

test("a registration that never settles is given up after ten seconds, and what comes of it later is ignored", async () => {
  const opening = openHost(
    [
      { id: "stuck", code: `export default async (api) => { seen.push(api); await new Promise(() => {}); }` },
      { id: "good", code: `seen.push("good")` },
    ],
    { clock: { ...systemClock, after: (ms, fn) => systemClock.after(ms === 10_000 ? 20 : ms, fn) } },
  );
  await using place = await opening;
  expect(statusOf(place, "stuck")).toMatchObject({ status: "error", error: "register: register did not finish within 10000 ms" });
  const [api] = seen.seen as [{ on(...args: unknown[]): void }];
  api.on("message_sent", () => {});
  expect(place.hooks.has("message_sent")).toBe(false);
  expect(place.messages("stuck").at(-1)).toMatch(/api\.on was called after the plugin was unloaded/);
  expect(seen.seen.at(-1)).toBe("good");
});

test("register runs first and activate after every plugin is registered; with one of them, that one registers", async () => {
  await using place = await openHost([
    { id: "both", code: `export default { register() { seen.push("both register") }, activate() { seen.push("both activate") } }` },
    { id: "only", code: `export function activate() { seen.push("only activate") }` },
    { id: "fails", code: `export default { register(api) { api.on("message_sent", () => {}) }, activate() { throw new Error("no") } }` },
  ]);
  expect(seen.seen).toEqual(["both register", "only activate", "both activate"]);
  expect(statusOf(place, "fails")).toMatchObject({ status: "error", error: expect.stringMatching(/^activate: no \(.*index\.mjs:1\)$/) });
  expect(place.hooks.has("message_sent")).toBe(false);
});

test("a taken name stays with the first; the diagnostic names both", async () => {
  const code = `
    api.registerGatewayMethod("shared.m", () => {}); api.registerCommand({ name: "shared", description: "d", handler() {} });
    api.registerProvider({ id: "shared" }); api.registerTool({ name: "shared", execute() {} }); api.registerHttpRoute({ path: "/shared", auth: "plugin", handler() {} });
  `;
  await using place = await openHost([
    { id: "first", code },
    {
      id: "second",
      code: `${code}; api.registerGatewayMethod("health", () => {}); api.registerCommand({ name: "status", description: "d", handler() {} }); api.on("message_sent", () => {})`,
    },
  ]);
  expect(place.messages("first")).toEqual([]);
  expect(place.messages("second")).toEqual([
    "gateway method already registered: shared.m (requested by second, used by first)",
    "command already registered: shared (requested by second, used by first)",
    "provider already registered: shared (requested by second, used by first)",
    "tool already registered: shared (requested by second, used by first)",
    "http route already registered: /shared (requested by second, used by first)",
    "gateway method already registered: health (requested by second, used by the gateway)",
    "command already registered: status (requested by second, used by the gateway)",
  ]);
  expect(place.hooks.has("message_sent")).toBe(true);
});

test("arguments that do not fit are diagnostics that say what was expected and what came", async () => {
  await using place = await openHost([
    {
      id: "odd",
      code: `
      api.registerTool(null); api.registerTool({ name: "x y", execute() {} }); api.registerTool({ name: "x" });
      api.registerCommand({ name: "9", handler() {} }); api.registerCommand({ name: "ok" });
      api.registerHttpRoute({ path: "/open", handler() {} }); api.registerHttpRoute({ path: "/a/../b", auth: "plugin", handler() {} });
      api.registerGatewayMethod("", () => {}); api.registerGatewayMethod("m", () => {}, { scope: "root" });
      api.registerService({ id: "s" }); api.registerChannel({}); api.registerProvider("p"); api.on("message_sent", "f"); api.on();
      api.registerHook("command:new", () => {}); api.lifecycle.onDispose(3);
      api.registerTool(new Proxy({}, { get() { throw new Error("trap") } }));
    `,
    },
  ]);
  expect(place.messages("odd")).toEqual([
    "api.registerTool: tool must be an object, but is null",
    `api.registerTool: the tool's name must be letters, digits, _ and -, at most 64, but is "x y"`,
    "api.registerTool: tool.execute must be a function, but is undefined",
    `api.registerCommand: command.name must be a letter, then letters, digits, _ and -, without the slash, but is "9"`,
    "api.registerCommand: command.handler must be a function, but is undefined",
    `api.registerHttpRoute: route.auth must be one of "gateway", "plugin", but is undefined`,
    `api.registerHttpRoute: route.path must be an absolute path without dots, blanks, % escapes, ? and #, but is "/a/../b"`,
    `api.registerGatewayMethod: method must be a non-empty string, but is ""`,
    expect.stringMatching(/^api\.registerGatewayMethod: options\.scope must be one of "operator\.read".*but is "root"$/),
    "api.registerService: service.start must be a function, but is undefined",
    "api.registerChannel: the channel's id must be a non-empty string, but is undefined",
    `api.registerProvider: provider must be an object, but is "p"`,
    `api.on: handler must be a function, but is "f"`,
    "api.on: hook must be a non-empty string, but is undefined",
    "hook registration missing name",
    "api.lifecycle.onDispose: fn must be a function",
    "trap",
  ]);
  expect(statusOf(place, "odd").status).toBe("loaded");
});

test("ten thousand hooks are cut to a bound, with one diagnostic", async () => {
  await using place = await openHost([{ id: "flood", code: `for (let i = 0; i < 10_000; i++) api.on("message_sent", () => {});` }]);
  expect(statusOf(place, "flood").hookCount).toBe(500);
  expect(place.messages("flood")).toEqual([`more than 500 of kind "hook" were registered: the rest is ignored`]);
});

test("an unknown hook and one that the operator has not allowed are refused; the rest loads", async () => {
  await using place = await openHost([
    { id: "nosy", code: `api.on("no_such_hook", () => {}); api.on("llm_input", () => {}); api.on("message_sent", () => {})` },
  ]);
  expect(place.messages("nosy")).toEqual([
    expect.stringContaining("no_such_hook"),
    expect.stringContaining("plugins.entries.nosy.hooks.allowConversationAccess"),
  ]);
  expect([place.hooks.has("llm_input"), place.hooks.has("message_sent")]).toEqual([false, true]);
});

test("trusted tool policies need the manifest and the operator", async () => {
  const manifest = { id: "p", configSchema: {}, rest: {}, contracts: { trustedToolPolicies: ["mine"] } };
  const code = `for (const id of ["mine", "other"]) api.registerTrustedToolPolicy({ id, description: "d", evaluate: () => ({ block: true, blockReason: "by policy" }) })`;
  await using place = await openHost(
    [
      { id: "named", manifest, code },
      { id: "unnamed", manifest, code },
    ],
    { config: { plugins: { entries: { named: { enabled: true } } } } },
  );
  expect(place.messages("named")).toEqual([expect.stringContaining("other")]);
  expect(place.messages("unnamed")).toHaveLength(2);
  expect(await place.policies.evaluate({ toolName: "exec", params: {} }, { toolName: "exec" })).toMatchObject({ block: true, decidedBy: "named" });
});

test("services start in order and stop in reverse; one that fails is not stopped, one that never settles holds nobody up", async () => {
  await using place = await openHost([
    { id: "a", code: `api.registerService({ id: "s", start(ctx) { seen.push("start a", ctx.stateDir) }, stop() { seen.push("stop a") } })` },
    { id: "b", code: `api.registerService({ id: "s", async start() { throw new Error("port taken") }, stop() { seen.push("stop b") } })` },
    {
      id: "c",
      code: `api.registerService({ id: "s", start() { seen.push("start c"); return new Promise(() => {}) }, stop() { seen.push("stop c"); return new Promise(() => {}) } })`,
    },
    { id: "d", code: `api.registerService({ id: "s", start() { seen.push("start d") }, stop() { throw new Error("no") } })` },
  ]);
  const starting = place.host.startServices();
  for (let i = 0; i < 50; i += 1) await turn();
  place.clock.advance(10_000);
  await starting;
  expect(seen.seen).toEqual(["start a", "/state", "start c", "start d"]);
  expect(place.messages("b")).toEqual(["the service s could not be started: port taken"]);
  const stopping = place.host[Symbol.asyncDispose]();
  for (let i = 0; i < 50; i += 1) await turn();
  place.clock.advance(1000);
  await stopping;
  expect(seen.seen.slice(4)).toEqual(["stop c", "stop a"]);
});

test("timers and servers of a plugin end with it; those of others and of the gateway go on", async () => {
  const code = (name: string): string => `
    import { createServer } from "node:http";
    export default function register(api) {
      let ticks = 0;
      api.registerService({ id: "s", async start() {
        setInterval(() => { ticks += 1; seen.push("${name}") }, 1).unref();
        setTimeout(() => seen.push("late ${name}"), 1_000_000).unref();
        const server = createServer(); await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve)); seen.push(server.address().port);
      } });
      api.registerGatewayMethod("${name}.call", ({ context }) => context.work());
    }`;
  await using place = await openHost(
    [
      { id: "ends", code: code("ends") },
      { id: "stays", code: code("stays") },
    ],
    { clock: systemClock },
  );
  await place.host.startServices();
  const gatewayTimer = { fired: false };
  const hostWork = (): void => void setTimeout(() => (gatewayTimer.fired = true), 5);
  await place.host.registries.gatewayMethods.get("ends.call")!.value.handler({ context: { work: hostWork } });
  expect(statusOf(place, "ends")).toMatchObject({ timers: 2, servers: 1 });
  const [port] = seen.seen.filter((entry) => typeof entry === "number");
  await place.host.disable("ends");
  expect(statusOf(place, "ends")).toMatchObject({ status: "disabled", timers: 0, servers: 0 });
  const socket = connect(port as number, "127.0.0.1");
  await expect(once(socket, "connect")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  seen.seen.length = 0;
  while (seen.seen.length < 3 || !gatewayTimer.fired) await new Promise((resolve) => setTimeout(resolve, 1));
  expect(new Set(seen.seen)).toEqual(new Set(["stays"]));
});

test("timers that ran or were cleared are forgotten", async () => {
  await using place = await openHost([
    { id: "busy", code: `for (let i = 0; i < 10_000; i++) clearTimeout(setTimeout(() => {}, 1e6)); for (let i = 0; i < 100; i++) setImmediate(() => {});` },
  ]);
  await turn();
  expect(statusOf(place, "busy").timers).toBe(0);
});

const answering = (word: string): string => `
  api.registerGatewayMethod("p.say", async ({ context, respond }) => { await context.wait; respond(true, "${word}") });
  api.on("message_sending", async () => ({ content: "${word}" }));
  api.lifecycle.onDispose(() => seen.push("disposed ${word}"));
  api.lifecycle.signal.addEventListener("abort", () => seen.push("aborted ${word}"));
  api.registerService({ id: "s", start() { seen.push("start ${word}") }, stop() { seen.push("stop ${word}") } });
`;

test("a reload lets running calls end in the old code and gives the next to the new", async () => {
  await using place = await openHost([{ id: "p", code: answering("old") }]);
  await place.host.startServices();
  const { gatewayMethods } = place.host.registries;
  const gate = Promise.withResolvers<void>();
  const answers: unknown[] = [];
  const respond = (_ok: boolean, said: unknown): void => void answers.push(said);
  const running = gatewayMethods.get("p.say")!.value.handler({ respond, context: { wait: gate.promise } });
  writeFileSync(fileOf(place.entries[0]!), moduleOf(answering("new")));
  expect(await place.host.reload("p")).toMatchObject({ status: "loaded", generation: 2 });
  expect(seen.seen).toEqual(["start old", "stop old", "start new"]);
  await gatewayMethods.get("p.say")!.value.handler({ respond, context: {} });
  expect(answers).toEqual(["new"]);
  gate.resolve();
  await running;
  for (let i = 0; i < 20; i += 1) await turn();
  expect(answers).toEqual(["new", "old"]);
  expect(seen.seen.slice(3)).toEqual(["aborted old", "disposed old"]);
  expect(await place.hooks.run("message_sending", { to: "x", content: "c" }, { channelId: "c" })).toMatchObject({ content: "new" });
});

test.each([
  ["cannot be parsed", "export default ((("],
  ["throws", `throw new Error("no")`],
  ["fails to activate", `export default { register() {}, activate() { throw new Error("no") } }`],
])("a reload to code that %s keeps the old generation", async (_what, code) => {
  await using place = await openHost([{ id: "p", code: answering("old") }]);
  await place.host.startServices();
  writeFileSync(fileOf(place.entries[0]!), moduleOf(code));
  await expect(place.host.reload("p")).rejects.toThrow(/no|Expected|Unexpected/i);
  expect(statusOf(place, "p")).toMatchObject({ status: "loaded", generation: 1, gatewayMethods: ["p.say"] });
  expect(statusOf(place, "p").error).toMatch(/^(?:load|register|activate): /);
  expect(seen.seen).toEqual(["start old"]);
  writeFileSync(fileOf(place.entries[0]!), moduleOf(answering("new")));
  expect(await place.host.reload("p")).toMatchObject({ status: "loaded", gatewayMethods: ["p.say"] });
  expect(place.messages("p")).toEqual([]);
});

test("a plugin that was disabled since is taken down by a reload, and comes back with one", async () => {
  await using place = await openHost([{ id: "p", code: answering("p") }]);
  const [entry] = place.entries as [(typeof place.entries)[0]];
  place.entries[0] = { ...entry, enabled: false, reason: "disabled in config" };
  expect(await place.host.reload("p")).toMatchObject({ status: "disabled", reason: "disabled in config", hookCount: 0 });
  expect(place.hooks.has("message_sending")).toBe(false);
  expect(place.written).toContainEqual(["extensions.clear", { pluginId: "p" }]);
  place.entries[0] = entry;
  expect(await place.host.reload("p")).toMatchObject({ status: "loaded" });
  place.entries.length = 0;
  await place.host.reload("p");
  expect(place.host.list()).toEqual([]);
  await expect(place.host.reload("p")).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("an old API registers nothing after a reload", async () => {
  await using place = await openHost([{ id: "p", code: `seen.push(api)` }]);
  await place.host.reload("p");
  const [old] = seen.seen as [Record<string, (...args: unknown[]) => unknown>];
  old["registerGatewayMethod"]!("late.m", () => {});
  await expect(old["enqueueNextTurnInjection"]!({ sessionKey: "main", text: "x" })).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(place.host.registries.gatewayMethods.size).toBe(0);
  expect(place.messages("p")).toEqual(["api.registerGatewayMethod was called after the plugin was unloaded: nothing is registered"]);
});

test("a route that is added while the plugin runs is its own, replaces only its own, and goes with it", async () => {
  await using place = await openHost([
    { id: "a", code: "" },
    { id: "b", code: "" },
  ]);
  const { host, mounted } = place;
  const handler = (): void => {};
  const remove = host.registerRoute({ path: "/hook", handler, pluginId: "a" });
  expect(() => host.registerRoute({ path: "/hook", handler, pluginId: "b" })).toThrow(/could not be registered/);
  host.registerRoute({ path: "/hook", handler, pluginId: "a" });
  expect([...mounted]).toEqual(["/hook"]);
  remove();
  expect([...mounted]).toEqual(["/hook"]);
  await host.disable("a");
  expect([...mounted]).toEqual([]);
  expect(() => host.registerRoute({ path: "/hook", handler, pluginId: "a" })).toThrow(/no running plugin/);
  expect(() => host.registerRoute({ path: "/hook", handler })).toThrow(/no running plugin/);
});
