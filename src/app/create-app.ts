import { AppError, messageOf } from "../base/errors.ts";
import { join, resolve } from "node:path";
import { systemClock, type Clock } from "../base/clock.ts";
import { secretValues } from "../base/inherited-environment.ts";
import { createIds } from "../base/ids.ts";
import type { ConsoleStyle } from "../base/log/console-sink.ts";
import type { Logger } from "../base/log/logger.ts";
import { systemRandom } from "../base/random.ts";
import { createRedactor } from "../base/redaction.ts";
import {
  formatLocated,
  gatewayPort,
  openConfig,
  sessionIndexFile,
  type Config,
  type ConfigOptions,
  type Env,
  type OpenClawConfig,
  type Snapshot,
} from "../config/index.ts";
import { answerEarly, settingsFrom, type HealthReport, type SentinelPayload, type ServerSettings } from "../gateway/index.ts";
import { findRestoreRequest, openStore, rememberSessions, type Store, type StoreThread } from "../store/index.ts";
import type { AnsweringModel } from "../models/index.ts";
import { reportHealth, startedNow } from "./health.ts";
import type { Lifetime } from "./lifetime.ts";
import { listen } from "./listen.ts";
import { openLogging, type LoggingOptions } from "./logging.ts";
import { scheduleMaintenance } from "./maintenance.ts";
import type { OpenGateway } from "./open-gateway.ts";
import { createReload, type Reload } from "./reload.ts";
import { endOf } from "./restart/close.ts";
import { restartNotes } from "./restart/notes.ts";
import { createRestarts, requestBySignal } from "./restart/schedule.ts";
import { readExitNote, removeExitNote } from "../base/watchdog/exit-note.ts";
import { createLoopMonitor, type LoopMonitor } from "../base/watchdog/loop-monitor.ts";
import type { WatchRequest } from "../base/watchdog/watch-main-thread.ts";

const WARN_SECONDS = 5;
const LIMIT_SECONDS = 30;
/** As long as a stop may take. */
const GRACE_SECONDS = 10;
/** How long health shows why the process before this one ended. */
const SHOWN_MS = 24 * 60 * 60 * 1000;

interface Watchdog {
  readonly monitor: LoopMonitor;
  /** For the thread that watches; undefined where a debugger stops the main thread on purpose. */
  readonly request: WatchRequest | undefined;
}

/** Whoever debugs the gateway stops it for as long as it takes. */
const isDebugged = (): boolean => process.execArgv.some((arg) => arg.startsWith("--inspect"));

/** What the main thread and the one that watches it share. Disposing the monitor stops its heartbeat. */
export function createWatchdog({ gateway }: OpenClawConfig, { stateDir, pid }: { readonly stateDir: string; readonly pid: number }): Watchdog {
  const monitor = createLoopMonitor();
  const { warnSeconds = WARN_SECONDS, limitSeconds = LIMIT_SECONDS } = gateway?.watchdog ?? {};
  const request = { buffer: monitor.buffer, stateDir, pid, warnSeconds, limitSeconds, graceSeconds: GRACE_SECONDS };
  return { monitor, request: isDebugged() ? undefined : request };
}

/** Why the process before this one was ended, if its watchdog did it. */
interface LastExit {
  /** What health shows of it. */
  notices(): readonly string[];
  /** Writes it into the journal of each turn that was in the middle, so that `openclaw why` can tell. */
  trace(store: Pick<Store, "read" | "write">): Promise<void>;
}

/** Logs why the process before this one was ended, if it was. */
function tellLastExit(stateDir: string, { clock, log }: { readonly clock: Clock; readonly log: Logger }): LastExit {
  const note = readExitNote(stateDir);
  if (!note) return { notices: () => [], trace: async () => {} };
  const { at, pid, message, pluginId, what } = note;
  log.warn(`the process before this one: ${message}`, { pid, at: new Date(at).toISOString(), pluginId, what });
  const shown = `${new Date(at).toISOString()}: ${message}`;
  return {
    notices: () => (clock.now() - at < SHOWN_MS ? [shown] : []),
    async trace(store) {
      for (const { id, startedAt } of await store.read("turns.unfinished", {})) {
        if (startedAt > at) continue;
        await store.write("journal.append", { turnId: id, kind: "note", data: { exit: { at, message, pluginId, what } } });
      }
      removeExitNote(stateDir);
    },
  };
}

/** Refuses to start where starting would surprise: without a configuration nobody asked to go without, or on one that is for another machine. */
function checkStartGates(snapshot: Snapshot, config: OpenClawConfig, options: { readonly allowUnconfigured: boolean }): void {
  if (options.allowUnconfigured) return;
  const mode = config.gateway?.mode;
  if (mode === "local") return;
  if (mode !== undefined)
    throw new AppError(
      "CONFIG_INVALID",
      `Gateway start blocked: set gateway.mode=local (current: ${mode}) in ${snapshot.path}, or start with --allow-unconfigured`,
    );
  throw new AppError(
    "CONFIG_INVALID",
    snapshot.exists
      ? `Gateway start blocked: set gateway.mode=local (current: unset) in ${snapshot.path} (openclaw config set gateway.mode local), or start with --allow-unconfigured`
      : `Missing config. There is no ${snapshot.path}: run \`openclaw config set gateway.mode local\`, or start with --allow-unconfigured`,
  );
}

/** What this version cannot do yet is said at the start, not at the first use. */
function checkSupported(config: OpenClawConfig): void {
  const url = config.store?.url;
  if (url !== undefined) throw new AppError("UNAVAILABLE", "store.url is set, but this version keeps its state in SQLite only; remove the key to start");
}

/** Why a gateway that runs would not start again with this configuration; undefined when it would. */
function startRefusal(snapshot: Snapshot, options: { readonly allowUnconfigured: boolean }): string | undefined {
  try {
    checkStartGates(snapshot, snapshot.config, options);
    checkSupported(snapshot.config);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

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
  /** Which model answers when nobody chooses one. */
  answeringModel(): Promise<AnsweringModel>;
  /** Reads the configuration again now. */
  reload(): void;
  /** Somebody outside asks for a restart with a signal; `commands.restart` may forbid it. */
  restartBySignal(): void;
  /** Resolves with the reason when the gateway shall restart: close it for that, and create it again. */
  readonly restartDue: Promise<string>;
  /** Finishes what was begun, within limits, tells the clients that it comes back, and takes everything down. */
  closeForRestart(): Promise<void>;
  /** Resolves when the log is written. */
  flushLog(): Promise<void>;
  /** Resolves with the reason when the gateway can no longer be trusted and must end. */
  readonly failed: Promise<string>;
}

/** These look at the configuration, or listen to its changes, by themselves. */
const FOLLOWERS = { auth: () => {}, hooks: () => {} };

/** How long after ready the code of turns is loaded, unless a turn comes earlier. */
const FIRST_CLIENTS_MS = 50;

/** Builds every room and returns when it is ready. What was built is taken down again, last first, when something fails or at the end. */
export async function createApp(options: AppOptions): Promise<App> {
  await using stack = new AsyncDisposableStack();
  const { env, lifetime, pid, version } = options;
  const clock = systemClock;
  const ids = createIds(systemRandom);
  const redactor = createRedactor();
  const since = startedNow(clock);

  const warnings: string[] = [];
  const onSecret = redactor.register;
  const refuses = (changed: Snapshot): string | undefined => startRefusal(changed, options.flags);
  const lookUpNames: ConfigOptions["lookUpNames"] = async (loaded) => (await import("./plugins/names.ts")).manifestNames(loaded, options);
  const reviewWrite: ConfigOptions["reviewWrite"] = async (write) => (await import("./plugins/names.ts")).manifestRefusals(write, options);
  const config = stack.use(
    await openConfig({ ...options, clock, ids, purpose: "start", onSecret, warn: (text) => warnings.push(text), lookUpNames, refuses, reviewWrite }),
  );
  const snapshot = config.snapshot();
  checkStartGates(snapshot, config.current, options.flags);
  checkSupported(config.current);

  const stateDir = config.paths.state;
  redactor.register(lifetime.runSecret);
  stack.use(registerVariables(config, redactor.register));
  lifetime.lock({ configPath: config.paths.file, stateDir });
  const logging = openLogging({ settings: config.current.logging, stateDir, console: options.console, verbose: options.flags.verbose }, { clock, redactor });
  const { log } = logging;
  stack.defer(() => logging.file.flush());
  logConfig(snapshot, warnings, log.subsystem("config"));
  const lastExit = tellLastExit(stateDir, { clock, log });
  const watchdog = createWatchdog(config.current, { stateDir, pid });
  stack.use(watchdog.monitor);
  let store: Store | undefined;
  let running: OpenGateway | undefined;
  let reload: Reload | undefined;
  const brokenFile = (): string | undefined => (reload ? reload.broken : snapshot.reason);
  let listenProblem: string | undefined;
  const notices = (): readonly string[] => [...(listenProblem === undefined ? [] : [listenProblem]), ...lastExit.notices(), ...noticesOf(running)];
  const health = (): HealthReport => reportHealth({ version, pid, ...since(), config, brokenFile, store, isReady: running !== undefined, notices: notices() });
  // Side by side: the store opens in its own thread. Until all is done, health says "starting" and nothing is accepted.
  const [opened, listening] = await Promise.allSettled([
    openStore({
      stateDir,
      clock,
      thread: options.storeThread,
      watch: watchdog.request,
      sessionIndex: sessionIndexOf(config),
      log: log.subsystem("store").warn,
    }).then((open) => (store = rememberSessions(stack.use(open)))),
    listen({ settings: serverSettings(config, options), log: log.subsystem("gateway"), stateDir, env, early: answerEarly(health) }, lifetime).then((open) => {
      listenProblem = open.problem;
      return stack.use(open.server);
    }),
  ]);
  if (opened.status === "rejected") throw opened.reason;
  if (listening.status === "rejected") throw listening.reason;
  log.debug("the configuration is loaded, the store is open");
  await lastExit.trace(opened.value).catch((error: unknown) => log.warn(`the end of the process before this one could not be noted: ${messageOf(error)}`));
  const failure = Promise.withResolvers<string>();
  stack.use(opened.value.onFailure((found) => failure.resolve(found.message)));
  stack.use(scheduleMaintenance({ store: opened.value, clock, log: log.subsystem("store"), config: () => config.current, stateDir }));
  const restarts = stack.use(createRestarts({ clock, log, pid, restartedAt: lifetime.restartedAt, runs: () => running?.conversation.running() ?? 0 }));
  const notes = restartNotes(stateDir);
  const rooms = { config, store: opened.value, server: listening.value, health, clock, ids, random: systemRandom, log, redactor, env, version };
  const leaveSentinel = (payload: SentinelPayload): Promise<string | null> => notes.leave(payload, rooms);
  const { openGateway } = await import("./open-gateway.ts");
  const logs = { logFile: logging.path, tapLog: logging.tap, rawStream: rawStreamFile(options, stateDir) };
  const own = { runSecret: lifetime.runSecret, monitor: watchdog.monitor, failed: failure.resolve, requestRestart: restarts.request, leaveSentinel };
  const open = await openGateway({ ...rooms, cwd: options.cwd, program: options.program, ...logs, ...own }, stack);
  running = open;
  const { gateway } = open;
  await notes.take({ ...rooms, deliver: open.tell });
  lifetime.announce(gateway.port);
  log.info(`ready on ${gateway.url}`, { version, state: stateDir, log: logging.path() });

  reload = stack.use(followConfig(config, open, { log, logging, restarts }));
  void reload.settle();
  open.plugins.ready();
  void open.channels.start();
  // The first connection finds what it needs loaded.
  void gateway.warm();
  // Clients that waited for the start are let in first: loading holds up the event loop. The first turn waits for it, whenever it comes.
  stack.use(clock.after(FIRST_CLIENTS_MS, () => void open.code.ready()));
  const { promise: failed } = failure;
  return { ...appOf(open, { config, logging, restarts, clock, pid }), ...endOf(open, stack.move(), { clock, log, failed }), log, health, failed };
}

/** Where the list of sessions is written for other programs. */
function sessionIndexOf({ current, paths }: Config): NonNullable<Parameters<typeof openStore>[0]["sessionIndex"]> {
  const store = current.session?.store;
  return store?.trim() ? { path: sessionIndexFile(store, paths, "{agentId}") } : {};
}

interface Running {
  readonly config: Config;
  readonly logging: ReturnType<typeof openLogging>;
  readonly restarts: ReturnType<typeof createRestarts>;
  readonly clock: Clock;
  readonly pid: number;
}

/** What whoever runs the app may ask of it. */
function appOf(
  open: OpenGateway,
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
    // A restore that was left for this process is asked for by the same user, who may stop it too.
    restartBySignal: () => requestBySignal(restarts, findRestoreRequest(config.paths.state, pid, clock.now()) ? {} : config.current, log),
    restartDue: restarts.due,
    flushLog: () => logging.file.flush(),
  };
}

/** What somebody should look at in a gateway that runs. */
function noticesOf(running: OpenGateway | undefined): readonly string[] {
  if (!running) return [];
  return [...running.plugins.missingGuards().map(({ message }) => message), ...running.code.problems()];
}

function logConfig(snapshot: Snapshot, warnings: readonly string[], log: Logger): void {
  for (const text of warnings) log.warn(text);
  for (const issue of snapshot.warnings.filter(({ code }) => code === "unknown-name" || code === "unavailable")) log.warn(formatLocated(issue));
  if (snapshot.source === "last-good") log.error(`running on the last good configuration: ${snapshot.reason}`);
}

/** Has secrets of the environment masked, now and after each change of the configuration. */
function registerVariables(config: Config, register: (secret: string) => void): Disposable {
  const tell = (): void => secretValues(config.env()).forEach(register);
  tell();
  return config.onEvent(tell);
}

/** Does what changes of the configuration ask for. */
function followConfig(
  config: Config,
  { plugins, channels }: OpenGateway,
  { log, logging, restarts }: { readonly log: Logger; readonly logging: ReturnType<typeof openLogging>; readonly restarts: ReturnType<typeof createRestarts> },
): Reload {
  return createReload({
    config,
    log: log.subsystem("config"),
    restarts,
    rooms: { ...FOLLOWERS, plugins: plugins.reload, channels: channels.reload },
    channels: () =>
      plugins
        .registries()
        ?.channels.list()
        .map(({ value }) => value.id) ?? [],
    onChange: ({ logging: changed }) => logging.follow(changed),
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
