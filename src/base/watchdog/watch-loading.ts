import { existsSync, writeSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { createLoopMonitor, viewLoop, type LoopMonitor } from "./loop-monitor.ts";
import { mainStack } from "./main-stack.ts";
import { createBlockCounter, suspectOf } from "./watch-main-thread.ts";

/** Input of the watching thread. Has to be cloneable between threads. */
export interface LoadWatch {
  readonly buffer: SharedArrayBuffer;
  /** The process is killed when its event loop has been blocked for this long. */
  readonly limitSeconds: number;
}

/** Prefix of the line on stderr that names the plugin, for the parent process. */
export const BLOCKED_MARK = "error: blocked while loading plugins: ";

const TICK_MS = 1000;
/** Possible locations of the thread's file in a bundle, relative to this code. */
const BUNDLED = ["./load-thread.js", "../load-thread.js", "../../load-thread.js"];

function threadFile(): URL | undefined {
  if (import.meta.url.endsWith(".ts")) return new URL("./load-thread.ts", import.meta.url);
  return BUNDLED.map((path) => new URL(path, import.meta.url)).find((url) => existsSync(url));
}

const isDebugged = (): boolean => process.execArgv.some((arg) => arg.startsWith("--inspect"));

/**
 * Kills this process when a plugin blocks it during loading, after printing a line that names the plugin. A command has no supervisor, so without this it
 * would hang forever. Disposing stops the watch.
 */
export function watchLoading(limitSeconds: number): { readonly monitor: LoopMonitor } & Disposable {
  const monitor = createLoopMonitor();
  const file = isDebugged() ? undefined : threadFile();
  const workerData: LoadWatch = { buffer: monitor.buffer, limitSeconds };
  const worker = file && new Worker(file, { name: "load-watch", workerData, execArgv: [], env: {} });
  worker?.unref();
  // Without the thread, a blocking plugin is not detected; everything else still works.
  worker?.on("error", () => {});
  return {
    monitor,
    [Symbol.dispose]() {
      monitor[Symbol.dispose]();
      void worker?.terminate();
    },
  };
}

/** Runs in the watching thread. */
export function endBlockedCommand({ buffer, limitSeconds }: LoadWatch): void {
  const view = viewLoop(buffer);
  const counter = createBlockCounter({ warnSeconds: 0, limitSeconds, graceSeconds: limitSeconds });
  let ending = false;

  async function end(seconds: number): Promise<void> {
    ending = true;
    const { pluginId, what, at } = suspectOf(view, await mainStack());
    const position = at === undefined ? "" : ` (${at})`;
    const message =
      pluginId === undefined
        ? `nothing ran for ${seconds} s while plugins were loading${position}`
        : `the plugin ${pluginId} has blocked this process for ${seconds} s in ${what ?? "its code"}${position}`;
    writeSync(2, `${BLOCKED_MARK}${message}; run: openclaw plugins doctor\n`);
    process.kill(process.pid, "SIGKILL");
  }

  setInterval(() => {
    const outcome = counter.tick(performance.now(), view.heartbeat());
    if (outcome.kind === "end" && !ending) void end(outcome.seconds);
  }, TICK_MS);
}
