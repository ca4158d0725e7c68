import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { manualClock, type ManualClock } from "../base/clock.ts";
import { createIds } from "../base/ids.ts";
import { seededRandom } from "../base/random.ts";
import { openConfig, type ConfigEvent, type ConfigOptions, type Env, type Snapshot } from "./index.ts";

async function setup(text: string | undefined, over: Partial<ConfigOptions> = {}, env: Env = {}) {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "config-door-")));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  const file = join(cwd, "openclaw.json");
  const put = (next: string) => writeFileSync(file, next);
  if (text !== undefined) put(text);
  const clock = manualClock();
  const secrets: string[] = [];
  const options: ConfigOptions = {
    env: { HOME: cwd, OPENCLAW_STATE_DIR: cwd, ...env },
    osHome: cwd,
    cwd,
    version: "2026.2.19",
    purpose: "start",
    clock,
    ids: createIds(seededRandom(3)),
    onSecret: (value) => secrets.push(value),
    ...over,
  };
  const config = await openConfig(options);
  onTestFinished(() => config[Symbol.dispose]());
  const events: ConfigEvent[] = [];
  config.onEvent((event) => events.push(event));
  return { config, put, clock, events, secrets, cwd, file, options };
}

/** Lets time pass until `work` has settled. */
async function settled(work: Promise<unknown>, clock: ManualClock): Promise<void> {
  const over = work.then(
    () => true,
    () => true,
  );
  while (!(await Promise.race([over, setImmediate(false)]))) clock.advance(100);
}

test("opens, shows without secrets, and tells the log what they are", async () => {
  const { config, secrets } = await setup('{ gateway: { port: 5, auth: { token: "canary-token" } } }');
  expect(config.current.gateway?.port).toBe(5);
  expect(JSON.stringify(config.shown())).not.toContain("canary-token");
  expect(config.shown().hash).toBe(config.snapshot().hash);
  expect(secrets).toContain("canary-token");
});

test("a change of the file becomes a change in use and a plan", async () => {
  let changed: ((name: string) => void) | undefined;
  const { config, put, clock, events } = await setup("{ cron: { enabled: true } }");
  await config.watch({ watchFolder: (_, onChange) => ((changed ??= onChange), { [Symbol.dispose]: () => {} }) });
  put("{ cron: { enabled: false } }");
  changed?.("openclaw.json");
  clock.advance(500);
  expect(config.current.cron?.enabled).toBe(false);
  expect(events).toMatchObject([{ kind: "changed", plan: { paths: ["cron.enabled"], actions: [{ kind: "restart", module: "cron" }] } }]);
});

test("a change that was written while the gateway opened is taken when the file is followed, with its plan", async () => {
  const { config, put, events } = await setup("{ gateway: { port: 5 }, cron: { enabled: true } }");
  put("{ gateway: { port: 6 }, cron: { enabled: true } }");
  // Plugins are loaded: their schemas and names are learned before anybody follows the file.
  config.extend({ channels: {} });
  config.know({ complete: true });
  expect([config.current.gateway?.port, events, config.pendingChanges()]).toEqual([5, [], ["gateway.port"]]);
  await config.watch({ watchFolder: () => ({ [Symbol.dispose]: () => {} }) });
  expect(config.current.gateway?.port).toBe(6);
  expect(events).toMatchObject([{ kind: "changed", plan: { paths: ["gateway.port"], actions: [{ kind: "process" }] } }]);
});

test("a broken file is reported and changes nothing; repairing it takes effect", async () => {
  const { config, put, events } = await setup("{ gateway: { port: 5 } }");
  put("{ gateway: { port: ");
  config.reload();
  expect(config.current.gateway?.port).toBe(5);
  expect(events).toMatchObject([{ kind: "invalid", message: expect.stringMatching(/^config reload skipped \(invalid config\): .*openclaw\.json:1:\d+/) }]);
  put("{ gateway: { port: 6 } }");
  expect(config.pendingChanges()).toEqual(["gateway.port"]);
  config.reload();
  expect(config.current.gateway?.port).toBe(6);
  expect(config.pendingChanges()).toEqual([]);
});

test("with reloading off a change of the file is not in use until another mode is written", async () => {
  const { config, put, events } = await setup("{ gateway: { auth: { token: 'old' } } }");
  const off = 'gateway: { auth: { token: "new" }, reload: { mode: "off" } }, agents: { defaults: { model: "a/b" } }';
  put(`{ ${off} }`);
  config.reload();
  const held = ["gateway.auth.token", "agents.defaults.model", "agents.defaults.compaction"];
  expect(events).toMatchObject([{ kind: "changed", plan: { actions: [], held, ignored: `config reload is off; ignoring (${held.join(", ")})` } }]);
  expect(config.current).toMatchObject({ gateway: { auth: { token: "old" }, reload: { mode: "off" } } });
  expect(config.current.agents?.defaults?.model).toBeUndefined();
  expect(config.pendingChanges()).toEqual(held);
  // What plugins bring later does not let the change in by a side entrance.
  config.know({ complete: true });
  expect(config.pendingChanges()).toEqual(held);
  // The file is what the next edit starts from, and it waits too.
  const { snapshot } = await config.edit({ kind: "set", path: "ui.seamColor", value: "#000001" }, { by: "test", baseHash: config.snapshot().hash });
  expect(snapshot.config.ui?.seamColor).toBe("#000001");
  expect(config.current.ui).toBeUndefined();
  put(`{ ${off.replace("off", "hot")} }`);
  config.reload();
  expect(config.current).toMatchObject({ gateway: { auth: { token: "new" } }, agents: { defaults: { model: { primary: "a/b" } } } });
  expect(config.pendingChanges()).toEqual([]);
});

test("in hot mode what needs a restart waits, and everything else is taken", async () => {
  const { config, put, events } = await setup("{ gateway: { reload: { mode: 'hot' } }, plugins: { allow: ['a'] } }");
  put("{ gateway: { port: 6, reload: { mode: 'hot' } }, cron: { enabled: false }, ui: { seamColor: '#000001' } }");
  config.reload();
  expect(events).toMatchObject([{ plan: { actions: [{ kind: "restart", module: "cron" }], held: ["gateway.port", "plugins"] } }]);
  expect(config.current).toMatchObject({ cron: { enabled: false }, ui: { seamColor: "#000001" }, plugins: { allow: ["a"] } });
  expect(config.current.gateway?.port).toBeUndefined();
  expect(config.pendingChanges()).toEqual(["gateway.port", "plugins"]);
});

test("a command that only looks at the file sees what it says in every mode", async () => {
  const { config } = await setup("{ gateway: { reload: { mode: 'off' } } }", { purpose: "inspect" });
  await config.edit({ kind: "set", path: "gateway.port", value: 6 }, { by: "test" });
  expect(config.current.gateway?.port).toBe(6);
});

test("edits are taken in use at once and run one after the other", async () => {
  const { config, file, events } = await setup("{ logging: { level: 'info' } }");
  await Promise.all([
    config.edit({ kind: "set", path: "logging.level", value: "debug" }, { by: "test" }),
    config.edit({ kind: "set", path: "cron.enabled", value: false }, { by: "test" }),
  ]);
  expect(config.current).toMatchObject({ logging: { level: "debug" }, cron: { enabled: false } });
  expect(readFileSync(file, "utf8")).toContain("level: 'debug'");
  expect(events).toHaveLength(2);
  const failed = config.edit({ kind: "set", path: "gateway.port", value: "x" }, { by: "test" });
  await expect(failed).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  await config.edit({ kind: "set", path: "gateway.port", value: 7 }, { by: "test", baseHash: config.snapshot().hash });
  expect(config.current.gateway?.port).toBe(7);
});

test("a file that goes missing is a broken one: what was in use stays, and goes on when it is back", async () => {
  const { config, put, file, events } = await setup("{ gateway: { port: 5 } }");
  rmSync(file);
  expect(config.reload()).toMatchObject({ valid: false, issues: [{ code: "missing_file" }] });
  expect(config.current.gateway?.port).toBe(5);
  expect(events).toMatchObject([{ kind: "invalid", message: expect.stringContaining(`${file} is missing`) }]);
  put("{ gateway: { port: 5 } }");
  config.reload();
  expect(events[1]).toMatchObject({ kind: "mended" });
});

test("a gateway that starts while its file is missing runs with the last good one; without one it starts with none", async () => {
  const { config, file, options } = await setup("{ gateway: { port: 5 } }");
  rmSync(file);
  expect((await openConfig(options)).snapshot()).toMatchObject({ exists: false, source: "file", valid: true });
  writeFileSync(file, "{ gateway: { port: 5 } }");
  config.reload();
  await config.keepAsGood();
  rmSync(file);
  const again = await openConfig(options);
  expect(again.snapshot()).toMatchObject({ source: "last-good", config: { gateway: { port: 5 } }, reason: expect.stringContaining("is missing") });
  expect(again.reload()).toMatchObject({ valid: false });
  expect(again.current.gateway?.port).toBe(5);
});

test("an edit waits for a file that is away for a moment, and is refused when it stays away: a part never becomes the whole", async () => {
  const { config, put, file, clock } = await setup("{ gateway: { port: 5 } }");
  rmSync(file);
  const waits = config.edit({ kind: "set", path: "cron.enabled", value: false }, { by: "test" });
  // Its attempts fail as long as time stands still.
  for (let tick = 0; tick < 50; tick += 1) await setImmediate();
  put("{ gateway: { port: 6 } }");
  await settled(waits, clock);
  expect(config.current).toMatchObject({ gateway: { port: 6 }, cron: { enabled: false } });
  rmSync(file);
  const refused = config.edit({ kind: "set", path: "cron.enabled", value: true }, { by: "test" });
  await settled(refused, clock);
  await expect(refused).rejects.toMatchObject({ code: "CONFIG_STALE", message: expect.stringContaining("is missing") });
  expect(existsSync(file)).toBe(false);
  await config.edit({ kind: "replace", value: { gateway: { port: 7 } } }, { by: "test" });
  expect(config.current.gateway?.port).toBe(7);
});

test("a list that two change at the same time keeps both changes when the edit is made from the file", async () => {
  const { config, put } = await setup("{ plugins: { allow: ['a'] } }");
  put("{ plugins: { allow: ['a', 'b'] } }");
  const edit = ({ config: cfg }: Snapshot) => ({ kind: "set" as const, path: "plugins.allow", value: [...(cfg.plugins?.allow ?? []), "c"] });
  await config.edit({ kind: "from", edit }, { by: "test" });
  expect(config.current.plugins?.allow).toEqual(["a", "b", "c"]);
});

test("an update keeps what others changed since its base, and is refused where both changed the same key", async () => {
  const { config, put } = await setup("{ gateway: { port: 5 }, cron: { enabled: true } }");
  const base = config.current;
  put("{ gateway: { port: 6 }, cron: { enabled: true } }");
  await config.edit({ kind: "update", base, config: { ...base, cron: { ...base.cron, enabled: false } } }, { by: "test" });
  expect(config.current).toMatchObject({ gateway: { port: 6 }, cron: { enabled: false } });
  const both = config.edit({ kind: "update", base, config: { ...base, gateway: { ...base.gateway, port: 7 } } }, { by: "test" });
  await expect(both).rejects.toMatchObject({ code: "CONFIG_STALE", message: expect.stringContaining("gateway.port changed since last load") });
});

test("start falls back to the last good configuration; inspect shows what is wrong", async () => {
  const { config, put, options } = await setup("{ gateway: { port: 5 } }");
  await config.keepAsGood();
  put("{ broken");
  const again = await openConfig(options);
  expect(again.snapshot()).toMatchObject({ source: "last-good", config: { gateway: { port: 5 } } });
  const inspected = await openConfig({ ...options, purpose: "inspect" });
  expect(inspected.snapshot()).toMatchObject({ valid: false, source: "file" });
});

test("the login shell fills missing variables before they are put in", async () => {
  const runShell = async () => "OPENAI_API_KEY=from-shell\0";
  const { config } = await setup('{ env: { shellEnv: { enabled: true } }, talk: { apiKey: "${OPENAI_API_KEY}" } }', { runShell });
  expect(config.current.talk?.apiKey).toBe("from-shell");
  expect(config.env()["OPENAI_API_KEY"]).toBe("from-shell");
});

test("a login shell that fails is a warning", async () => {
  const warned: string[] = [];
  await setup(
    "{}",
    { runShell: async () => Promise.reject(new Error("timed out")), warn: (message) => warned.push(message) },
    { OPENCLAW_LOAD_SHELL_ENV: "1" },
  );
  expect(warned).toEqual([expect.stringContaining("timed out")]);
});

test("secrets are fetched when asked for", async () => {
  const { config, cwd, secrets } = await setup("{}", {}, { KEY: "k-value" });
  writeFileSync(join(cwd, "key.txt"), "file-value\n", { mode: 0o600 });
  expect(await config.resolveSecret({ source: "env", id: "KEY" }, "a.b")).toBe("k-value");
  expect(await config.resolveSecret({ source: "file", path: "~/key.txt" }, "a.c")).toBe("file-value");
  expect(secrets).toEqual(["k-value", "file-value"]);
});

test("what schemas that plugins bring find wrong is a warning from then on, and their secrets are hidden", async () => {
  const { config, events } = await setup("{ channels: { pager: { number: 5 } } }");
  const pager = { type: "object", properties: { number: { type: "string" } }, additionalProperties: false } as const;
  const warnings = [{ path: "channels.pager.number", line: 1, severity: "warning" }];
  expect(config.extend({ channels: { pager } })).toMatchObject({ valid: true, issues: [], warnings });
  expect(config.snapshot()).toMatchObject({ warnings });
  expect(events).toEqual([]);
  config.extend({ channels: { pager: { type: "object", properties: { number: { type: "number", "x-sensitive": true } } } } });
  expect(config.shown()).toMatchObject({ warnings: [], config: { channels: { pager: { number: "__OPENCLAW_REDACTED__" } } } });
});

test("files that would be read if they existed are sources and are followed: includes and .env, also of a reading that failed", async () => {
  let changed: ((name: string) => void) | undefined;
  const { config, put, cwd, clock, events } = await setup("{ gateway: { port: 5 } }");
  expect(config.sources()).toContain(join(cwd, ".env"));
  await config.watch({ watchFolder: (_, onChange) => ((changed ??= onChange), { [Symbol.dispose]: () => {} }) });
  put('{ gateway: { port: 5, $include: "./later.json5" } }');
  config.reload();
  expect(events.at(-1)).toMatchObject({ kind: "invalid" });
  expect(config.sources()).toEqual(expect.arrayContaining([join(cwd, "openclaw.json"), join(cwd, "later.json5"), join(cwd, ".env")]));
  writeFileSync(join(cwd, "later.json5"), "{ bind: 'loopback' }");
  changed?.("later.json5");
  clock.advance(6000);
  clock.advance(1000);
  expect(config.current.gateway, "an include that appears is noticed").toMatchObject({ port: 5, bind: "loopback" });
});
