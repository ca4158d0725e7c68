import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { makePlace, type GatewayProcess, type Place } from "../harness/gateway-process.ts";
import { runCommand, type Build } from "../harness/program.ts";

const BUILD: Build = "dist";
const TOKEN = "a-token-of-this-test-0123456789";
const places: Place[] = [];

afterEach(() => {
  for (const { home } of places.splice(0)) rmSync(home, { recursive: true, force: true });
});

function place(config: object): Place {
  const made = makePlace();
  places.push(made);
  made.env["OPENCLAW_BUNDLED_PLUGINS_DIR"] = join(made.home, "none");
  made.configure(JSON.stringify({ gateway: { mode: "local", auth: { token: TOKEN } }, ...config }));
  return made;
}

/** A plugin's folder, not installed. */
function write(folder: string, id: string, code: string, manifest: object = {}): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "openclaw.plugin.json"), JSON.stringify({ id, configSchema: { type: "object" }, ...manifest }));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: id, version: "1.2.3", type: "module", openclaw: { extensions: ["./index.js"] } }));
  writeFileSync(join(folder, "index.js"), code);
  return folder;
}

const installed = ({ stateDir }: Place, id: string): string => join(stateDir, "extensions", id);
const saying = (word: string): string =>
  `export default (api) => api.registerGatewayMethod("${word}.say", ({ respond }) => respond(true, { said: "${word}" }), { scope: "operator.read" });`;

interface Answer {
  readonly [key: string]: unknown;
}

function call(at: Place, method: string, params: object = {}): Answer {
  const { code, stdout, stderr } = runCommand(at, ["call", method, "--params", JSON.stringify(params), "--json", "--expect-final"], { build: BUILD });
  if (code !== 0) throw new Error(stderr + stdout);
  return JSON.parse(stdout) as Answer;
}

/** Waits until the gateway says that it is ready for the `nth` time. */
async function readyAgain(gateway: GatewayProcess, nth: number): Promise<void> {
  await gateway.waitFor(new RegExp(`(?:ready on[^]*){${nth}}`));
}

test("a plugin is turned on and off over the gateway, which restarts to take it over and says so", async () => {
  const at = place({});
  write(installed(at, "hello"), "hello", saying("hello"));
  await using gateway = await at.gateway({ build: BUILD });
  expect(() => call(at, "plugins.enable", { id: "helo", enabled: true })).toThrow("plugin not found: helo; did you mean");
  expect(call(at, "plugins.enable", { id: "hello", enabled: false })).toMatchObject({
    ok: true,
    enabled: false,
    restart: true,
    does: expect.stringContaining("restarts"),
  });
  await readyAgain(gateway, 2);
  expect(() => call(at, "hello.say")).toThrow("hello.say");
  expect(call(at, "plugins.enable", { id: "hello", enabled: true })).toMatchObject({ ok: true, id: "hello", enabled: true, restart: true });
  await readyAgain(gateway, 3);
  expect(call(at, "hello.say")).toEqual({ said: "hello" });
  expect(call(at, "plugins.enable", { id: "hello", enabled: true })).toMatchObject({
    restart: false,
    does: "Nothing had to change.",
    plugin: { id: "hello", status: "loaded" },
  });
}, 60_000);

test("where the reload mode forbids restarts nothing restarts, and the answer says what to do", async () => {
  const at = place({});
  at.configure(JSON.stringify({ gateway: { mode: "local", auth: { token: TOKEN }, reload: { mode: "hot" } } }));
  write(installed(at, "hello"), "hello", saying("hello"));
  await using _gateway = await at.gateway({ build: BUILD });
  expect(call(at, "plugins.enable", { id: "hello", enabled: false })).toMatchObject({
    restart: false,
    does: expect.stringContaining("openclaw gateway restart"),
  });
  expect(readFileSync(at.configPath, "utf8")).toMatch(/"enabled": ?false/);
});

const GUARD = `export default (api) => api.on("before_install", ({ targetName, source }) => {
  api.logger.info("asked about " + targetName + " from " + source);
  return targetName === "evil" ? { block: true, blockReason: "not here" } : { findings: [{ severity: "warn", message: "looked at by the guard", ruleId: "g", file: "index.js", line: 1 }] };
});`;

test("a plugin is installed and removed over the gateway, and plugins that run are asked before", async () => {
  const at = place({ plugins: { entries: { guard: { enabled: true } } } });
  write(installed(at, "guard"), "guard", GUARD);
  const hello = write(join(at.home, "hello"), "hello", saying("hello"));
  const evil = write(join(at.home, "evil"), "evil", saying("evil"));
  await using gateway = await at.gateway({ build: BUILD });

  expect(() => call(at, "plugins.install", { spec: evil })).toThrow("not here");
  await gateway.waitFor("asked about evil from path");
  expect(existsSync(installed(at, "evil"))).toBe(false);

  const answer = call(at, "plugins.install", { spec: hello });
  expect(answer).toMatchObject({ ok: true, id: "hello", version: "1.2.3", source: hello, restart: true });
  expect(answer["warnings"]).toContainEqual(expect.stringContaining("looked at by the guard"));
  await readyAgain(gateway, 2);
  expect(call(at, "hello.say")).toEqual({ said: "hello" });

  expect(call(at, "plugins.uninstall", { id: "hello" })).toMatchObject({
    ok: true,
    removed: expect.arrayContaining(["plugins.entries.hello", installed(at, "hello")]),
  });
  await readyAgain(gateway, 3);
  expect(() => call(at, "hello.say")).toThrow("hello.say");
  expect(existsSync(installed(at, "hello"))).toBe(false);
  expect(readFileSync(at.configPath, "utf8")).not.toContain('"hello"');

  expect(call(at, "plugins.install", { spec: hello, enable: false })).toMatchObject({ id: "hello" });
  expect(readFileSync(at.configPath, "utf8")).toMatch(/"hello": ?\{\s*"enabled": ?false/);
}, 60_000);

const PAGER = `export default (api) => api.registerChannel({ plugin: {
  id: "pager", meta: { id: "pager", label: "Pager" }, capabilities: { chatTypes: ["direct"] },
  config: { listAccountIds: () => ["default"], resolveAccount: () => ({}), isConfigured: () => true, isEnabled: () => true },
  gateway: { startAccount: ({ abortSignal }) => new Promise((resolve) => abortSignal.addEventListener("abort", resolve)) },
} });`;

const SCHEMA = {
  channels: ["pager"],
  channelConfigs: { pager: { schema: { type: "object", properties: { number: { type: "string" } }, additionalProperties: false } } },
};

test("a channel whose section does not fit its plugin's schema is marked and reported; the gateway runs on", async () => {
  const at = place({ channels: { pager: { number: 5, nubmer: "6" } }, plugins: { entries: { pager: { enabled: true } } } });
  write(installed(at, "pager"), "pager", PAGER, SCHEMA);
  await using gateway = await at.gateway({ build: BUILD });
  await gateway.waitFor(/a channel is misconfigured: channels\.pager\.number: /);
  const status = call(at, "channels.status") as { channels: { pager: Answer }; channelAccounts: { pager: Answer[] } };
  expect(status.channels.pager).toMatchObject({ misconfigured: expect.stringContaining('did you mean "number"?') });
  expect(status.channelAccounts.pager[0]).toMatchObject({
    issues: [{ kind: "config", message: expect.stringContaining("channels.pager.number") }, { kind: "config" }],
  });
  expect(call(at, "config.get")).toMatchObject({ valid: true, warnings: [{ path: "channels.pager.number" }, { path: "channels.pager.nubmer" }] });
  const { problems } = call(at, "overview") as { problems: Answer[] };
  expect(problems).toContainEqual(expect.objectContaining({ level: "warn", page: "config", text: expect.stringContaining("channels.pager.number") }));
  // What is looked at before it is written is judged as by the command.
  const { raw } = call(at, "config.edit", { set: [{ path: "channels.pager", value: { number: 7 } }] });
  expect(call(at, "config.check", { raw })).toMatchObject({ valid: false, issues: [{ path: "channels.pager.number" }] });

  const fixed = call(at, "config.edit", { set: [{ path: "channels.pager", value: { number: "7" } }] })["raw"];
  expect(call(at, "config.check", { raw: fixed })).toMatchObject({
    valid: true,
    reload: { kind: "hot", paths: [{ does: "The channel pager reconnects." }, {}] },
  });
  call(at, "config.set", { raw: fixed, baseHash: call(at, "config.get")["hash"] });
  expect(call(at, "config.get")).toMatchObject({ valid: true, warnings: [] });
  expect((call(at, "channels.status") as typeof status).channels.pager).not.toHaveProperty("misconfigured");
}, 60_000);

test("what was installed and cannot be loaded is reported, and does not take the place of a plugin that comes with the gateway", async () => {
  const own = { enabled: true, hooks: { timeoutMs: 700 }, config: { depth: 3 } };
  const at = place({ plugins: { entries: { own } } });
  at.configure(JSON.stringify({ gateway: { mode: "local", auth: { token: TOKEN }, reload: { mode: "off" } }, plugins: { entries: { own } } }));
  const bundled = join(at.home, "bundled");
  at.env["OPENCLAW_BUNDLED_PLUGINS_DIR"] = bundled;
  write(join(bundled, "own"), "own", saying("own"));
  const broken = (id: string): string => write(join(at.home, `broken-${id}`), id, `throw new Error("no luck with ${id}");`);
  const plugins = (): object => (JSON.parse(readFileSync(at.configPath, "utf8")) as { plugins: object }).plugins;
  await using _gateway = await at.gateway({ build: BUILD });
  const before = plugins();
  const says = /own was not installed: it cannot be loaded \(.*no luck with own.*; the own that comes with OpenClaw stays in use/;
  expect(() => call(at, "plugins.install", { spec: broken("own") })).toThrow(says);
  const { code, stderr } = runCommand(at, ["plugins", "install", broken("own")], { build: BUILD });
  expect([code, stderr]).toEqual([1, expect.stringMatching(says)]);
  expect([plugins(), existsSync(installed(at, "own"))]).toEqual([{ ...before, installs: {} }, false]);
  expect(call(at, "own.say")).toEqual({ said: "own" });
  const reason = expect.stringMatching(/^lonely is installed but cannot be loaded: .*no luck with lonely/);
  const answer = call(at, "plugins.install", { spec: broken("lonely") });
  expect(answer).toMatchObject({ ok: true, id: "lonely", problem: reason });
  expect((answer["warnings"] as string[])[0]).toEqual(reason);
  const unset = write(join(at.home, "unset"), "unset", saying("unset"), { configSchema: { type: "object", required: ["key"] } });
  expect(call(at, "plugins.install", { spec: unset })).toMatchObject({
    problem: expect.stringMatching(/^unset needs configuration; run: openclaw config set plugins\.entries\.unset\.config\.key/),
  });
  expect(call(at, "plugins.install", { spec: write(join(at.home, "fine"), "fine", saying("fine")) })).not.toHaveProperty("problem");
});
