import { isAbsolute, join, resolve } from "node:path";
import { AppError, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { PluginEntry } from "../record.ts";
import {
  enqueueInjection,
  registerChannel,
  registerCli,
  registerCommand,
  registerGatewayMethod,
  registerHttpHandler,
  registerHttpRoute,
  registerInternalHook,
  mediaProviderMembers,
  registerProvider,
  registerService,
  registerSessionExtension,
  registerTool,
  registerToolPolicy,
  registerTypedHook,
  type Binding,
  type InjectionDeps,
  type PolicyGrants,
  type Registries,
  type RegistryPorts,
  type RouteBoard,
} from "../registry/index.ts";

/** What an API object is made from. */
export interface ApiParts {
  readonly entry: PluginEntry;
  /** What the module says about itself wins over the manifest. */
  readonly facts: { readonly name?: string | undefined; readonly version?: string | undefined; readonly description?: string | undefined };
  readonly binding: Binding;
  readonly registries: Registries;
  readonly ports: RegistryPorts;
  readonly routes: RouteBoard;
  readonly injections: InjectionDeps;
  readonly grants: PolicyGrants;
  /** A copy of the configuration; made when it is read. */
  readonly config: () => unknown;
  /** Made when it is read. */
  readonly runtime: () => unknown;
  readonly log: Logger;
  readonly homeDir: string;
  readonly lifecycle: { readonly signal: AbortSignal; readonly onDispose: (fn: () => unknown) => void };
  /** Called when a service was registered, so that one that comes late is started too. */
  readonly onService: () => void;
}

/** A logger that says whose line it is. Its methods work when they are taken off it. */
export function pluginLogger(
  log: Logger,
  pluginId: string,
): Readonly<Record<"debug" | "info" | "warn" | "error", (message: unknown, fields?: unknown) => void>> {
  const method =
    (level: "debug" | "info" | "warn" | "error") =>
    (message: unknown, fields?: unknown): void => {
      const more =
        typeof fields === "object" && fields !== null && !Array.isArray(fields) ? { ...fields } : fields === undefined ? undefined : { value: fields };
      log[level](`[${pluginId}] ${message instanceof Error ? (message.stack ?? message.message) : String(message)}`, more);
    };
  return { debug: method("debug"), info: method("info"), warn: method("warn"), error: method("error") };
}

/** `~` is the user's home; what is relative is meant from the plugin's folder. */
function resolvePath(input: unknown, rootDir: string, homeDir: string): string {
  if (typeof input !== "string") throw new AppError("INVALID_INPUT", `api.resolvePath: a path must be a string, but is a ${typeof input}`);
  const path = input.trim();
  if (path === "~") return homeDir;
  if (/^~[/\\]/.test(path)) return join(homeDir, path.slice(2));
  return isAbsolute(path) ? resolve(path) : resolve(rootDir, path);
}

/** A value that is made at its first reading. */
function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

type Members = Readonly<Record<string, (...args: readonly unknown[]) => unknown>>;

/** Every `register…` of the API. A call that does not fit, or that comes after the plugin was taken down, is a diagnostic and registers nothing. */
function registering(parts: ApiParts): Members {
  const { binding, registries, ports, routes, grants } = parts;
  const members: Readonly<Record<string, (...args: readonly unknown[]) => void>> = {
    registerTool: (tool, options) => registerTool(binding, registries.tools, tool, options),
    registerHook: (events, handler, options) => registerInternalHook(binding, ports.internalHooks, events, handler, options),
    registerHttpHandler: (handler) => registerHttpHandler(binding, registries.httpHandlers, handler),
    registerHttpRoute: (route) => registerHttpRoute(binding, routes, route),
    registerChannel: (registration) => registerChannel(binding, registries.channels, registration),
    registerGatewayMethod: (method, handler, options) => registerGatewayMethod(binding, registries.gatewayMethods, method, handler, options),
    registerCli: (registrar, options) => registerCli(binding, registries.cli, registrar, options),
    registerService(service) {
      registerService(binding, registries.services, service);
      parts.onService();
    },
    registerProvider: (provider) => registerProvider(binding, registries.providers, provider),
    ...mediaProviderMembers(binding, registries.mediaProviders),
    registerCommand: (command) => registerCommand(binding, registries.commands, command),
    registerSessionExtension: (extension) => registerSessionExtension(binding, registries.sessionExtensions, extension),
    registerTrustedToolPolicy: (policy) => registerToolPolicy(binding, ports.policies, grants, policy),
    on: (hook, handler, options) => registerTypedHook(binding, ports.hooks, hook, handler, options),
  };
  const guarded = Object.entries(members).map(([name, call]) => {
    const member = (...args: readonly unknown[]): void => {
      if (binding.ledger.state === "retired") {
        return binding.tell("warn", "after-disposal", `api.${name} was called after the plugin was unloaded: nothing is registered`);
      }
      try {
        call(...args);
      } catch (error) {
        binding.tell("error", "bad-argument", messageOf(error));
      }
    };
    return [name, member] as const;
  });
  return Object.fromEntries(guarded);
}

/** The object that `register` and `activate` get. What this host does not have is not on it: plugins look whether a member is there. */
export function createApi(parts: ApiParts): Readonly<Record<string, unknown>> {
  const { entry, facts, binding, injections, log, homeDir, lifecycle } = parts;
  const { registerSessionExtension: extend, ...members } = registering(parts);
  const config = lazy(parts.config);
  const runtime = lazy(parts.runtime);
  const enqueue = async (injection: unknown): Promise<unknown> => {
    if (binding.ledger.state === "retired") throw new AppError("UNAVAILABLE", `api.enqueueNextTurnInjection: the plugin ${entry.id} was unloaded`);
    return enqueueInjection(binding, injections, injection);
  };
  return {
    id: entry.id,
    name: facts.name ?? entry.name,
    version: facts.version ?? entry.version,
    description: facts.description ?? entry.description,
    source: entry.source,
    rootDir: entry.rootDir,
    registrationMode: "full",
    pluginConfig: entry.pluginConfig === undefined ? undefined : structuredClone(entry.pluginConfig),
    get config() {
      return config();
    },
    get runtime() {
      return runtime();
    },
    logger: pluginLogger(log, entry.id),
    resolvePath: (input: unknown) => resolvePath(input, entry.rootDir, homeDir),
    ...members,
    registerSessionExtension: extend,
    enqueueNextTurnInjection: enqueue,
    session: { state: { registerSessionExtension: extend }, workflow: { enqueueNextTurnInjection: enqueue } },
    lifecycle: {
      signal: lifecycle.signal,
      onDispose(fn: unknown) {
        if (typeof fn !== "function") return binding.tell("error", "bad-argument", "api.lifecycle.onDispose: fn must be a function");
        lifecycle.onDispose((): unknown => fn());
      },
    },
  };
}
