import { systemClock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { createIdleProcess } from "../../base/idle-process.ts";
import { createIds } from "../../base/ids.ts";
import { createLogger, type LogLevel, type LogSink } from "../../base/log/logger.ts";
import { systemRandom } from "../../base/random.ts";
import { createRedactor } from "../../base/redaction.ts";
import { watchLoading } from "../../base/watchdog/watch-loading.ts";
import { openConfig, type Env } from "../../config/index.ts";
import type { Hooks } from "../../hooks/index.ts";
import { pluginLogger } from "../host/api.ts";
import { within } from "../host/within.ts";
import { type Inventory } from "../inventory/inventory.ts";
import { type PluginDiagnostic } from "../record.ts";
import { type PluginStatus } from "../host/status.ts";
import { type Registration } from "../registry/owner.ts";
import { type Registries } from "../registry/registries.ts";
import { openPlugins } from "./open-plugins.ts";

export interface CommandHostOptions {
  readonly env: Env;
  readonly cwd: string;
  readonly osHome: string;
  readonly version: string;
  /** The plugins to load. */
  readonly inventory: Inventory;
  /** Gets the lines that plugins log: warnings and errors while they load, everything from `info` up once a command runs. */
  readonly sink: LogSink;
  /** Runs `openclaw memory` with arguments, for plugins that bring it as a command of theirs. */
  readonly memoryCommand?: ((args: readonly string[]) => Promise<number>) | undefined;
}

type ProviderRegistration = ReturnType<Registries["providers"]["list"]>[number]["value"];
type ChannelRegistration = ReturnType<Registries["channels"]["list"]>[number]["value"];
type CliRegistrar = ReturnType<Registries["cli"]["list"]>[number]["value"];

/** Plugins in a process that runs one command: loaded and registered, without services, routes, sessions and gateway methods. */
export interface CommandHost extends AsyncDisposable {
  readonly registrars: readonly Registration<CliRegistrar>[];
  /** Model providers that the plugins brought, as they registered them. */
  readonly providers: readonly Registration<ProviderRegistration>[];
  /** Channels, in the same way. */
  readonly channels: readonly Registration<ChannelRegistration>[];
  /** What the plugins hook into. */
  readonly hooks: Pick<Hooks, "has" | "run">;
  list(): readonly PluginStatus[];
  /** Everything that is known to be wrong, so far. */
  diagnostics(): readonly PluginDiagnostic[];
  /** Errors that nothing caught, so far. */
  faults(): readonly PluginDiagnostic[];
  /** Lets a registrar add its commands to `program`, within its time. Rejects with `PLUGIN_FAILED`, naming the plugin. */
  register(registrar: Registration<CliRegistrar>, program: unknown): Promise<void>;
  /** From here on what plugins log is part of a command. */
  running(): void;
}

const REGISTER_MS = 10_000;
/** A plugin that blocks a command for longer than this while it is loaded ends it. */
const LIMIT_SECONDS = 10;

async function noSessions(): Promise<never> {
  throw new AppError(
    "UNAVAILABLE",
    "a plugin's command runs outside the gateway, and only the gateway has sessions; register a gateway method and call it with openclaw call",
  );
}

export async function openCommandHost({ inventory, sink, memoryCommand, ...options }: CommandHostOptions): Promise<CommandHost> {
  await using stack = new AsyncDisposableStack();
  const clock = systemClock;
  const ids = createIds(systemRandom);
  const redactor = createRedactor();
  let level: LogLevel = "warn";
  const output = {
    sink,
    get level() {
      return level;
    },
  };
  const log = createLogger({ clock, redactor, outputs: [output] });
  const config = stack.use(await openConfig({ ...options, clock, ids, purpose: "inspect", onSecret: redactor.register }));
  const store = { read: noSessions, write: noSessions };
  const gateway = { port: 0, registerRoute: () => ({ [Symbol.dispose]() {} }), hub: { broadcast: () => {} } };
  const { env, version } = options;
  let isRunning = false;
  const exits = { subject: "the process that loads it", mayExit: () => isRunning };
  const limitSeconds = Math.min(LIMIT_SECONDS, config.current.gateway?.watchdog?.limitSeconds || LIMIT_SECONDS);
  const watch = stack.use(watchLoading(limitSeconds));
  const plugins = { config, store, clock, ids, log, env, version, monitor: watch.monitor, exits, memoryCommand, inventory: async () => inventory };
  const { host, hooks } = stack.use(await openPlugins(plugins, gateway));
  const idle = createIdleProcess();
  const kept = stack.move();
  const context = (pluginId: string): Readonly<Record<string, unknown>> => ({
    config: structuredClone(config.current),
    logger: pluginLogger(log, pluginId),
    ...(inventory.workspaceDir === undefined ? {} : { workspaceDir: inventory.workspaceDir }),
  });
  return {
    registrars: host.registries.cli.list(),
    providers: host.registries.providers.list(),
    channels: host.registries.channels.list(),
    hooks,
    list: host.list,
    diagnostics: host.diagnostics,
    faults: () => host.diagnostics().filter(({ code }) => code === "uncaught-exception" || code === "unhandled-rejection"),
    async register({ owner: { pluginId, source }, value }, program) {
      try {
        await within(clock, REGISTER_MS, "it", () => value.register({ ...context(pluginId), program }), idle);
      } catch (error) {
        const message = `the plugin ${pluginId} could not add its commands: ${error instanceof Error ? error.message : String(error)} (${source})`;
        throw new AppError("PLUGIN_FAILED", message, { cause: error, details: { pluginId, file: source } });
      }
    },
    running() {
      level = "info";
      isRunning = true;
      watch[Symbol.dispose]();
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
