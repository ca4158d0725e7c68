import { homedir } from "node:os";
import type { App } from "../../../app/index.ts";
import { warmUpStore, type StoreThread } from "../../../store/index.ts";
import { defineCommand, type Values } from "../../command.ts";
import type { Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { parsePort } from "./port.ts";

/** What was accepted is finished within this time; after it the process ends anyway and goes on after the restart. */
const GRACE_MS = 10_000;

const OPTIONS = {
  port: { type: "string", value: "n", help: "listen on this port (default 18789; 0 takes a free one)" },
  "allow-unconfigured": { type: "boolean", help: "start without a configuration file, or without gateway.mode=local" },
  verbose: { type: "boolean", help: "show debug lines" },
} as const;

type End = { readonly code: number; readonly why: string };

interface Ending {
  /** Resolves when the gateway shall end: asked by a signal, or because it cannot be trusted any more. */
  readonly asked: Promise<End>;
  /** From now on this gateway is meant. */
  attach(app: App): void;
}

/** Listens for signals from the first moment on, so that none is lost while the gateway starts. */
function listenForEnd(): Ending {
  const { promise, resolve } = Promise.withResolvers<End>();
  let running: App | undefined;
  const ask = (signal: string) => (): void => {
    // A second request means: now, without our handler. `process.exit` would wait for a thread that hangs in a call to the disk.
    process.once("SIGINT", () => process.kill(process.pid, "SIGINT"));
    resolve({ code: 0, why: signal });
  };
  process.once("SIGINT", ask("SIGINT"));
  process.once("SIGTERM", ask("SIGTERM"));
  // A closed terminal ends what ran in it; a service is told to read its configuration again.
  if (process.stdin.isTTY) process.once("SIGHUP", ask("SIGHUP"));
  else process.on("SIGHUP", () => running?.reload());
  return {
    asked: promise,
    attach(app) {
      running = app;
      void app.failed.then((reason) => resolve({ code: 1, why: reason }));
    },
  };
}

async function stop(app: App, end: End, io: Io): Promise<void> {
  const style = createStyle(io.color);
  if (end.code !== 0) io.err(`${style.red("stopping:")} ${end.why}\n`);
  const timer = setTimeout(() => {
    io.err("the gateway did not end in time; what was accepted goes on after the next start\n");
    process.kill(process.pid, "SIGKILL");
  }, GRACE_MS);
  timer.unref();
  await app[Symbol.asyncDispose]();
  clearTimeout(timer);
}

async function start(io: Io, storeThread: StoreThread, values: Values<typeof OPTIONS>): Promise<App> {
  const { createApp } = await import("../../../app/index.ts");
  return createApp({
    env: io.env,
    cwd: io.cwd,
    osHome: homedir(),
    version: io.version,
    pid: process.pid,
    storeThread,
    console: { write: io.out, color: io.color, terminal: process.stdout.isTTY },
    flags: { port: parsePort(values.port), allowUnconfigured: values["allow-unconfigured"] ?? false, verbose: values.verbose ?? false },
  });
}

export const run = defineCommand({
  options: OPTIONS,
  examples: [
    { line: "openclaw gateway", does: "run until Ctrl-C" },
    { line: "openclaw gateway --port 0 --verbose", does: "on a free port, with debug lines" },
  ],
  async run({ io, values }) {
    const ending = listenForEnd();
    // Threads take long to start; this one does so while the rest of the gateway is loaded.
    const storeThread = warmUpStore();
    const app = await start(io, storeThread, values).catch(async (error: unknown) => {
      await storeThread.terminate();
      throw error;
    });
    ending.attach(app);
    const end = await ending.asked;
    await stop(app, end, io);
    // Whatever still holds the event loop must not keep a stopped gateway alive.
    process.exit(end.code);
  },
});
