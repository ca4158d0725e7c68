import type { IncomingMessage, ServerResponse } from "node:http";
import { homedir } from "node:os";
import { messageOf } from "../../base/errors.ts";
import { BUILTIN_TOOL_NAMES, type ConfigSections, type KnownNames } from "../../config/index.ts";
import type { Logger } from "../../base/log/logger.ts";
import { sessionDefaults, type CallContext, type ExtraMethods, type GatewayHub, type PluginsPort } from "../../gateway/index.ts";
import {
  createHooks,
  createInternalHooks,
  createToolPolicies,
  type GatewayHookContext,
  type Hooks,
  type InternalHooks,
  type ToolPolicies,
} from "../../hooks/index.ts";
import type { PluginProvider } from "../../models/index.ts";
import { callMethod } from "../host/method-call.ts";
import { catchFaults } from "../host/faults.ts";
import { createPluginHost, type PluginHost } from "../host/host.ts";
import { createTools } from "../registry/tools.ts";
import { describedSections } from "../inventory/sections.ts";
import { hookSettings } from "../host/hook-settings.ts";
import { knownNames } from "../inventory/known-names.ts";
import { readInventory, type Inventory } from "../inventory/inventory.ts";
import { recoverInstalls } from "../install/journal.ts";
import { refuseExits } from "../host/exits.ts";
import { type ExtensionRowValue } from "../host/sessions.ts";
import { inventoryOptions } from "../inventory/gateway-inventory.ts";
import { METHODS, canonicalSessionKey } from "../../protocol/index.ts";
import { askHandlers, needsToken, routeMounter, type PluginGateway } from "./http.ts";
import type { PluginsDeps } from "./create-plugins.ts";
import { cronService } from "./cron-service.ts";
import { createRuntimes } from "./runtimes.ts";
import { bindSdk } from "./sdk-binding.ts";
import { openModuleLoader } from "./module-loader.ts";
import type { Clock } from "../../base/clock.ts";

/** The caller, in the shape that plugins have always received. */
function clientOf({ caller }: CallContext): { connect: Readonly<Record<string, unknown>>; connId: string; clientIp?: string } {
  const { client, role, scopes, caps, connId, remoteIp } = caller;
  return { connId, connect: { client, role, scopes: [...scopes], caps: [...caps] }, ...(remoteIp === undefined ? {} : { clientIp: remoteIp }) };
}

/** Methods of plugins, for the gateway's dispatcher. */
function pluginMethods(host: PluginHost, { clock, hub }: { readonly clock: Clock; readonly hub: Pick<GatewayHub, "broadcast"> }): ExtraMethods {
  const { gatewayMethods } = host.registries;
  const context = { broadcast: hub.broadcast };
  return {
    names: () => gatewayMethods.list().map(({ value }) => value.method),
    find(method) {
      const found = gatewayMethods.get(method);
      if (!found) return undefined;
      const { pluginId } = found.owner;
      const onError = (error: unknown): void =>
        host.report({ level: "error", code: "handler-failed", message: `the gateway method ${method} failed: ${messageOf(error)}`, pluginId }, error);
      return {
        access: found.value.access,
        call: (params, call) =>
          callMethod(found, { id: "", params, client: clientOf(call), isWebchat: call.caller.client.mode === "webchat", context }, { clock, onError }),
      };
    },
  };
}

/** Plugins that are loaded, as the rest of the gateway sees them. */
export interface RunningPlugins extends AsyncDisposable, Omit<PluginsPort, "sessionEnded" | "sessionResetting"> {
  readonly host: PluginHost;
  readonly hooks: Hooks;
  /** What hooks about the gateway itself are called with. */
  gatewayContext(): GatewayHookContext;
  /** Model providers that plugins brought. */
  providers(): readonly PluginProvider[];
  /** Tools for a run, rules about calls, internal hooks. */
  readonly agent: {
    tools(context: Readonly<Record<string, unknown>>): ReturnType<typeof createTools>;
    readonly policies: ToolPolicies;
    readonly internalHooks: InternalHooks;
    /** Folders of the skills that plugins bring. */
    skillFolders(): readonly string[];
  };
  readonly methods: ExtraMethods;
  /** What plugins that are on say about their sections of the configuration. */
  sections(): Promise<ConfigSections>;
  /** Names that plugins bring to lists of the configuration. */
  names(): Promise<KnownNames>;
  needsToken(path: string): boolean;
  answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<boolean>;
  keepsSessions(): boolean;
  readonly project: (key: string, sessionId: string | undefined) => Promise<readonly ExtensionRowValue[]>;
  sessionEnded(key: string, reason: "reset" | "delete"): void;
  ready(): void;
  /** Notifies plugins of the end and stops their services. Hooks, policies and tools stay until this is disposed. */
  stop(): Promise<void>;
}

/** `gateway_stop` handlers may take this long together. */
const GATEWAY_STOP_MS = 5000;

/** Channels as their code describes them. */
const registeredChannels = ({ registries }: PluginHost) => registries.channels.list().map(({ value }) => value);

/** Rows for the wire. */
const copies = <T extends object>(rows: readonly T[]): { readonly [K in keyof T]: T[K] }[] => rows.map((row) => ({ ...row }));

/** Looks at all plugins as they are now. */
function inventoryOf(deps: PluginsDeps): () => Promise<Inventory> {
  const { config, clock, log } = deps;
  return async () => {
    const { current, paths } = config;
    for (const done of recoverInstalls({ stateDir: paths.state, config: () => config.current, now: clock.now() })) log.subsystem("plugins").warn(done);
    return readInventory(inventoryOptions(deps, current));
  };
}

/** Keeps that a plugin's code failed when it was called. */
const reporting =
  (host: () => PluginHost) =>
  (pluginId: string, message: string, error: unknown): void =>
    host().report({ level: "error", code: "handler-failed", message, pluginId }, error);

/** What the hooks log about a plugin's handler is kept among its diagnostics, too. */
function noting(log: Logger, note: PluginHost["note"]): Logger {
  const at =
    (level: "warn" | "error"): Logger["warn"] =>
    (message, fields = {}) => {
      log[level](message, fields);
      const { pluginId, source, line } = fields as { readonly pluginId?: string; readonly source?: string; readonly line?: number };
      if (pluginId === undefined) return;
      note({ level, code: "hook-failed", message, pluginId, ...(source === undefined ? {} : { source }), ...(line === undefined ? {} : { line }) });
    };
  return { ...log, warn: at("warn"), error: at("error") };
}

const ownTool = (name: string): string | undefined => (BUILTIN_TOOL_NAMES.has(name.trim().toLowerCase()) ? "the gateway" : undefined);
const ownMethod = (method: string): string | undefined => (Object.hasOwn(METHODS, method) || method === "connect" ? "the gateway" : undefined);

/** What hooks about the gateway itself are called with. */
function gatewayContext(deps: PluginsDeps, port: number): GatewayHookContext {
  const { current } = deps.config;
  const { workspaceDir } = inventoryOptions(deps, current);
  const call = deps.call?.("hooks");
  const cron = call && cronService(call);
  return { port, config: structuredClone(current), ...(workspaceDir === undefined ? {} : { workspaceDir }), getCron: () => cron };
}

interface Built {
  readonly host: PluginHost;
  readonly hooks: Hooks;
  readonly policies: ToolPolicies;
  readonly internalHooks: InternalHooks;
}

/** What the models module needs of a provider that a plugin brought. */
function pluginProvider({ id, provider }: { readonly id: string; readonly provider: Readonly<Record<string, unknown>> }): PluginProvider {
  const bound = (name: string): unknown => {
    const found = provider[name];
    return typeof found === "function" ? (found.bind(provider) as unknown) : undefined;
  };
  return {
    id,
    models: provider["models"] as PluginProvider["models"],
    aliases: provider["aliases"] as PluginProvider["aliases"],
    envVars: provider["envVars"] as PluginProvider["envVars"],
    refreshOAuth: bound("refreshOAuth") as PluginProvider["refreshOAuth"],
    formatApiKey: bound("formatApiKey") as PluginProvider["formatApiKey"],
  };
}

/** Everything that runs plugins, in one stack. */
function build(deps: PluginsDeps, gateway: PluginGateway, stack: AsyncDisposableStack): Built {
  const { config, store, clock, ids } = deps;
  const log = deps.log.subsystem("plugins");
  const report = reporting(() => host);
  const settings = hookSettings({
    config: () => config.current,
    isBundled: (id) => host.isBundled(id),
    onInvalid: (pluginId, message) => host.report({ level: "error", code: "hook-settings", message, pluginId }),
  });
  const hooks = stack.use(createHooks({ clock, log: noting(log, (found) => host.note(found)), settings }));
  const loader = deps.modules ?? stack.use(openModuleLoader(deps));
  const canonicalKey = (written: string, agentId?: string): string | undefined => {
    const { defaultAgentId, mainKey } = sessionDefaults(config.current);
    const scope = config.current.session?.scope ?? "per-sender";
    return canonicalSessionKey(written, { mainKey, scope, defaultAgentId: agentId ?? defaultAgentId });
  };
  const runtimes = stack.use(createRuntimes({ ...deps, log, canonicalKey, defaultAgentId: () => sessionDefaults(config.current).defaultAgentId }));
  const internalHooks = deps.internalHooks ?? createInternalHooks({ log, clock, enabled: () => config.current.hooks?.internal?.enabled === true });
  const policies = stack.use(createToolPolicies({ clock, log, settings }));
  const host: PluginHost = createPluginHost({
    loader,
    inventory: deps.inventory ?? inventoryOf(deps),
    ports: {
      hooks,
      internalHooks,
      policies,
      mountRoute: routeMounter(gateway, report),
      coreMethod: ownMethod,
      coreTool: ownTool,
    },
    store,
    guardRecords: deps.guardRecords,
    monitor: deps.monitor,
    config: () => config.current,
    clock,
    ids,
    log,
    stateDir: config.paths.state,
    homeDir: homedir(),
    runtimeFor: runtimes.runtimeFor,
    canonicalKey,
  });
  stack.use(bindSdk({ ...deps, log, host, recordInboundSession: runtimes.recordInboundSession }));
  stack.use(catchFaults(host));
  // A command of a plugin may end its own process; the gateway, and a command that only loads the plugin, are not the plugin's to end.
  if (deps.monitor) stack.use(refuseExits({ ownerOf: host.ownerOf, report: host.report, ...deps.exits }));
  stack.use(host);
  return { host, hooks, policies, internalHooks };
}

/** Loads and registers what is enabled. */
export async function openPlugins(deps: PluginsDeps, gateway: PluginGateway): Promise<RunningPlugins> {
  await using stack = new AsyncDisposableStack();
  const { host, hooks, policies, internalHooks } = build(deps, gateway, stack);
  const { config, clock } = deps;
  const log = deps.log.subsystem("plugins");
  await host.start();
  const loaded = host.list().filter((plugin) => plugin.status === "loaded");
  const failed = host.list().filter((plugin) => plugin.status === "error");
  if (loaded.length + failed.length > 0) log.info(`${loaded.length} plugins loaded${failed.length > 0 ? `, ${failed.length} failed` : ""}`);
  for (const { message, pluginId } of host.missingGuards()) log.error(message, { pluginId });
  const context = (): GatewayHookContext => gatewayContext(deps, gateway.port);
  const report = reporting(() => host);
  const kept = stack.move();
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> =>
    (stopped ??= (async () => {
      const event = { reason: "gateway stopping" };
      if (hooks.has("gateway_stop")) await hooks.runBounded("gateway_stop", [{ event, ctx: context() }], GATEWAY_STOP_MS);
      await host.stopServices();
    })());

  return {
    host,
    hooks,
    gatewayContext: context,
    agent: {
      policies,
      internalHooks,
      skillFolders: host.skillFolders,
      // Most gateways have no plugin with tools, and the copy of the configuration costs time.
      tools: (context) =>
        host.registries.tools.size === 0
          ? []
          : createTools(host.registries.tools, { config: structuredClone(config.current), ...context }, (pluginId, error) =>
              report(pluginId, `its tool factory failed: ${messageOf(error)}`, error),
            ),
    },
    providers: () => host.registries.providers.list().map(({ value }) => pluginProvider(value)),
    methods: pluginMethods(host, { clock, hub: gateway.hub }),
    sections: async () => {
      const { entries } = await (deps.inventory ?? inventoryOf(deps))();
      return describedSections(entries, registeredChannels(host));
    },
    names: async () => {
      const { entries } = await (deps.inventory ?? inventoryOf(deps))();
      const tools = host.registries.tools.list().map(({ value }) => value.names);
      const ready = host.list().filter((plugin) => plugin.status === "loaded");
      const registered = { loaded: new Set(ready.map(({ id }) => id)), tools: tools.flat(), unnamed: tools.some((names) => names.length === 0) };
      return knownNames(entries, config.snapshot().resolved, registered);
    },
    needsToken,
    answer: (request, response, path) => askHandlers(host.registries.httpHandlers, { request, response, path }, report),
    keepsSessions: () => host.sessions.any,
    project: host.sessions.project,
    patchSession: host.sessions.patch,
    sessionEnded: (key, reason) => void host.sessions.ended(key, reason),
    async list() {
      return { plugins: copies(host.list()), diagnostics: copies(host.diagnostics()) };
    },
    async stats(id) {
      const wanted = <T extends { readonly pluginId: string }>(rows: readonly T[]): readonly T[] =>
        rows.filter((row) => id === undefined || row.pluginId === id);
      const plugins = host.list().filter((plugin) => plugin.generation > 0 && (id === undefined || plugin.id === id));
      return { ts: clock.now(), hooks: copies(wanted(hooks.stats())), breakers: copies(wanted(hooks.breakers())), plugins: copies(plugins) };
    },
    async reload(id) {
      const plugin = await host.reload(id);
      log.info(`${id} was reloaded`, { generation: plugin.generation });
      return { plugin: { ...plugin }, diagnostics: copies(host.diagnostics().filter((found) => found.pluginId === id)) };
    },
    ready() {
      host.startServices().catch((error: unknown) => log.error(`the services could not be started: ${messageOf(error)}`));
      void hooks.run("gateway_start", { port: gateway.port }, context());
    },
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      await kept.disposeAsync();
    },
  };
}
