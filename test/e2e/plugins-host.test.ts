import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makePlace, type Place } from "../harness/gateway-process.ts";

const TOKEN = "a-token-of-this-test-0123456789";

/** Installs plugins into a place: each an id and its TypeScript. */
function install(place: Place, plugins: Readonly<Record<string, string>>): void {
  const entries = Object.keys(plugins).map((id) => `${JSON.stringify(id)}: { enabled: true, config: { word: "first" } }`);
  // What comes with the program is another matter.
  place.env["OPENCLAW_BUNDLED_PLUGINS_DIR"] = join(place.home, "none");
  place.configure(
    `{ gateway: { mode: "local", auth: { token: "${TOKEN}" } }, plugins: { allow: ${JSON.stringify(Object.keys(plugins))}, entries: { ${entries.join(", ")} } } }`,
  );
  for (const [id, code] of Object.entries(plugins)) {
    const folder = join(place.stateDir, "extensions", id);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "openclaw.plugin.json"), JSON.stringify({ id, configSchema: { type: "object" } }));
    writeFileSync(join(folder, "index.ts"), code);
  }
}

const sourceOf = (place: Place, id: string): string => join(place.stateDir, "extensions", id, "index.ts");

/** Calls a method as the CLI does. */
function call(place: Place, method: string, params: object = {}): unknown {
  const { code, stdout, stderr } = place.cli("call", method, "--params", JSON.stringify(params), "--json");
  if (code !== 0) throw new Error(stderr + stdout);
  return JSON.parse(stdout);
}

const GOOD = `
export default function register(api: { [member: string]: any }) {
  api.registerGatewayMethod("good.say", ({ params, respond }: any) => respond(true, { said: params.word ?? api.pluginConfig.word }), { scope: "operator.read" });
  api.registerHttpRoute({ path: "/good", auth: "plugin", match: "prefix", handler(req: any, res: any) { res.end("good " + req.url); } });
  api.registerHttpRoute({ path: "/closed", auth: "gateway", handler(req: any, res: any) { res.end("closed"); } });
  api.registerHttpRoute({ path: "/undeclared", handler(req: any, res: any) { res.end("open"); } });
  api.registerHttpHandler((req: any, res: any) => { if (!req.url.startsWith("/legacy")) return false; res.end("legacy"); return true; });
  api.registerSessionExtension({ namespace: "mood", description: "d", cleanup: ({ reason, sessionKey }: any) => api.logger.info("cleanup " + reason + " " + sessionKey) });
  api.on("gateway_start", ({ port }: any) => api.logger.info("started on " + port));
  api.on("gateway_stop", () => api.logger.info("stopping"));
  api.registerTool({ name: "good_look", description: "d", parameters: {}, execute: async () => ({ content: [] }) });
  api.registerCommand({ name: "good", description: "d", handler: () => ({ text: "hi" }) });
  api.registerCli(() => {}, { commands: ["good"] });
  api.registerService({ id: "s", start: () => api.logger.info("service up"), stop: () => api.logger.info("service down") });
}`;

/** Everything a plugin can do wrong, one plugin each. */
const BAD: Readonly<Record<string, string>> = {
  "throws-import": `throw new Error("at import"); export default () => {};`,
  "throws-register": `export default () => { throw new Error("at register"); }`,
  "throws-activate": `export default { register() {}, activate() { throw new Error("at activate"); } }`,
  "throws-handler": `export default (api: any) => { api.on("gateway_start", () => { throw new Error("in a handler"); }); api.registerGatewayMethod("bad.throw", () => { throw new Error("in a method"); });
    api.registerGatewayMethod("bad.garbage", ({ respond }: any) => respond("yes", () => {}, 5)); api.registerHttpRoute({ path: "/bad", auth: "plugin", handler() { throw new Error("in a route"); } }); }`,
  "throws-service": `export default (api: any) => api.registerService({ id: "s", async start() { throw new Error("in a service"); } })`,
  "throws-timer": `export default (api: any) => api.registerService({ id: "s", start() { setTimeout(() => { throw new Error("in a timer"); }, 1); } })`,
  "rejects-alone": `export default (api: any) => api.registerService({ id: "s", start() { void Promise.reject(new Error("left alone")); } })`,
  "socket-error": `import { connect } from "node:net"; export default (api: any) => api.registerService({ id: "s", start() { connect(1, "127.0.0.1"); } })`,
  "never-settles": `export default (api: any) => { api.on("gateway_start", () => new Promise(() => {})); api.on("gateway_stop", () => new Promise(() => {})); api.registerService({ id: "s", start() {}, stop: () => new Promise(() => {}) }); }`,
  "syntax-error": `export default function ( {`,
  "exports-nothing": `export const x = 1;`,
  flood: `export default (api: any) => { for (let i = 0; i < 10_000; i++) api.on("message_sent", () => {}); }`,
};

test("methods, routes, services and hooks of a plugin work in a running gateway, and end with it", async () => {
  const place = makePlace();
  install(place, { good: GOOD });
  await using gateway = await place.gateway();
  await gateway.waitFor("[good] started on");
  await gateway.waitFor("[good] service up");
  expect(call(place, "good.say")).toEqual({ said: "first" });
  expect(await (await fetch(`${gateway.url}/good/a%20b?x=1`)).text()).toBe("good /good/a%20b?x=1");
  expect((await fetch(`${gateway.url}/closed`)).status).toBe(401);
  expect(await (await fetch(`${gateway.url}/closed`, { headers: { authorization: `Bearer ${TOKEN}` } })).text()).toBe("closed");
  expect(await (await fetch(`${gateway.url}/undeclared`)).text()).not.toBe("open");
  expect(await (await fetch(`${gateway.url}/legacy/x`)).text()).toBe("legacy");
  expect(call(place, "plugins.list")).toMatchObject({ plugins: [{ id: "good", status: "loaded", services: ["s"], httpHandlers: 3 }] });
  const documented =
    "id name source origin enabled status toolNames hookNames channelIds providerIds gatewayMethods cliCommands services commands httpHandlers hookCount configSchema configJsonSchema";
  for (const listed of [
    call(place, "plugins.list") as { plugins: object[] },
    JSON.parse(place.cli("plugins", "list", "--json").stdout) as { plugins: object[] },
  ]) {
    expect(Object.keys(listed.plugins[0]!)).toEqual(expect.arrayContaining(documented.split(" ")));
  }
  expect(JSON.parse(place.cli("plugins", "info", "good", "--json").stdout)).toMatchObject({
    plugin: {
      toolNames: ["good_look"],
      commands: ["good"],
      cliCommands: ["good"],
      gatewayMethods: ["good.say"],
      hookNames: ["gateway_start", "gateway_stop"],
      generation: 1,
    },
  });
  expect(place.cli("plugins", "info", "good").stdout).toMatch(/tools +good_look\n[\s\S]*chat +\/good\n[\s\S]*commands +openclaw good\n/);
  expect(place.cli("plugins", "stats").stdout).toContain("gateway_start");
  gateway.child.kill("SIGTERM");
  expect(await gateway.exited).toEqual({ code: 0, signal: null });
  expect(gateway.output()).toMatch(/\[good\] stopping[\s\S]*\[good\] service down/);
});

test("whatever plugins do wrong, the gateway and the others go on, and each is named", async () => {
  const place = makePlace();
  install(place, { ...BAD, good: GOOD });
  await using gateway = await place.gateway();
  for (const text of ["in a timer", "left alone", "ECONNREFUSED", "in a service", "in a handler"]) await gateway.waitFor(text);
  expect(() => call(place, "bad.throw")).toThrow("in a method");
  expect(() => call(place, "bad.garbage")).toThrow("bad.garbage failed");
  expect((await fetch(`${gateway.url}/bad`)).status).toBe(500);
  expect(call(place, "good.say")).toEqual({ said: "first" });
  const { plugins, diagnostics } = call(place, "plugins.list") as {
    plugins: { id: string; status: string }[];
    diagnostics: { pluginId?: string; message: string; source?: string }[];
  };
  const failed = plugins.filter(({ status }) => status === "error").map(({ id }) => id);
  expect(failed.sort()).toEqual(["exports-nothing", "syntax-error", "throws-activate", "throws-import", "throws-register"]);
  const named = new Set(diagnostics.map(({ pluginId }) => pluginId));
  for (const id of Object.keys(BAD)) if (id !== "never-settles") expect([id, named.has(id)]).toEqual([id, true]);
  const timer = diagnostics.find(({ pluginId }) => pluginId === "throws-timer");
  expect(timer).toMatchObject({ message: expect.stringContaining("in a timer"), source: sourceOf(place, "throws-timer"), line: 1 });
  gateway.child.kill("SIGTERM");
  expect(await gateway.exited).toEqual({ code: 0, signal: null });
}, 30_000);

test("a plugin is reloaded with its new code; code that cannot be loaded leaves the old one", async () => {
  const place = makePlace();
  install(place, { good: GOOD });
  await using gateway = await place.gateway();
  writeFileSync(sourceOf(place, "good"), GOOD.replace("said: params.word ??", "said: 'new ' +"));
  expect(place.cli("plugins", "reload", "good").stdout).toContain("good: loaded, generation 2");
  expect(call(place, "good.say")).toEqual({ said: "new first" });
  writeFileSync(sourceOf(place, "good"), "export default {{{");
  const failed = place.cli("plugins", "reload", "good");
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining(sourceOf(place, "good"))]);
  expect(call(place, "good.say")).toEqual({ said: "new first" });
  writeFileSync(sourceOf(place, "good"), GOOD);
  expect(place.cli("config", "set", "plugins.entries.good.config.word", "second").code).toBe(0);
  await gateway.waitFor("good was reloaded");
  await gateway.waitFor(/good was reloaded[^\n]*[\s\S]*good was reloaded/);
  expect(call(place, "good.say")).toEqual({ said: "second" });
  expect(place.cli("plugins", "reload", "nobody").stderr).toContain(`there is no plugin "nobody"`);
});

test("what a plugin keeps in a session is shown on its row, and the plugin hears when the session ends", async () => {
  const place = makePlace();
  install(place, { good: GOOD });
  await using gateway = await place.gateway();
  call(place, "chat.send", { sessionKey: "main", message: "hello", idempotencyKey: "k1" });
  call(place, "sessions.pluginPatch", { key: "main", pluginId: "good", namespace: "mood", value: { good: true } });
  const shown = [{ pluginId: "good", namespace: "mood", value: { good: true } }];
  expect(call(place, "sessions.list")).toMatchObject({ sessions: [{ key: "agent:main:main", pluginExtensions: shown }] });
  expect(() => call(place, "sessions.pluginPatch", { key: "main", pluginId: "good", namespace: "other", value: 1 })).toThrow(/no plugin .* stores/);
  call(place, "sessions.reset", { key: "main" });
  await gateway.waitFor("[good] cleanup reset agent:main:main");
  expect(JSON.stringify(call(place, "sessions.list"))).not.toContain("pluginExtensions");
});

test("an error that no plugin caused still ends the gateway", async () => {
  const place = makePlace();
  install(place, { good: GOOD });
  // Loaded ahead of the program, this stands for a defect of the gateway itself.
  const defect = join(place.home, "defect.mjs");
  writeFileSync(defect, `process.on("SIGUSR2", () => { throw new Error("a defect"); });`);
  await using gateway = await place.gateway({ env: { NODE_OPTIONS: `--import=${defect}` } });
  gateway.child.kill("SIGUSR2");
  expect((await gateway.exited).code).toBe(1);
  expect(gateway.output()).toContain("a defect");
});

test("a restart in place runs the plugin's new code, with nothing left of the old", async () => {
  const place = makePlace();
  install(place, { good: GOOD });
  await using gateway = await place.gateway();
  writeFileSync(sourceOf(place, "good"), GOOD.replace("said: params.word ??", "said: 'new ' +"));
  gateway.child.kill("SIGUSR1");
  await gateway.waitFor(/\[good\] service up[\s\S]*\[good\] service down[\s\S]*\[good\] service up/);
  expect(call(place, "good.say")).toEqual({ said: "new first" });
  expect(call(place, "plugins.list")).toMatchObject({ plugins: [{ id: "good", generation: 1, status: "loaded" }] });
});
