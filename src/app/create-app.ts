import { join, resolve } from "node:path";
import { systemClock, type Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { createIds } from "../base/ids.ts";
import { secretValues } from "../base/inherited-environment.ts";
import type { ConsoleStyle } from "../base/log/console-sink.ts";
import type { Logger } from "../base/log/logger.ts";
import { openLogging, type Logging, type LoggingOptions } from "../base/log/logging.ts";
import { systemRandom } from "../base/random.ts";
import { createRedactor } from "../base/redaction.ts";
import {
  checkStart,
  createReload,
  formatLocated,
  gatewayPort,
  openConfig,
  sessionIndexFile,
  startRefusal,
  type Config,
  type ConfigOptions,
  type Env,
  type Reload,
  type Snapshot,
} from "../config/index.ts";
import {
  answerEarly,
  createRestarts,
  createWatchdog,
  endOf,
  listen,
  readLastExit,
  reportHealth,
  requestBySignal,
  restartNotes,
  settingsFrom,
  startedNow,
  type GatewayServer,
  type HealthReport,
  type ServerSettings,
} from "../gateway/index.ts";
import { loadExpiry } from "../media/index.ts";
import type { AnsweringModel } from "../models/index.ts";
import { loadNames } from "../plugins/index.ts";
import { findRestoreRequest, openStore, scheduleMaintenance, type Store, type StoreThread } from "../store/index.ts";
import type { Lifetime } from "./lifetime.ts";
import type { OpenModules } from "./open-modules.ts";

export interface AppOptions {
  readonly env: Env;
  readonly cwd: string;
  readonly osHome: string;
  readonly version: string;
  readonly pid: number;
  readonly console: LoggingOptions["console"];
  /** Arguments of the Node executable that run this program, up to the command: for trying plugins in a process of their own. */
  readonly program?: readonly string[] | undefined;
  /** Outlives the app when it is created again. */
  readonly lifetime: Lifetime;
  /** The store's thread, when it was started ahead. */
  readonly storeThread?: StoreThread | undefined;
  readonly flags: {
    readonly port?: number | undefined;
    readonly allowUnconfigured: boolean;
    readonly verbose: boolean;
    /** Everything providers send goes to a file: this one, or `logs/raw-stream.jsonl` in the state folder. */
    readonly rawStream?: boolean;
    readonly rawStreamPath?: string | undefined;
  };
}

export interface App extends AsyncDisposable {
  readonly url: string;
  readonly stateDir: string;
  readonly log: Logger;
  health(): HealthReport;
  /** How lines on the console look. */
  readonly consoleStyle: ConsoleStyle;
  /** The address of a login link: good once, for ten minutes; it is for the terminal, never for a log. Undefined when there is no page to log in to. */
  loginLink(): string | undefined;
  /** The model that answers when nobody chooses one. */
  answeringModel(): Promise<AnsweringModel>;
  /** Reads the configuration again now. */
  reload(): void;
  /** A signal asks for a restart; `commands.restart` may forbid it. */
  restartBySignal(): void;
  /** Resolves with the reason when the gateway shall restart: close it for that, and create it again. */
  readonly restartDue: Promise<string>;
  /** Finishes what was begun, within limits, notifies the clients that it comes back, and takes everything down. */
  closeForRestart(): Promise<void>;
  /** Resolves when the log is written. */
  flushLog(): Promise<void>;
  /** Resolves with the reason when the gateway can no longer be trusted and must end. */
  readonly failed: Promise<string>;
}

/** These read the configuration, or listen to its changes, by themselves. */
const FOLLOWERS = { auth: () => {} };

/** How long after ready the code of turns is loaded, unless a turn comes earlier. */
const FIRST_CLIENTS_MS = 50;

type Restarts = ReturnType<typeof createRestarts>;

/** What has been opened so far, as health reports it. */
interface Progress {
  store?: Store;
  listenProblem?: string | undefined;
  modules?: OpenModules;
  reload?: Reload;
}

interface StoreAndServerDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  /** For the thread that watches the main one. */
  readonly watch: ReturnType<typeof createWatchdog>["request"];
  readonly health: () => HealthReport;
  readonly progress: Progress;
}

/** Builds every module and returns when it is ready. What was built is taken down again, last first, when something fails or at the end. */
export async function createApp(options: AppOptions): Promise<App> {
  await using stack = new AsyncDisposableStack();
  const { env, lifetime, pid, version, cwd, program } = options;
  const clock = systemClock;
  const random = systemRandom;
  const ids = createIds(random);
  const redactor = createRedactor();
  const since = startedNow(clock);

  const warnings: string[] = [];
  const config = stack.use(await openAppConfig(options, { clock, ids, onSecret: redactor.register, warn: (text) => warnings.push(text) }));
  const snapshot = config.snapshot();
  checkStart(snapshot, config.current, options.flags);

  const stateDir = config.paths.state;
  redactor.register(lifetime.runSecret);
  stack.use(registerVariables(config, redactor.register));
  lifetime.lock({ configPath: config.paths.file, stateDir });
  const logging = openLogging({ settings: config.current.logging, stateDir, console: options.console, verbose: options.flags.verbose }, { clock, redactor });
  const { log } = logging;
  stack.defer(() => logging.file.flush());
  logConfig(snapshot, warnings, log.subsystem("config"));
  const lastExit = readLastExit(stateDir, { clock, log });
  const watchdog = createWatchdog(config.current, { stateDir, pid });
  stack.use(watchdog.monitor);

  const progress: Progress = {};
  const health = (): HealthReport =>
    reportHealth({
      version,
      pid,
      ...since(),
      config,
      brokenFile: () => (progress.reload ? progress.reload.broken : snapshot.reason),
      store: progress.store,
      isReady: progress.modules !== undefined,
      notices: noticesOf(progress, lastExit.notices()),
    });
  const { store, server } = await openStoreAndServer(options, { config, clock, log, watch: watchdog.request, health, progress }, stack);
  log.debug("the configuration is loaded, the store is open");
  await lastExit.trace(store).catch((error: unknown) => log.warn(`the end of the process before this one could not be noted: ${messageOf(error)}`));
  const failure = Promise.withResolvers<string>();
  stack.use(store.onFailure((found) => failure.resolve(found.message)));
  stack.use(maintain(store, config, { clock, log: log.subsystem("store") }));
  const restarts = stack.use(createRestarts({ clock, log, pid, restartedAt: lifetime.restartedAt, runs: () => progress.modules?.conversation.running() ?? 0 }));
  const notes = restartNotes(stateDir);

  const { openModules } = await import("./open-modules.ts");
  const open = (progress.modules = await openModules(
    {
      config,
      store,
      server,
      health,
      clock,
      ids,
      random,
      log,
      redactor,
      env,
      version,
      cwd,
      program,
      runSecret: lifetime.runSecret,
      monitor: watchdog.monitor,
      logFile: logging.path,
      tapLog: logging.tap,
      rawStream: rawStreamFile(options, stateDir),
      requestRestart: restarts.request,
      leaveSentinel: (payload) => notes.leave(payload, { ids, log }),
      failed: failure.resolve,
    },
    stack,
  ));
  await notes.take({ config, store, ids, log, deliver: open.send });
  lifetime.announce(open.gateway.port);
  log.info(`ready on ${open.gateway.url}`, { version, state: stateDir, log: logging.path() });

  progress.reload = stack.use(followConfig(config, open, { log, logging, restarts }));
  start(open, progress.reload, clock, stack);
  const { promise: failed } = failure;
  return { ...appOf(open, { config, logging, restarts, clock, pid }), ...endOf(open, stack.move(), { clock, log, failed }), log, health, failed };
}

function openAppConfig(options: AppOptions, own: Required<Pick<ConfigOptions, "clock" | "ids" | "onSecret" | "warn">>): Promise<Config> {
  const { env, cwd, osHome, version } = options;
  const surroundings = { env, cwd, osHome };
  return openConfig({
    ...own,
    ...surroundings,
    version,
    purpose: "start",
    lookUpNames: async (loaded) => (await loadNames()).manifestNames(loaded, surroundings),
    reviewWrite: async (write) => (await loadNames()).manifestRefusals(write, surroundings),
    refuses: (changed) => startRefusal(changed, options.flags),
  });
}

/** Side by side: the store opens in its own thread. Until all is done, health says "starting" and nothing is accepted. */
async function openStoreAndServer(
  options: AppOptions,
  deps: StoreAndServerDeps,
  stack: AsyncDisposableStack,
): Promise<{ store: Store; server: GatewayServer }> {
  const { config, clock, log, watch, health, progress } = deps;
  const stateDir = config.paths.state;
  const [store, server] = await Promise.allSettled([
    openStore({ stateDir, clock, thread: options.storeThread, watch, sessionIndex: sessionIndexOf(config), log: log.subsystem("store").warn }).then(
      (open) => (progress.store = stack.use(open)),
    ),
    listen(
      { settings: serverSettings(config, options), log: log.subsystem("gateway"), stateDir, env: options.env, early: answerEarly(health) },
      options.lifetime,
    ).then((open) => {
      progress.listenProblem = open.problem;
      return stack.use(open.server);
    }),
  ]);
  if (store.status === "rejected") throw store.reason;
  if (server.status === "rejected") throw server.reason;
  return { store: store.value, server: server.value };
}

/** Deletes what is past its time. */
function maintain(store: Store, config: Config, { clock, log }: { readonly clock: Clock; readonly log: Logger }): Disposable {
  const current = () => config.current;
  const expireFiles = async () => (await loadExpiry()).expireMedia({ store, clock, config: current, stateDir: config.paths.state });
  return scheduleMaintenance({ store, clock, log, config: current, expireFiles });
}

/** Starts what waits for the gateway to be ready. */
function start({ plugins, channels, gateway, code, hooks, memory }: OpenModules, reload: Reload, clock: Clock, stack: AsyncDisposableStack): void {
  void reload.settle();
  plugins.ready();
  // The built-in index begins with the first question; only other backends have something to do.
  void memory.start();
  void channels.start().finally(() => hooks.started({ port: gateway.port }));
  // The first connection finds what it needs loaded.
  void gateway.warm();
  // Clients that waited for the start are let in first: loading holds up the event loop. The first turn waits for it, whenever it comes.
  stack.use(clock.after(FIRST_CLIENTS_MS, () => void code.ready()));
}

/** Where the list of sessions is written for other programs. */
function sessionIndexOf({ current, paths }: Config): NonNullable<Parameters<typeof openStore>[0]["sessionIndex"]> {
  const store = current.session?.store;
  return store?.trim() ? { path: sessionIndexFile(store, paths, "{agentId}") } : {};
}

interface Running {
  readonly config: Config;
  readonly logging: Logging;
  readonly restarts: Restarts;
  readonly clock: Clock;
  readonly pid: number;
}

/** What the process that runs the app may ask of it. */
function appOf(
  open: OpenModules,
  { config, logging, restarts, clock, pid }: Running,
): Omit<App, "log" | "health" | "failed" | "closeForRestart" | typeof Symbol.asyncDispose> {
  const { log } = logging;
  return {
    url: open.gateway.url,
    stateDir: config.paths.state,
    consoleStyle: logging.consoleStyle,
    loginLink: open.loginLink,
    answeringModel: open.answeringModel,
    reload: () => void config.reload(),
    // The user who asked for a restore that waits for this process may restart it as well.
    restartBySignal: () => requestBySignal(restarts, findRestoreRequest(config.paths.state, pid, clock.now()) ? {} : config.current, log),
    restartDue: restarts.due,
    flushLog: () => logging.file.flush(),
  };
}

/** What the operator should look at. */
function noticesOf({ listenProblem, modules }: Progress, lastExit: readonly string[]): readonly string[] {
  const running = modules ? [...modules.plugins.missingGuards().map(({ message }) => message), ...modules.code.problems()] : [];
  return [...(listenProblem === undefined ? [] : [listenProblem]), ...lastExit, ...running];
}

function logConfig(snapshot: Snapshot, warnings: readonly string[], log: Logger): void {
  for (const text of warnings) log.warn(text);
  for (const issue of snapshot.warnings.filter(({ code }) => code === "unknown-name" || code === "unavailable")) log.warn(formatLocated(issue));
  if (snapshot.source === "last-good") log.error(`running on the last good configuration: ${snapshot.reason}`);
}

/** Has secrets of the environment masked, now and after each change of the configuration. */
function registerVariables(config: Config, register: (secret: string) => void): Disposable {
  const registerAll = (): void => secretValues(config.env()).forEach(register);
  registerAll();
  return config.onEvent(registerAll);
}

/** Does what changes of the configuration need. */
function followConfig(
  config: Config,
  { plugins, channels, cron, browser }: OpenModules,
  { log, logging, restarts }: { readonly log: Logger; readonly logging: Logging; readonly restarts: Restarts },
): Reload {
  return createReload({
    config,
    log: log.subsystem("config"),
    restarts,
    modules: {
      ...FOLLOWERS,
      plugins: plugins.reload,
      channels: channels.reload,
      cron: cron.reload,
      hooks: cron.reloadHooks,
      gmail: cron.reloadHooks,
      browser: browser.reload,
    },
    channels: () =>
      plugins
        .registries()
        ?.channels.list()
        .map(({ value }) => value.id) ?? [],
    onChange({ logging: changed }) {
      logging.follow(changed);
      cron.follow();
    },
  });
}

function rawStreamFile({ flags, cwd }: AppOptions, stateDir: string): string | undefined {
  if (!flags.rawStream) return undefined;
  return flags.rawStreamPath === undefined ? join(stateDir, "logs", "raw-stream.jsonl") : resolve(cwd, flags.rawStreamPath);
}

/** Where to listen: the flag, the environment, the file, the default. Where any port will do, a restarted gateway takes the one it had. */
function serverSettings(config: Config, { env, flags, lifetime }: AppOptions): ServerSettings {
  const gateway = config.current.gateway ?? {};
  const { mode } = settingsFrom(config.current, env);
  const port = gatewayPort(env, { flag: flags.port, config: gateway.port });
  return { port: port === 0 ? (lifetime.port ?? 0) : port, bind: gateway.bind, host: gateway.customBindHost, tls: gateway.tls, authMode: mode };
}
