import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makePlace, type Place } from "../harness/gateway-process.ts";

const SCHEMA = { type: "object", additionalProperties: false, properties: { port: { type: "number" } } };

/** A plugin whose code leaves a mark when anything loads it. */
function install(place: Place, id: string, manifest: object = {}, folder = join(place.stateDir, "extensions", id)): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "openclaw.plugin.json"), JSON.stringify({ id, name: `The ${id}`, configSchema: SCHEMA, ...manifest }));
  writeFileSync(
    join(folder, "index.ts"),
    `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(join(place.home, "loaded"))}, "x");\nexport default () => {};\n`,
  );
}

function fixture(config = "{}\n"): Place {
  const place = makePlace();
  // What comes with the program is another matter.
  place.env["OPENCLAW_BUNDLED_PLUGINS_DIR"] = join(place.home, "none");
  place.configure(config);
  install(place, "hello");
  return place;
}

test("plugins list shows every plugin with its state and the reason, and loads no code", () => {
  const place = fixture(`{ plugins: { entries: { other: { enabled: false } } } }\n`);
  install(place, "other");
  install(place, "visitor", {}, join(place.stateDir, "workspace/.openclaw/extensions/visitor"));
  const { code, stdout, stderr } = place.cli("plugins", "list");
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^id +status +origin +version +about$/m);
  expect(stdout).toMatch(/^hello +not checked +global +- +The hello$/m);
  expect(stdout).toMatch(/^other +disabled +global +- +disabled in config$/m);
  expect(stdout).toMatch(/^visitor +disabled +workspace +- +workspace plugin \(disabled by default\)$/m);
  expect(place.cli("plugins", "list", "--enabled").stdout).not.toContain("visitor");
  expect(place.cli("plugins", "list", "--verbose").stdout).toContain(join(place.stateDir, "extensions/hello/index.ts"));
  expect(place.cli("plugins").stdout).toBe(stdout);
  expect(existsSync(join(place.home, "loaded"))).toBe(false);
});

test("plugins list --json has the documented form", () => {
  const place = fixture();
  install(place, "chat", { channels: ["chat"], providers: ["models"], contracts: { tools: ["say"] }, version: "1.2.3", kind: "channel" });
  const listed = JSON.parse(place.cli("plugins", "list", "--json").stdout) as {
    workspaceDir: string;
    plugins: Record<string, unknown>[];
    diagnostics: unknown[];
  };
  expect(listed.workspaceDir).toBe(join(place.stateDir, "workspace"));
  const empty = { hookNames: [], gatewayMethods: [], cliCommands: [], services: [], commands: [], httpHandlers: 0, hookCount: 0 };
  expect(listed.plugins.find(({ id }) => id === "chat")).toEqual({
    ...empty,
    id: "chat",
    name: "The chat",
    version: "1.2.3",
    source: join(place.stateDir, "extensions/chat/index.ts"),
    origin: "global",
    enabled: true,
    status: "not checked",
    kind: "channel",
    toolNames: ["say"],
    channelIds: ["chat"],
    providerIds: ["models"],
    configSchema: true,
    configJsonSchema: SCHEMA,
  });
  expect(listed.diagnostics).toContainEqual(expect.objectContaining({ level: "warn", code: "allow-empty" }));
});

test("a name in a manifest cannot write on the terminal", () => {
  const place = fixture();
  install(place, "loud", { name: "\u001b[2Jgone", description: "two\nlines\u0007" });
  for (const line of [["list"], ["list", "--verbose"], ["info", "loud"], ["doctor"]]) {
    const { stdout } = place.cli("plugins", ...line);
    for (const text of ["\u001b[2J", "\u0007", "two\nlines"]) expect(stdout).not.toContain(text);
  }
});

test("plugins info tells all about one, and what was meant when there is none", () => {
  const place = fixture();
  expect(place.cli("plugins", "info", "hello").stdout).toMatch(/status +not checked[\s\S]*settings +port/);
  expect(JSON.parse(place.cli("plugins", "info", "hello", "--json").stdout)).toMatchObject({ plugin: { id: "hello", status: "not checked" } });
  expect(place.cli("plugins", "info", "helo")).toMatchObject({ code: 1, stderr: expect.stringContaining('plugin not found: helo; did you mean "hello"?') });
});

test("enable and disable change the file, keep the user's comments and say what follows", () => {
  const place = fixture(`{\n  // mine\n  plugins: {\n    allow: ["x"], // trusted\n  },\n}\n`);
  const enabled = place.cli("plugins", "enable", "hello");
  expect(enabled).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Enabled plugin hello in .*the gateway is not running; it applies on the next start\nadded it to plugins\.allow\n$/),
  });
  const text = readFileSync(place.configPath, "utf8");
  expect(text).toContain("// mine");
  expect(text).toContain("// trusted");
  expect(JSON.parse(place.cli("config", "get", "plugins", "--json").stdout)).toMatchObject({ allow: ["x", "hello"], entries: { hello: { enabled: true } } });
  expect(place.cli("plugins", "enable", "hello").stdout).toContain("No changes: hello");
  expect(JSON.parse(place.cli("plugins", "disable", "hello", "--json").stdout)).toMatchObject({
    ok: true,
    id: "hello",
    enabled: false,
    reason: "disabled in config",
    gateway: "not running",
  });
  expect(readFileSync(place.configPath, "utf8")).toContain("// trusted");
});

test("enabling a memory plugin gives it the slot, disabling takes it away", () => {
  const place = fixture();
  install(place, "keeper", { kind: "memory" });
  expect(JSON.parse(place.cli("plugins", "list", "--json").stdout).plugins[1]).toMatchObject({ enabled: false, reason: 'memory slot set to "memory-core"' });
  expect(place.cli("plugins", "enable", "keeper").stdout).toContain('plugins.slots.memory is "keeper"');
  expect(JSON.parse(place.cli("plugins", "info", "keeper", "--json").stdout).plugin).toMatchObject({ enabled: true, reason: "holds the memory slot" });
  expect(place.cli("plugins", "disable", "keeper").stdout).toContain("memory is now off");
  expect(JSON.parse(place.cli("plugins", "info", "keeper", "--json").stdout).plugin).toMatchObject({ enabled: false });
});

test("what the operator turned off elsewhere is not turned on", () => {
  const denied = fixture(`{ plugins: { deny: ["hello"] } }`);
  expect(denied.cli("plugins", "enable", "hello")).toMatchObject({ code: 1, stderr: expect.stringContaining("blocked by denylist") });
  const off = fixture(`{ plugins: { enabled: false } }`);
  expect(off.cli("plugins", "enable", "hello")).toMatchObject({ code: 1, stderr: expect.stringContaining("plugins disabled") });
  expect(readFileSync(off.configPath, "utf8")).toBe(`{ plugins: { enabled: false } }`);
});

test("a wrong plugin setting is an error of the configuration, with path and line, in validate and doctor", () => {
  const place = fixture(`{\n  plugins: {\n    allow: ["hello"],\n    entries: { hello: { config: {\n      prot: 1,\n    } }, gone: {} },\n  },\n}\n`);
  const validated = place.cli("config", "validate", "--json");
  expect(validated.code).toBe(1);
  expect(JSON.parse(validated.stdout)).toMatchObject({
    valid: false,
    issues: [{ path: "plugins.entries.hello.config.prot", line: 5, file: place.configPath }],
    warnings: [{ path: "plugins.entries.gone", line: 6 }],
  });
  const doctor = place.cli("plugins", "doctor");
  expect(doctor.code).toBe(1);
  expect(doctor.stdout).toContain(`${place.configPath}:5: plugins.entries.hello.config.prot: unknown key "prot"; did you mean "port"?`);
  expect(place.cli("plugins", "list").stdout).toMatch(/^hello +error +global +- +invalid config: prot/m);
});

test("hook budgets outside of 1 to 600000 are errors that name the path", () => {
  for (const value of ["0", "600001", "1.5", '"5s"']) {
    const place = fixture(`{ plugins: { entries: { hello: { hooks: { timeouts: { before_tool_call: ${value} } } } } } }`);
    const { code, stdout } = place.cli("config", "validate");
    expect([value, code, stdout]).toEqual([value, 1, expect.stringContaining("plugins.entries.hello.hooks.timeouts.before_tool_call")]);
  }
  expect(fixture(`{ plugins: { entries: { hello: { hooks: { timeoutMs: 600000, failClosed: true } } } } }`).cli("config", "validate").code).toBe(0);
});

test("doctor has nothing to say about what is right, and names file and line of what is not", () => {
  const place = fixture(`{ plugins: { allow: ["hello"] } }`);
  expect(place.cli("plugins", "doctor")).toMatchObject({ code: 0, stdout: "No plugin issues detected.\n" });
  writeFileSync(join(place.stateDir, "extensions/hello/openclaw.plugin.json"), `{\n  "id": 5\n}`);
  const { code, stdout } = place.cli("plugins", "doctor");
  expect(code).toBe(1);
  expect(stdout).toContain(`openclaw.plugin.json:2: hello: "id": expected a text, found a number`);
  expect(JSON.parse(place.cli("plugins", "doctor", "--json").stdout)).toMatchObject({ ok: false, plugins: [{ id: "hello", status: "error" }] });
});

test("of plugins that cannot be loaded nobody says that they are: doctor tries, and the running gateway is asked", async () => {
  const place = fixture(`{ gateway: { mode: "local" }, plugins: { allow: ["hello", "broken", "ending"] } }`);
  install(place, "broken");
  writeFileSync(join(place.stateDir, "extensions/broken/index.ts"), `throw new Error("it has no legs");\n`);
  expect(place.cli("plugins", "list").stdout).toMatch(/2 not checked: no gateway is running/);
  const { code, stdout } = place.cli("plugins", "doctor");
  expect([code, stdout]).toEqual([1, expect.stringMatching(/broken .*it has no legs[^]*1 of 2 plugins failed to load/)]);
  expect(stdout).not.toContain("hello (");
  expect(JSON.parse(place.cli("plugins", "doctor", "--json").stdout)).toMatchObject({ ok: false, plugins: [{ id: "broken", status: "error" }] });
  {
    await using gateway = await place.gateway();
    await gateway.waitFor(/plugins? loaded|cannot be loaded|failed/);
    const states = (): unknown =>
      (JSON.parse(place.cli("plugins", "list", "--json").stdout) as { plugins: Record<string, string>[] }).plugins.map(({ id, status }) => `${id} ${status}`);
    await expect.poll(states, { timeout: 20_000, interval: 200 }).toEqual(["broken error", "hello loaded"]);
    expect(place.cli("plugins", "list").stdout).toMatch(/^broken +error.*it has no legs/m);
    expect(place.cli("plugins", "info", "broken").stdout).toMatch(/status +error[^]*it has no legs/);
  }
  // Code that would end its process cannot.
  install(place, "ending");
  writeFileSync(join(place.stateDir, "extensions/ending/index.ts"), `process.kill(process.pid, "SIGKILL");\n`);
  const together = place.cli("plugins", "doctor");
  expect([together.code, together.stdout]).toEqual([
    1,
    expect.stringMatching(/ending .*a plugin cannot end the process that loads it[^]*2 of 3 plugins failed to load/),
  ]);
  expect(together.stdout).toMatch(/broken .*it has no legs/);
  expect(together.stdout).not.toContain("hello (");
  expect(place.cli("plugins", "doctor", "hello")).toMatchObject({ code: 0 });
  expect(place.cli("plugins", "doctor", "helo")).toMatchObject({ code: 1, stderr: expect.stringContaining("helo") });
});

test("what cannot be loaded is said when it is installed, and takes the place of no plugin that comes with the program", () => {
  const place = fixture();
  const bundled = join(place.home, "none");
  install(place, "voice", {}, join(bundled, "voice"));
  for (const id of ["voice", "other"]) {
    install(place, id, {}, join(place.home, "new", id));
    writeFileSync(join(place.home, "new", id, "package.json"), JSON.stringify({ name: id, version: "1.0.0", openclaw: { extensions: ["./index.ts"] } }));
    writeFileSync(join(place.home, "new", id, "index.ts"), `throw new Error("it has no legs");\n`);
  }
  expect(place.cli("plugins", "install", "./new/other")).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/other is installed but cannot be loaded: .*it has no legs/),
  });
  expect(place.cli("plugins", "install", "./new/voice")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("the voice that comes with OpenClaw stays in use"),
  });
  expect(JSON.parse(place.cli("plugins", "info", "voice", "--json").stdout)).toMatchObject({ plugin: { origin: "bundled" } });
  expect(existsSync(join(place.stateDir, "extensions/voice"))).toBe(false);
});

test("a configuration with errors does not keep plugins from being listed", () => {
  const place = fixture(`{ gateway: { prot: 1 }, plugins: { deny: ["hello"] } }`);
  expect(place.cli("plugins", "list")).toMatchObject({ code: 0, stdout: expect.stringContaining("blocked by denylist") });
});

test("with a running gateway the switch says that it takes the change over", async () => {
  const place = fixture(
    `{ gateway: { mode: "local", auth: { token: "a-token-of-this-test-0123456789" } }, plugins: { entries: { hello: { enabled: false } } } }`,
  );
  await using gateway = await place.gateway();
  expect(gateway.url).toBeDefined();
  const { gateway: answer } = JSON.parse(place.cli("plugins", "enable", "hello", "--json").stdout) as { gateway: string };
  expect(["takes it over", "restarts"]).toContain(answer);
});

test("what the running gateway could not load, and names that are taken, are in doctor, status, tools and plugins info", async () => {
  const place = fixture(`{ gateway: { mode: "local" }, plugins: { allow: ["hello", "throws", "shadow"] } }`);
  for (const id of ["throws", "shadow"]) install(place, id);
  const at = (id: string): string => join(place.stateDir, "extensions", id, "index.ts");
  writeFileSync(at("throws"), `export default () => {\n  throw new Error("no legs");\n};\n`);
  const tool = (name: string): string => `{ name: "${name}", description: "d", parameters: { type: "object", properties: {} }, async execute() {} }`;
  writeFileSync(
    at("shadow"),
    `export default (api: any) => {\n  api.registerTool(${tool("exec")});\n  api.registerTool(() => [${tool("read")}, ${tool("own")}]);\n};\n`,
  );
  await using gateway = await place.gateway();
  await gateway.waitFor(/plugins? loaded/);
  const doctor = JSON.parse(place.cli("doctor", "--non-interactive", "--json").stdout) as { findings: { id: string; text: string }[] };
  const found = JSON.stringify(doctor);
  expect(found).toContain(`the plugin throws could not be loaded by the running gateway: register: no legs (${at("throws")}:2)`);
  expect(found).not.toContain("the plugin hello");
  expect(place.cli("status").stdout).toMatch(/Plugins +1 failed to load \(throws\): .*openclaw plugins list/);
  expect(JSON.parse(place.cli("status", "--json").stdout)).toMatchObject({ plugins: { failed: [{ id: "throws" }] } });
  const { tools } = JSON.parse(place.cli("tools", "list", "--json").stdout) as { tools: { name: string; source: string }[] };
  expect(
    tools
      .filter(({ name }) => ["exec", "read", "own"].includes(name))
      .map(({ name, source }) => `${name} ${source}`)
      .sort(),
  ).toEqual(["exec core", "own plugin", "read core"]);
  expect(place.cli("tools", "explain", "exec").stdout).toMatch(/from +core/);
  const { plugin } = JSON.parse(place.cli("plugins", "info", "shadow", "--json").stdout) as { plugin: { toolNames: string[] } };
  expect(plugin.toolNames).not.toContain("exec");
  const { diagnostics } = JSON.parse(place.cli("gateway", "call", "plugins.list", "--json").stdout) as {
    diagnostics: { pluginId?: string; message: string }[];
  };
  const messages = diagnostics.filter(({ pluginId }) => pluginId === "shadow").map(({ message }) => message);
  expect(messages).toContain("tool already registered: exec (requested by shadow, used by the gateway)");
  expect(messages).toContain("tool already registered: read (from shadow, used by the gateway)");
  expect(place.cli("plugins", "doctor").stdout).toContain("shadow: tool already registered: exec (requested by shadow, used by the gateway)");
});
