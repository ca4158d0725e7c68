import { AppError } from "../../base/errors.ts";
import { createIdleProcess } from "../../base/idle-process.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { PluginDiagnostic } from "../record.ts";
import { createDiagnostics, createRegistries, registerHttpRoute, type Registries, type RouteBoard } from "../registry/index.ts";
import { createApi, pluginLogger } from "./api.ts";
import type { PluginHostDeps } from "./deps.ts";
import type { GenerationDeps } from "./generation.ts";
import { createGuards, type Guards, type MissingGuard } from "./guards.ts";
import { reloadSlot, startAll, stopAll, stopServices, takeDown, type House } from "./house.ts";
import { locateFailure } from "./locate-failure.ts";
import { createScopes, type Scopes } from "./scope.ts";
import { createServices, type Services } from "./services.ts";
import { createSessionExtensions, type SessionExtensions } from "./sessions.ts";
import { statusOf, type PluginStatus } from "./status.ts";

/** Runs plugins. Whatever one of them does, the others and the gateway go on. */
export interface PluginHost extends AsyncDisposable {
  /** Loads and registers everything that is enabled, in order; then activates. Never rejects for a plugin's sake. */
  start(): Promise<void>;
  /** Starts what runs in the background. */
  startServices(): Promise<void>;
  /** Stops what runs in the background. Hooks, policies and tools stay until the host is disposed: turns that still run need them. */
  stopServices(): Promise<void>;
  /**
   * Reloads a plugin's code and settings. Calls that run end in the old generation, the next ones go to the new one. When the new one cannot be
   * loaded the old one stays, and this rejects with the reason. One that was enabled since is loaded; one that was disabled is taken down.
   */
  reload(id: string): Promise<PluginStatus>;
  /** Takes a plugin down and deletes what it kept in sessions. */
  disable(id: string): Promise<void>;
  list(): readonly PluginStatus[];
  /** Folders of the skills that running plugins bring, in the order in which those were loaded. */
  skillFolders(): readonly string[];
  diagnostics(): readonly PluginDiagnostic[];
  /** Plugins that guard tool calls, are meant to run, and do not: no tool may run while there is one. Cheap to ask. */
  missingGuards(): readonly MissingGuard[];
  readonly registries: Registries;
  readonly sessions: SessionExtensions;
  /** Whose code threw it, or runs now. */
  ownerOf(error: unknown): string | undefined;
  /**
   * Adds a route while the plugin runs, for the one whose code calls or the one named; the plugin checks its callers itself. Gives what takes it away.
   * Throws `NOT_FOUND` when nobody's code calls, `INVALID_INPUT` or `CONFLICT` when the route cannot be had.
   */
  registerRoute(route: { readonly path: string; readonly handler: unknown; readonly pluginId?: string | undefined }): () => void;
  /** `end` is called when the plugin whose code runs now is taken down. It must not throw. */
  adopt(end: () => void): void;
  /** Came with the gateway. */
  isBundled(pluginId: string): boolean;
  /** Keeps and logs what is wrong with a plugin; where, when the error is given. */
  report(found: PluginDiagnostic, error?: unknown): void;
  /** Keeps what was logged already. */
  note(found: PluginDiagnostic): void;
}

function pluginContext(deps: PluginHostDeps, workspaceDir: string | undefined, pluginId: string): Readonly<Record<string, unknown>> {
  const logger = pluginLogger(deps.log, pluginId);
  return { config: structuredClone(deps.config()), stateDir: deps.stateDir, logger, ...(workspaceDir === undefined ? {} : { workspaceDir }) };
}

/** A route outside of registration: it comes and goes with an account, and at the latest with its plugin. */
function addRoute(
  house: House,
  routes: RouteBoard,
  pluginId: string | undefined,
  { path, handler }: { readonly path: string; readonly handler: unknown },
): () => void {
  const generation = pluginId === undefined ? undefined : house.slots.get(pluginId)?.generation;
  if (!generation) throw new AppError("NOT_FOUND", `the HTTP route ${path} belongs to no running plugin`);
  const before = new Set(routes.table.list());
  registerHttpRoute(generation.binding, routes, { path, handler, auth: "plugin", replaceExisting: true });
  const added = routes.table.list().find((row) => !before.has(row));
  if (!added) throw new AppError("CONFLICT", `the HTTP route ${path} could not be registered: see the plugin's diagnostics`);
  return () => routes.placed.get(added.value)?.[Symbol.dispose]();
}

/** Named by the operator: in `plugins.entries` or `plugins.allow`. */
function isNamed(config: OpenClawConfig, id: string): boolean {
  return config.plugins?.entries?.[id]?.enabled === true || (config.plugins?.allow ?? []).includes(id);
}

/** Makes the API object of one generation. */
function apiMaker(
  deps: PluginHostDeps,
  { registries, routes, services }: { registries: Registries; routes: RouteBoard; services: Services },
): GenerationDeps["api"] {
  const { ports, log } = deps;
  const isPromptAllowed = (id: string): boolean => deps.config().plugins?.entries?.[id]?.hooks?.allowPromptInjection !== false;
  const injections = { ...deps, isPromptAllowed };
  return ({ entry, definition, binding, lifecycle }) =>
    createApi({
      entry,
      facts: definition,
      binding,
      registries,
      ports,
      routes,
      injections,
      grants: { declared: entry.manifest.contracts?.["trustedToolPolicies"] ?? [], enabledExplicitly: isNamed(deps.config(), entry.id) },
      config: () => structuredClone(deps.config()),
      runtime: () => deps.runtimeFor(entry),
      log,
      homeDir: deps.homeDir,
      lifecycle,
      onService: () => void (services.started && binding.ledger.state === "live" && services.start()),
    });
}

/** A change is over when the guards that it brought or took are recorded. */
async function recorded<T>(change: Promise<T>, guards: Pick<Guards, "changed">): Promise<T> {
  try {
    return await change;
  } finally {
    await guards.changed();
  }
}

export function createPluginHost(deps: PluginHostDeps): PluginHost {
  const { clock, ports, log } = deps;
  const scopes: Scopes = createScopes(deps.monitor);
  const diagnostics = createDiagnostics(log);
  const registries = createRegistries(ports);
  const routes: RouteBoard = { table: registries.httpRoutes, mount: ports.mountRoute, placed: new WeakMap() };
  const report: PluginHost["report"] = (found, error) => {
    const entry = found.pluginId === undefined ? undefined : house.slots.get(found.pluginId)?.entry;
    diagnostics.add(error === undefined ? found : { ...found, ...locateFailure(error, entry) });
  };
  const tell = (pluginId: string, code: string, message: string, error?: unknown): void => report({ level: "error", code, message, pluginId }, error);
  const services = createServices({ table: registries.services, clock, context: (id) => pluginContext(deps, house.workspaceDir, id), tell });
  const sessions = createSessionExtensions({ table: registries.sessionExtensions, store: deps.store, clock, tell });
  let number = 0;
  const house: House = {
    deps,
    slots: new Map(),
    overridden: [],
    services,
    sessions,
    report: diagnostics.add,
    clear: diagnostics.clear,
    leaving: new Map(),
    workspaceDir: undefined,
    making: {
      scopes,
      clock,
      idle: createIdleProcess(),
      load: (entry, generation) => deps.loader.load(entry, generation),
      onDiagnostic: diagnostics.add,
      onLateRegistration: () => void guards.changed(),
      nextNumber: () => (number += 1),
      api: apiMaker(deps, { registries, routes, services }),
    },
  };

  const guards = createGuards({ records: deps.guardRecords, slots: house.slots, config: deps.config, log });

  /** Changes of one plugin follow each other. */
  function inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    const before = turns.get(id) ?? Promise.resolve();
    const run = recorded(before.then(work, work), guards);
    turns.set(id, run);
    return run;
  }
  const turns = new Map<string, Promise<unknown>>();

  return {
    registries,
    sessions,
    async start() {
      await guards.load();
      await startAll(house);
      await guards.changed();
    },
    startServices: () => services.start(),
    stopServices: () => stopServices(house),
    missingGuards: guards.missing,
    reload: (id) => inTurn(id, () => reloadSlot(house, id)),
    disable: (id) =>
      inTurn(id, async () => {
        const slot = house.slots.get(id);
        if (!slot) throw new AppError("NOT_FOUND", `there is no plugin ${JSON.stringify(id)}: openclaw plugins list shows all`);
        await takeDown(house, slot, "disable");
        slot.entry = { ...slot.entry, enabled: false, reason: "disabled" };
      }),
    list: () => [
      ...[...house.slots.values()].map((slot) => statusOf(slot.entry, slot.generation, slot.error)),
      ...house.overridden.map((entry) => statusOf(entry, undefined, undefined)),
    ],
    skillFolders: () => [...house.slots.values()].flatMap(({ entry, generation }) => (generation ? (entry.skillDirs ?? []) : [])),
    diagnostics: diagnostics.list,
    ownerOf: (error) => deps.loader.pluginOf(error) ?? scopes.current()?.pluginId,
    registerRoute: (route) => addRoute(house, routes, scopes.current()?.pluginId ?? route.pluginId, route),
    adopt: scopes.adopt,
    isBundled: (pluginId) => house.slots.get(pluginId)?.entry.origin === "bundled",
    report,
    note: diagnostics.keep,
    async [Symbol.asyncDispose]() {
      await stopAll(house);
      scopes[Symbol.dispose]();
    },
  };
}
