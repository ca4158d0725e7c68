import { systemClock } from "../base/clock.ts";
import { createIds } from "../base/ids.ts";
import { systemRandom } from "../base/random.ts";
import { createRedactor } from "../base/redaction.ts";
import type { Logger } from "../base/log/logger.ts";
import { gatewayPort, openConfig, type Config, type ConfigEvent, type Env } from "../config/index.ts";
import { answerEarly, openServer, settingsFrom, type HealthReport, type ServerSettings } from "../gateway/index.ts";
import { openStore, type Store, type StoreThread } from "../store/index.ts";
import { reportHealth } from "./health.ts";
import { openLogging, type LoggingOptions } from "./logging.ts";
import { scheduleMaintenance } from "./maintenance.ts";
import { checkStartGates, checkSupported } from "./start-gates.ts";
import { acquireStateLock } from "./state-lock.ts";

export interface AppOptions {
  readonly env: Env;
  readonly cwd: string;
  readonly osHome: string;
  readonly version: string;
  readonly pid: number;
  readonly console: LoggingOptions["console"];
  /** The store's thread, when it was started ahead. */
  readonly storeThread?: StoreThread | undefined;
  readonly flags: {
    readonly port?: number | undefined;
    readonly allowUnconfigured: boolean;
    readonly verbose: boolean;
  };
}

export interface App extends AsyncDisposable {
  readonly url: string;
  health(): HealthReport;
  /** Reads the configuration again now. */
  reload(): void;
  /** Resolves with the reason when the gateway can no longer be trusted and must end. */
  readonly failed: Promise<string>;
}

/** Builds every room and returns when it is ready. What was built is taken down again, last first, when something fails or at the end. */
export async function createApp(options: AppOptions): Promise<App> {
  await using stack = new AsyncDisposableStack();
  const clock = systemClock;
  const ids = createIds(systemRandom);
  const redactor = createRedactor();
  const startedAt = clock.now();

  const warnings: string[] = [];
  const config = stack.use(await openConfig({ ...options, clock, ids, purpose: "start", onSecret: redactor.register, warn: (text) => warnings.push(text) }));
  const snapshot = config.snapshot();
  checkStartGates(snapshot, config.current, options.flags);
  checkSupported(config.current);

  const stateDir = config.paths.state;
  const runSecret = ids.hex(32);
  redactor.register(runSecret);
  const lock = stack.use(acquireStateLock({ configPath: config.paths.file, stateDir, runSecret }, options.env, { clock, pid: options.pid }));
  const logging = openLogging({ settings: config.current.logging, stateDir, console: options.console, verbose: options.flags.verbose }, { clock, redactor });
  const { log } = logging;
  stack.defer(() => logging.file.flush());
  for (const text of warnings) log.room("config").warn(text);
  if (snapshot.source === "last-good") log.room("config").error(`running on the last good configuration: ${snapshot.reason}`);

  let store: Store | undefined;
  let broken = snapshot.source === "last-good" ? snapshot.reason : undefined;
  const health = (): HealthReport => reportHealth({ ...options, startedAt, now: clock.now, config, brokenFile: () => broken, store });
  // Side by side: the store opens in its own thread. Until all is done, health says "starting" and nothing is accepted.
  const [opened, listening] = await Promise.allSettled([
    openStore({ stateDir, clock, thread: options.storeThread, log: (message, details) => log.room("store").warn(message, details) }).then(
      (open) => (store = stack.use(open)),
    ),
    openServer({ settings: serverSettings(config, options), log: log.room("gateway"), stateDir, env: options.env, early: answerEarly(health) }).then((open) =>
      stack.use(open),
    ),
  ]);
  if (opened.status === "rejected") throw opened.reason;
  if (listening.status === "rejected") throw listening.reason;
  log.debug("the configuration is loaded, the store is open");
  const failure = Promise.withResolvers<string>();
  stack.use(opened.value.onFailure((found) => failure.resolve(found.message)));
  stack.use(scheduleMaintenance({ store: opened.value, clock, log: log.room("store"), config: () => config.current }));
  const { env, version } = options;
  const { openGateway } = await import("./open-gateway.ts");
  const gateway = await openGateway(
    { config, store: opened.value, server: listening.value, health, clock, ids, random: systemRandom, log, env, version, runSecret, logFile: logging.path },
    stack,
  );
  lock.announce(gateway.port);
  log.info(`ready on ${gateway.url}`, { version: options.version, state: stateDir, log: logging.path() });

  stack.use(config.onEvent((event) => (broken = takeEvent(event, log.room("config"), config))));
  void settle(config, log.room("config"));
  // The first connection finds what it needs loaded.
  void gateway.warm();
  const kept = stack.move();
  return {
    url: gateway.url,
    health,
    reload: () => void config.reload(),
    failed: failure.promise,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Where to listen: the flag, the environment, the file, the default. */
function serverSettings(config: Config, { env, flags }: AppOptions): ServerSettings {
  const gateway = config.current.gateway ?? {};
  const { mode } = settingsFrom(config.current, env);
  return { port: gatewayPort(env, { flag: flags.port, config: gateway.port }), bind: gateway.bind, tls: gateway.tls, authMode: mode };
}

/** After the start: what works is remembered, and the file is followed from now on. */
async function settle(config: Config, log: Logger): Promise<void> {
  await config.keepAsGood().catch((error: unknown) => log.warn("the configuration could not be kept as the last good one", { error }));
  try {
    await config.watch();
  } catch (error) {
    log.warn("the configuration file cannot be followed; changes need a restart", { error });
  }
}

/** Says what a change of the file means. Gives the reason why the file is not used, if it is not. */
function takeEvent(event: ConfigEvent, log: Logger, config: Config): string | undefined {
  if (event.kind === "invalid") {
    log.error(event.message);
    return `${event.snapshot.path} is broken; the configuration before it stays in use:\n${event.message}`;
  }
  const { paths, actions, ignored } = event.plan;
  if (ignored !== undefined) log.warn(ignored);
  log.info(`configuration changed: ${paths.join(", ")}`, actions.length > 0 ? { actions } : {});
  if (actions.some((action) => action.kind === "process")) log.warn("these changes take effect when the gateway is started again");
  void config.keepAsGood().catch((error: unknown) => log.warn("the configuration could not be kept as the last good one", { error }));
  return undefined;
}
