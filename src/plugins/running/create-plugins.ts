import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { Ids } from "../../base/ids.ts";
import { lazy } from "../../base/lazy.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { LoopMonitor } from "../../base/watchdog/loop-monitor.ts";
import type { Channels } from "../../channels/index.ts";
import type { Config, ConfigSections, Env, KnownNames, OpenClawConfig, ReloadAction } from "../../config/index.ts";
import type { ChannelTable } from "../../conversation/index.ts";
import type { Auth, ExtraMethods, Gateway, GatewayDeps, OwnCaller, PluginsPort } from "../../gateway/index.ts";
import type { PluginProvider } from "../../models/index.ts";
import type { GuardRecords, MissingGuard } from "../host/guards.ts";
import type { PluginStatus } from "../host/status.ts";
import { createInternalHooks, type Breaker, type InternalHooks } from "../../hooks/index.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { ImportedFile, ModuleLoader } from "../load/index.ts";
import type { PluginDiagnostic } from "../record.ts";
import type { ChannelDock, ChannelPlugin } from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";
import type { Logging } from "../../base/log/logging.ts";
import type { PluginTalk } from "../runtime/conversation/parts.ts";
import type { MemoryPartsDeps } from "../runtime/memory.ts";
import type { VoicePartsDeps } from "../runtime/voice.ts";
import type { RuntimePorts } from "../runtime/ports.ts";
import type { RunningPlugins } from "./open-plugins.ts";

export interface PluginsDeps {
  readonly config: Config;
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly env: Env;
  readonly version: string;
  /** Devices that ask to be let in; without it plugins cannot decide about them. */
  readonly pairing?: Auth["pairing"];
  /** The conversations, once they are there. */
  readonly talk?: (() => PluginTalk | undefined) | undefined;
  /** Has an agent act on what waits for it. */
  readonly wake?: RuntimePorts["wake"] | undefined;
  /** What agents know, once it is there. */
  readonly memory?: MemoryPartsDeps["memory"];
  /** Runs `openclaw memory`; in a process that runs commands. */
  readonly memoryCommand?: MemoryPartsDeps["memoryCommand"];
  /** What speaks and recognises speech. */
  readonly voice?: VoicePartsDeps["voice"];
  /** Methods of the gateway, called for a plugin that may. */
  readonly call?: ((pluginId: string) => OwnCaller) | undefined;
  /** Shows what is logged to plugins that ask for it. */
  readonly tapLog?: Logging["tap"];
  /** Notes which plugin's code runs. */
  readonly monitor?: LoopMonitor | undefined;
  /** What plugins may not end, and from when on they may. The gateway, and never, when left out. */
  readonly exits?: { readonly subject: string; readonly mayExit: () => boolean };
  /** Stores between starts which plugins guard tool calls. */
  readonly guardRecords?: GuardRecords;
  /** What to load instead of everything that is found. */
  readonly inventory?: () => Promise<Inventory>;
  /** Where hooks of plugins are registered beside those from files; their own place when left out. */
  readonly internalHooks?: InternalHooks;
  /** Imports their code; one of their own when left out. */
  readonly modules?: ModuleLoader;
}

/** The plugins that run and what went wrong with them. */
export interface PluginFacts {
  readonly plugins: readonly PluginStatus[];
  readonly diagnostics: readonly PluginDiagnostic[];
  readonly breakers: readonly Breaker[];
}

/** The plugins of one gateway. Their code and the code that runs them are loaded only when one may be enabled. */
export interface Plugins {
  /** What the gateway asks; answers for no plugins until they run. */
  readonly gateway: Required<Pick<GatewayDeps, "extraMethods">> & { readonly unrouted: NonNullable<GatewayDeps["unrouted"]> };
  readonly port: PluginsPort;
  /** What plugins show of sessions. */
  readonly extensions: () => ((key: string, sessionId: string | undefined) => ReturnType<RunningPlugins["project"]>) | undefined;
  /** Of plugins that run; undefined while none do. */
  readonly hooks: () => RunningPlugins["hooks"] | undefined;
  /** What hooks about the gateway itself are called with; undefined while no plugin runs. */
  readonly gatewayContext: () => ReturnType<RunningPlugins["gatewayContext"]> | undefined;
  /** Everything that plugins registered; undefined while none run. */
  readonly registries: () => RunningPlugins["host"]["registries"] | undefined;
  /** Called when plugins came, went or were reloaded. */
  onChange(listener: () => void): void;
  /** How those that run fare; undefined while none do. */
  facts(): PluginFacts | undefined;
  /** What those that run say about their sections of the configuration; undefined while none do. */
  sections(): Promise<ConfigSections> | undefined;
  /** Names that those that run bring to lists of the configuration; undefined while none do. */
  names(): Promise<KnownNames> | undefined;
  /** Model providers that plugins brought. */
  readonly providers: () => readonly PluginProvider[];
  /** Hooks of plugins, and those from files: also while no plugin runs. */
  readonly internalHooks: InternalHooks;
  /** Imports a file that is no plugin, TypeScript or JavaScript, with the SDK. What it fails with later does not end the gateway. */
  importFile(file: ImportedFile): Promise<Readonly<Record<string, unknown>>>;
  /** What they have for agents; undefined while none run. */
  readonly agent: () => RunningPlugins["agent"] | undefined;
  /** Loads and registers what is enabled. Never rejects for a plugin's sake. */
  open(gateway: Gateway): Promise<void>;
  /** Plugins are loaded and what the process before this one left is queued: turns may begin. */
  release(): void;
  /**
   * Resolves when every enabled plugin has registered, failed or timed out; undefined when that is so already. No turn begins and no tool runs before.
   * Rejects with `UNAVAILABLE` when the gateway ends first.
   */
  settled(): Promise<void> | undefined;
  /** Plugins that guard tool calls and did not load: tools are refused while there is one. */
  missingGuards(): readonly MissingGuard[];
  /** The gateway is ready: services are started, `gateway_start` hooks run. */
  ready(): void;
  /** One plugin's settings changed. */
  reload(action: ReloadAction): Promise<void>;
  /** Loads the plugin of a channel that came with the gateway, where it is enabled: the channel has its first settings. */
  loadChannel(id: string): Promise<void>;
  /** Before turns are drained: notifies plugins of the end and stops their services. What guards tool calls stays. */
  stop(): Promise<void>;
  /** After turns are drained: takes everything away. */
  end(): Promise<void>;
}

/** The channels of the plugins that run at the moment of each call. */
export function channelTable({ registries }: Pick<Plugins, "registries">): ChannelTable {
  let connections: Pick<Channels, "canSend" | "isReceiving"> | undefined;
  return {
    get: (id) => registries()?.channels.get(id)?.value.plugin as ChannelPlugin | undefined,
    list: () => (registries()?.channels.list() ?? []).map(({ value }) => value.plugin as unknown as ChannelPlugin),
    dock: (id) => registries()?.channels.get(id)?.value.dock as ChannelDock | undefined,
    running: (channel, accountId) => connections?.canSend(channel, accountId) ?? true,
    receiving: (channel, accountId) => connections?.isReceiving(channel, accountId) ?? true,
    follow: (followed) => void (connections = followed),
  };
}

const NONE_MISSING: readonly MissingGuard[] = [];

const isFilled = (value: object | readonly unknown[] | undefined): boolean => value !== undefined && Object.keys(value).length > 0;

function hasEntries(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0;
  } catch {
    return false; // Not there: nothing is installed.
  }
}

/**
 * Whether any plugin can be enabled: something is installed, the configuration names one, or it has a section that a plugin which came with the gateway
 * serves. Costs one look at a folder; the inventory decides.
 */
export function mayHavePlugins({ plugins, channels }: OpenClawConfig, stateDir: string): boolean {
  if (plugins?.enabled === false) return false;
  const named = isFilled(plugins?.load?.paths) || isFilled(plugins?.allow) || isFilled(plugins?.slots) || isFilled(plugins?.entries);
  return named || isFilled(channels) || hasEntries(join(stateDir, "extensions"));
}

/** What turns wait for before they begin. */
function createGate() {
  const opening = Promise.withResolvers<void>();
  opening.promise.catch(() => {}); // Only those who wait see the rejection.
  let isOpen = false;
  return {
    open(): void {
      isOpen = true;
      opening.resolve();
    },
    /** Does nothing once it is open. */
    shut: (why: AppError): void => opening.reject(why),
    wait: (): Promise<void> | undefined => (isOpen ? undefined : opening.promise),
  };
}

/** Imports code of others, and answers for errors of files that nobody caught while no plugin runs. */
function createModules(deps: PluginsDeps) {
  const log = deps.log.subsystem("hooks");
  let faults: Disposable | undefined;
  const open = lazy(async () => (await import("./module-loader.ts")).openModuleLoader(deps));
  return {
    open,
    async importFile(file: ImportedFile, isAlone: boolean): Promise<Readonly<Record<string, unknown>>> {
      const [loader, { catchFaults }] = await Promise.all([open(), import("../host/faults.ts")]);
      if (isAlone) faults ??= catchFaults({ ownerOf: loader.pluginOf, report: ({ message, pluginId }) => log.error(`${pluginId}: ${message}`) });
      return loader.importFile(file);
    },
    /** The host of plugins catches them from now on. */
    release(): void {
      faults?.[Symbol.dispose]();
      faults = undefined;
    },
    async close(): Promise<void> {
      faults?.[Symbol.dispose]();
      (await open.started()?.catch(() => undefined))?.[Symbol.dispose]();
    },
  };
}

const internalHooksOf = ({ config, clock, log }: PluginsDeps): InternalHooks =>
  createInternalHooks({ log: log.subsystem("hooks"), clock, enabled: () => config.current.hooks?.internal?.enabled === true });

async function checkSession(store: PluginsDeps["store"], key: string): Promise<void> {
  if (!(await store.read("sessions.get", { key }))) throw new AppError("NOT_FOUND", `there is no session ${key}`);
}

/** `command:new` and `command:reset` for a session that a client resets. */
function announceReset({ config, store }: Pick<PluginsDeps, "config" | "store">, hooks: InternalHooks): PluginsPort["sessionResetting"] {
  return async (key, reason) => {
    if (!hooks.has("command", reason)) return;
    const entry = (await store.read("sessions.get", { key }))?.entry;
    const cfg = structuredClone(config.current);
    await hooks.trigger("command", reason, key, { sessionEntry: entry, previousSessionEntry: entry, commandSource: "gateway:sessions.reset", cfg });
  };
}

/** Loads the plugin of a channel that came with the gateway. False: it was loaded with all others right now. */
async function loadedChannel(running: RunningPlugins, id: string): Promise<boolean> {
  if (running.host.registries.channels.get(id)) return false;
  await running.reload(id);
  return true;
}

export function createPlugins(deps: PluginsDeps): Plugins {
  const { config, store } = deps;
  const internalHooks = internalHooksOf(deps);
  const modules = createModules(deps);
  let running: RunningPlugins | undefined;
  let gateway: Gateway | undefined;
  let isReady = false;
  const gate = createGate();
  const listeners: (() => void)[] = [];
  const changed = (): void => listeners.forEach((listener) => listener());

  /** The host, with nothing loaded into it yet when nothing was enabled at the start. */
  const host = lazy(async (): Promise<RunningPlugins> => {
    if (!gateway) throw new AppError("UNAVAILABLE", "the gateway is starting: try again in a moment");
    const { openPlugins } = await import("./open-plugins.ts");
    running = await openPlugins({ ...deps, internalHooks, modules: await modules.open() }, gateway);
    modules.release();
    if (isReady) running.ready();
    changed();
    return running;
  });

  const extraMethods: ExtraMethods = { names: () => running?.methods.names() ?? [], find: (method) => running?.methods.find(method) };
  return {
    gateway: {
      extraMethods,
      unrouted: {
        needsToken: (path) => running?.needsToken(path) ?? false,
        handle: async (request: IncomingMessage, response: ServerResponse, path: string) => (await running?.answer(request, response, path)) ?? false,
      },
    },
    port: {
      list: async () => (await host()).list(),
      stats: async (id) => (await host()).stats(id),
      async reload(id) {
        const done = await (await host()).reload(id);
        changed();
        return done;
      },
      patchSession: (patch) => checkSession(store, patch.key).then(async () => (await host()).patchSession(patch)),
      sessionResetting: announceReset(deps, internalHooks),
      sessionEnded: (key, reason) => running?.sessionEnded(key, reason),
    },
    extensions: () => (running?.keepsSessions() ? running.project : undefined),
    hooks: () => running?.hooks,
    gatewayContext: () => running?.gatewayContext(),
    registries: () => running?.host.registries,
    onChange: (listener) => void listeners.push(listener),
    facts: () => running && { plugins: running.host.list(), diagnostics: running.host.diagnostics(), breakers: running.hooks.breakers() },
    sections: () => running?.sections(),
    names: () => running?.names(),
    providers: () => running?.providers() ?? [],
    internalHooks,
    importFile: (file) => modules.importFile(file, running === undefined),
    agent: () => running?.agent,
    async open(opened) {
      gateway = opened;
      if (mayHavePlugins(config.current, config.paths.state)) await host();
    },
    release: gate.open,
    settled: gate.wait,
    missingGuards: () => running?.host.missingGuards() ?? NONE_MISSING,
    ready() {
      isReady = true;
      running?.ready();
    },
    async reload(action) {
      if (!running || action.kind !== "restart" || action.id === undefined) return;
      await running.reload(action.id);
      changed();
    },
    loadChannel: async (id) => void ((await loadedChannel(await host(), id)) && changed()),
    async stop() {
      gate.shut(new AppError("UNAVAILABLE", "the gateway is stopping; accepted messages continue after the restart"));
      await (await host.started()?.catch(() => undefined))?.stop();
    },
    async end() {
      await (await host.started()?.catch(() => undefined))?.[Symbol.asyncDispose]();
      await modules.close();
    },
  };
}
