import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { setImmediate as turn } from "node:timers/promises";
import { manualClock, systemClock } from "../base/clock.ts";
import { AppError, messageOf } from "../base/errors.ts";
import { createIds } from "../base/ids.ts";
import { createLogger, type LogRecord } from "../base/log/logger.ts";
import { systemRandom } from "../base/random.ts";
import { createRedactor } from "../base/redaction.ts";
import { isObject, openConfig, type Config } from "../config/index.ts";
import type { HookContext, HookEvent, HookName, HookOutcome, HookTraceRecord } from "../hooks/index.ts";
import { createTools, hostPackage, matchCommand, readInventory, runCommand, loadOpenPlugins, type RunningPlugins } from "../plugins/index.ts";
import { openStore } from "../store/index.ts";
import { openTestTalk, type TestTalk } from "./talk.ts";
import type { TestHost, TestHostOptions, TestPlugin } from "./types.ts";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { once } from "node:events";
import { loadHttp } from "../base/builtin.ts";
import type { PluginRoute } from "../gateway/index.ts";

interface Places {
  readonly stateDir: string;
  readonly workspaceDir: string;
  readonly home: string;
}

const child = (value: unknown, key: string): Readonly<Record<string, unknown>> => (isObject(value) && isObject(value[key]) ? value[key] : {});

/** The configuration of a test: the one that was given, with the plugins to test found, enabled and, for memory, in their slot. */
async function testSettings(given: Readonly<Record<string, unknown>>, paths: readonly string[], { stateDir, workspaceDir, home }: Places): Promise<object> {
  const plugins = child(given, "plugins");
  const looking = { config: { plugins: { load: { paths } } }, stateDir, env: {}, home, cwd: home, uid: undefined };
  const { entries: found } = await readInventory(looking);
  const memory = found.find(({ manifest }) => [manifest.kind ?? []].flat().includes("memory"))?.id;
  const named = child(plugins, "entries");
  const entries = Object.fromEntries(found.map(({ id }) => [id, { enabled: true, ...child(named, id) }]));
  const { paths: written } = child(plugins, "load");
  const listed: readonly unknown[] = Array.isArray(written) ? written : [];
  const agents = child(given, "agents");
  return {
    ...given,
    agents: { ...agents, defaults: { workspace: workspaceDir, ...child(agents, "defaults") } },
    plugins: {
      ...plugins,
      entries: { ...named, ...entries },
      load: { ...child(plugins, "load"), paths: [...listed, ...paths] },
      ...(memory !== undefined && plugins["slots"] === undefined ? { slots: { memory } } : {}),
    },
  };
}

/** Where code written in a test waits for the loader: a module can take it from here only. */
const WAITING = Symbol.for("openclaw.plugin-testing.definitions");

function definitions(): Map<string, unknown> {
  const place = globalThis as unknown as Record<symbol, Map<string, unknown> | undefined>;
  return (place[WAITING] ??= new Map());
}

/** Paths that the host shall look at: folders and files as they are, and a folder for each plugin that was given as code. */
function pluginPaths(plugins: readonly TestPlugin[], folder: string, key: string, stack: DisposableStack): string[] {
  return plugins.map((plugin, index) =>
    typeof plugin === "string" ? resolve(plugin) : writeDefinition(plugin, join(folder, `inline-${index + 1}`), `${key}.${index}`, stack),
  );
}

function writeDefinition(plugin: Exclude<TestPlugin, string>, folder: string, key: string, stack: DisposableStack): string {
  const definition = typeof plugin === "function" ? { register: plugin } : plugin;
  if (!isObject(definition) || (typeof definition["register"] !== "function" && typeof definition["activate"] !== "function")) {
    throw new AppError("INVALID_INPUT", "createTestHost: a plugin must be a path, a function, or an object with register or activate");
  }
  const { id = "test-plugin", manifest = {} }: { id?: unknown; manifest?: unknown } = definition;
  definitions().set(key, definition);
  stack.defer(() => void definitions().delete(key));
  mkdirSync(folder, { recursive: true });
  const schema = { type: "object", additionalProperties: true, properties: {} };
  writeFileSync(join(folder, "openclaw.plugin.json"), JSON.stringify({ id, configSchema: schema, ...(isObject(manifest) ? manifest : {}) }));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: id, version: "0.0.0", type: "module", openclaw: { extensions: ["./index.mjs"] } }));
  writeFileSync(join(folder, "index.mjs"), `export default globalThis[Symbol.for(${JSON.stringify(WAITING.description)})].get(${JSON.stringify(key)});\n`);
  return folder;
}

/** Routes of plugins on a port of their own, opened when the first is asked. */
interface TestHttp extends AsyncDisposable {
  readonly registerRoute: (route: PluginRoute) => Disposable;
  readonly url: () => Promise<string>;
}

type Unrouted = (request: IncomingMessage, response: ServerResponse, path: string) => Promise<boolean>;

function openHttp(token: string, unrouted: Unrouted): TestHttp {
  const routes = new Map<string, PluginRoute>();
  let server: Server | undefined;
  let opening: Promise<string> | undefined;

  function find(path: string): PluginRoute | undefined {
    const exact = routes.get(path);
    if (exact) return exact;
    const below = [...routes.values()].filter((route) => route.match === "prefix" && path.startsWith(`${route.path === "/" ? "" : route.path}/`));
    return below.sort((a, b) => b.path.length - a.path.length)[0];
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname);
    const route = find(path);
    if (route && route.auth !== "own" && request.headers.authorization !== `Bearer ${token}`) return void response.writeHead(401).end("Unauthorized");
    if (route) return route.handle({ request, response, path } as Parameters<PluginRoute["handle"]>[0]);
    if (!(await unrouted(request, response, path))) response.writeHead(404).end("Not Found");
  }

  async function open(): Promise<string> {
    server = loadHttp().createServer(
      (request, response) => void answer(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined)),
    );
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    return `http://127.0.0.1:${typeof address === "object" ? address?.port : address}`;
  }

  return {
    registerRoute(route) {
      const other = routes.get(route.path);
      if (other) throw new AppError("CONFLICT", `the path ${route.path} is taken by the plugin ${other.plugin}`);
      routes.set(route.path, route);
      return { [Symbol.dispose]: () => void (routes.get(route.path) === route && routes.delete(route.path)) };
    },
    url: () => (opening ??= open()),
    async [Symbol.asyncDispose]() {
      await opening;
      server?.closeAllConnections();
      await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
    },
  };
}

/** The host's version as plugins see it: that of its package. */
function hostVersion(): string {
  const root = hostPackage(fileURLToPath(import.meta.url));
  if (root === undefined) return "0.0.0";
  const { version }: { version: string } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return version;
}

/** Real milliseconds after which time is moved for what does not end. */
const PATIENCE_MS = 3000;

/** Starts a host with the given plugins in a temporary folder. Dispose of it with `await using`. */
export async function createTestHost(options: TestHostOptions): Promise<TestHost> {
  await using stack = new AsyncDisposableStack();
  const home = realpathSync(mkdtempSync(join(tmpdir(), "openclaw-test-host-")));
  stack.defer(() => rmSync(home, { recursive: true, force: true }));
  const places = { home, stateDir: join(home, "state"), workspaceDir: join(home, "workspace") };
  for (const folder of [places.stateDir, places.workspaceDir]) mkdirSync(folder);
  const ids = createIds(systemRandom);
  const version = hostVersion();
  const manual = options.clock === "system" ? undefined : manualClock(Date.now());
  const clock = manual ?? systemClock;
  const records: LogRecord[] = [];
  const sink = { write: (record: LogRecord): void => void records.push(record), flush: async () => {} };
  const log = createLogger({ clock, redactor: createRedactor(), outputs: [{ sink, level: "debug" }] });

  const definitions = stack.use(new DisposableStack());
  const paths = pluginPaths(options.plugins, join(home, "inline"), ids.hex(6), definitions);
  const configPath = join(home, "openclaw.json");
  writeFileSync(configPath, JSON.stringify(await testSettings(options.config ?? {}, paths, places)), { mode: 0o600 });
  const env = {
    HOME: home,
    OPENCLAW_HOME: home,
    OPENCLAW_STATE_DIR: places.stateDir,
    OPENCLAW_CONFIG_PATH: configPath,
    OPENCLAW_BUNDLED_PLUGINS_DIR: join(home, "no-bundled-plugins"),
    ...options.env,
  };
  const config = stack.use(await openConfig({ env, cwd: home, osHome: home, version, clock, ids, purpose: "inspect" }));
  refuseInvalid(config);
  const store = stack.use(await openStore({ stateDir: places.stateDir, clock }));
  const token = ids.hex(16);
  const http: TestHttp = stack.use(openHttp(token, async (request, response, path) => running.answer(request, response, path)));
  const gateway = { port: 0, registerRoute: http.registerRoute, hub: { broadcast: () => {} } };
  let talk: TestTalk | undefined;
  const shared = { config, store, clock, ids, log, env, version };
  const { openPlugins } = await loadOpenPlugins();
  const running = stack.use(await openPlugins({ ...shared, talk: () => talk?.conversation }, gateway));
  talk = await openTestTalk({ ...shared, workspaceDir: places.workspaceDir, plugins: running }, stack);
  const { conversation: _, start, ...conversation } = talk;
  const kept = stack.move();
  const trace: HookTraceRecord[] = [];

  return {
    ...callers(running, { http, token }),
    ...hookFace(running, trace),
    ...conversation,
    plugins: () => running.host.list(),
    diagnostics: () => running.host.diagnostics(),
    async ready() {
      await running.host.startServices();
      await start();
      await running.hooks.run("gateway_start", { port: 0 }, { port: 0, config: structuredClone(config.current), workspaceDir: places.workspaceDir });
    },
    reload: (id) => running.host.reload(id),
    async advance(ms) {
      if (!manual) throw new AppError("INVALID_INPUT", 'host.advance needs the manual clock; leave out clock: "system"');
      await turn();
      manual.advance(ms);
      for (let round = 0; round < 3; round += 1) await turn();
    },
    clock,
    stateDir: places.stateDir,
    workspaceDir: places.workspaceDir,
    logs: () => [...records],
    async [Symbol.asyncDispose]() {
      // Ends have budgets on the host's clock: one that stands still has to be moved.
      const nudge = manual && setInterval(() => manual.advance(PATIENCE_MS), PATIENCE_MS);
      try {
        await kept.disposeAsync();
      } finally {
        clearInterval(nudge);
      }
    },
  };
}

function refuseInvalid(config: Config): void {
  const errors = config.snapshot().issues.filter(({ severity }) => severity === "error");
  if (errors.length > 0) throw new AppError("CONFIG_INVALID", `createTestHost: ${errors.map(({ path, message }) => `${path}: ${message}`).join("; ")}`);
}

function hookFace({ hooks }: RunningPlugins, trace: HookTraceRecord[]): Pick<TestHost, "hooks" | "hookCalls" | "stats"> {
  return {
    hooks: {
      has: (hook) => hooks.has(hook),
      async run<K extends HookName>(hook: K, event: HookEvent<K>, ctx?: HookContext<K>): Promise<HookOutcome<K> | undefined> {
        return hooks.run(hook, event, ctx ?? ({} as HookContext<K>), { trace });
      },
    },
    hookCalls: () => [...trace],
    stats: () => ({ hooks: hooks.stats(), breakers: hooks.breakers() }),
  };
}

function callers(
  { host, methods }: RunningPlugins,
  { http, token }: { readonly http: TestHttp; readonly token: string },
): Pick<TestHost, "callTool" | "channel" | "command" | "request" | "fetch"> {
  const report = (pluginId: string, error: unknown): void =>
    host.report({ level: "error", code: "handler-failed", message: messageOf(error), pluginId }, error);
  const context = (): Parameters<NonNullable<ReturnType<typeof methods.find>>["call"]>[1] => ({
    caller: {
      connId: "test",
      role: "operator",
      scopes: new Set(["operator.admin"]),
      client: { id: "gateway-client", mode: "backend", version: "0.0.0", platform: process.platform },
      caps: new Set(),
      local: true,
    },
    signal: new AbortController().signal,
    accepted: () => {},
  });
  return {
    async callTool(name, params = {}, toolContext = {}) {
      const tools = createTools(host.registries.tools, toolContext, report);
      const tool = tools.find((one) => one.name === name);
      if (!tool) throw new AppError("NOT_FOUND", `there is no tool ${name}; there are: ${tools.map((one) => one.name).join(", ") || "none"}`);
      return tool.execute("test-call", structuredClone(params), new AbortController().signal);
    },
    channel(id) {
      const found = host.registries.channels.get(id);
      if (!found)
        throw new AppError(
          "NOT_FOUND",
          `there is no channel ${id}; there are: ${
            host.registries.channels
              .list()
              .map(({ value }) => value.id)
              .join(", ") || "none"
          }`,
        );
      return found.value.plugin;
    },
    async command(text, given = {}) {
      const match = matchCommand(host.registries.commands, text);
      if (!match) throw new AppError("NOT_FOUND", `no plugin answers ${JSON.stringify(text)}`);
      const context = { isAuthorizedSender: true, channel: "test", senderId: "test-user", commandBody: text, ...given };
      const signal = "signal" in context && context.signal instanceof AbortSignal ? context.signal : undefined;
      return (await runCommand(match, context, { onError: report, clock: systemClock, ...(signal ? { signal } : {}) })) ?? {};
    },
    async request(method, params = {}) {
      const found = methods.find(method);
      if (!found) throw new AppError("NOT_FOUND", `no plugin has the method ${method}; there are: ${methods.names().join(", ") || "none"}`);
      return found.call(params, context());
    },
    async fetch(path, { token: asked = true, ...init } = {}) {
      const headers = new Headers(init.headers);
      if (asked && !headers.has("authorization")) headers.set("authorization", `Bearer ${token}`);
      return fetch(`${await http.url()}${path}`, { ...init, headers });
    },
  };
}
