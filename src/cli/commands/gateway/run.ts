import type { App, AppOptions, Lifetime } from "../../../app/index.ts";
import type { Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { homedir } from "node:os";
import { isatty } from "node:tty";
import { AppError, messageOf } from "../../../base/errors.ts";
import { warmUpStore } from "../../../store/index.ts";
import { defineCommand, type Values } from "../../command.ts";
import { showFailure } from "../../failure.ts";
import { ownArguments } from "../../own-arguments.ts";
import { alreadyRunning, greet } from "./greeting.ts";
import { parsePort } from "./port.ts";

/** Longer than the grace of what runs and of what is being sent; after it the process ends anyway, and what was accepted goes on after the restart. */
const END_MS = 13_000;
/** Longer than every limit of a gateway that closes for a restart. */
const RESTART_CLOSE_MS = 40_000;

const OPTIONS = {
  port: { type: "string", value: "n", help: "Port to listen on (default 18789, 0 for any free port)" },
  "allow-unconfigured": { type: "boolean", help: "Start without a configuration file or gateway.mode=local" },
  open: { type: "boolean", help: "Open the Control UI in your browser; not over SSH, in CI or without a display" },
  verbose: { type: "boolean", help: "Show debug log lines" },
  "raw-stream": { type: "boolean", help: "Record everything model providers send in a file" },
  "raw-stream-path": { type: "string", value: "file", help: "Recording file (default logs/raw-stream.jsonl in the state folder); implies --raw-stream" },
} as const;

type End = { readonly code: number; readonly why: string };

interface Ending {
  /** Resolves when the gateway shall end: asked by a signal, or because it cannot be trusted any more. */
  readonly asked: Promise<End>;
  /** What `asked` resolved with, if it has. */
  readonly end: End | undefined;
  /** From now on this gateway is meant, or none. */
  attach(app: App | undefined): void;
}

/** Listens for signals from the first moment on, so that none is lost while the gateway starts. */
function listenForEnd(): Ending {
  const { promise, resolve } = Promise.withResolvers<End>();
  let running: App | undefined;
  let end: End | undefined;
  const finish = (next: End): void => {
    end ??= next;
    resolve(end);
  };
  const ask = (signal: string) => (): void => {
    // A second request means: now, without our handler. `process.exit` would wait for a thread that hangs in a call to the disk.
    process.once("SIGINT", () => process.kill(process.pid, "SIGINT"));
    finish({ code: 0, why: signal });
  };
  process.once("SIGINT", ask("SIGINT"));
  process.once("SIGTERM", ask("SIGTERM"));
  // A closed terminal ends what ran in it; a service reloads its configuration.
  // Asked of the system: to open the standard input takes milliseconds, and nothing reads it.
  if (isatty(0)) process.once("SIGHUP", ask("SIGHUP"));
  else process.on("SIGHUP", () => running?.reload());
  // While no gateway runs one is being opened, on the configuration as it is: there is nothing to restart.
  process.on("SIGUSR1", () => running?.restartBySignal());
  return {
    asked: promise,
    get end() {
      return end;
    },
    attach(app) {
      running = app;
      void app?.failed.then((reason) => finish({ code: 1, why: reason }));
    },
  };
}

/** Ends the process the hard way when something takes longer than it may. */
function guardTime(ms: number, message: string, io: Io): Disposable {
  const timer = setTimeout(() => {
    io.err(`${message}\n`);
    process.kill(process.pid, "SIGKILL");
  }, ms);
  timer.unref();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

async function stop(app: App, end: End, io: Io): Promise<void> {
  const style = createStyle(io.color);
  if (end.code !== 0) io.err(`${style.red("stopping:")} ${end.why}\n`);
  using _ = guardTime(END_MS, "The gateway did not stop in time. Accepted messages resume after the next start", io);
  await app[Symbol.asyncDispose]();
}

function optionsOf(io: Io, lifetime: Lifetime, values: Values<typeof OPTIONS>): AppOptions {
  return {
    env: io.env,
    cwd: io.cwd,
    osHome: homedir(),
    version: io.version,
    pid: process.pid,
    program: ownArguments(),
    lifetime,
    console: { write: (text) => io.out(io.runnable(text)), color: io.color, terminal: process.stdout.isTTY },
    flags: {
      port: parsePort(values.port),
      allowUnconfigured: values["allow-unconfigured"] ?? false,
      verbose: values.verbose ?? false,
      ...rawStreamFlags(io, values),
    },
  };
}

/** The flags, else the variables that a service sets instead. */
function rawStreamFlags({ env }: Io, values: Values<typeof OPTIONS>): Pick<AppOptions["flags"], "rawStream" | "rawStreamPath"> {
  const rawStreamPath = values["raw-stream-path"] ?? (env["OPENCLAW_RAW_STREAM_PATH"]?.trim() || undefined);
  const wanted = /^(?:1|true|yes|on)$/i.test(env["OPENCLAW_RAW_STREAM"]?.trim() ?? "");
  return { rawStream: (values["raw-stream"] ?? wanted) || values["raw-stream-path"] !== undefined, rawStreamPath };
}

type Create = (options: AppOptions) => Promise<App>;

/** Takes the gateway down and opens it again, in this process. Nothing comes back when the process is to end meanwhile. */
async function reopen(app: App, reason: string, io: Io, options: AppOptions, ending: Ending, create: Create): Promise<App | undefined> {
  ending.attach(undefined);
  app.log.info(`restarting: ${reason}`);
  try {
    {
      using _ = guardTime(RESTART_CLOSE_MS, "The gateway could not be stopped for its restart. Accepted messages resume after the next start", io);
      await app.closeForRestart();
    }
    options.lifetime.restarting();
    if (ending.end) return undefined;
    const { openAgain } = await import("./reopen.ts");
    return await openAgain(app, options, create);
  } catch (error) {
    const message = `the gateway could not start again after a restart (${reason}): ${messageOf(error)}`;
    app.log.fatal(message);
    await app.flushLog();
    throw new AppError(error instanceof AppError ? error.code : "INTERNAL", message, { cause: error });
  }
}

/** Runs gateways, one after the other, until the process shall end. */
async function serve(io: Io, values: Values<typeof OPTIONS>): Promise<End> {
  const ending = listenForEnd();
  // Threads take long to start; this one does so while the rest of the gateway is loaded.
  const storeThread = warmUpStore();
  const { createApp, createProcessLifetime } = await import("../../../app/index.ts");
  using lifetime = createProcessLifetime(io.env, process.pid);
  const options = optionsOf(io, lifetime, values);
  // Asked to end before it is ready: what still starts, plugins above all, has no more time than a stop.
  let isStarting = true;
  void ending.asked.then(() => isStarting && guardTime(END_MS, "The gateway was asked to stop while starting and did not stop in time", io));
  let app: App | undefined = await createApp({ ...options, storeThread }).catch(async (error: unknown) => {
    await storeThread.terminate();
    throw error;
  });
  isStarting = false;
  let opens = values.open ?? false;
  while (app) {
    ending.attach(app);
    greet(app, io, { terminal: process.stdout.isTTY, opens });
    opens = false;
    const next: End | string = await Promise.race([ending.asked, app.restartDue]);
    if (typeof next === "string" && !ending.end) app = await reopen(app, next, io, options, ending, createApp);
    else {
      await stop(app, await ending.asked, io);
      break;
    }
  }
  return ending.asked;
}

/** Runs a gateway in this process until it is asked to stop, then ends the process. */
export async function runGateway(io: Io, values: Values<typeof OPTIONS>): Promise<never> {
  const { code } = await serve(io, values).catch(async (error: unknown) => {
    const shown = values.open || io.interactive ? await alreadyRunning(error, io) : undefined;
    return { code: shown ?? showFailure(error, io, false) };
  });
  // Whatever still holds the event loop must not keep a stopped gateway alive.
  process.exit(code);
}

export const run = defineCommand({
  options: OPTIONS,
  examples: [
    { line: "openclaw gateway", does: "Run until Ctrl-C" },
    { line: "openclaw gateway --port 0 --verbose", does: "Any free port, with debug log lines" },
  ],
  run: ({ io, values }) => runGateway(io, values),
});
