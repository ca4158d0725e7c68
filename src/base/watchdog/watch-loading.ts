import { existsSync, writeSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { createLoopMonitor, viewLoop, type LoopMonitor } from "./loop-monitor.ts";
import { mainStack } from "./main-stack.ts";
import { createBlockCounter, suspectOf } from "./watch-main-thread.ts";

/** What the watching thread needs. Crosses threads as it is. */
export interface LoadWatch {
  readonly buffer: SharedArrayBuffer;
  /** The process is ended when its event loop has not turned for this long. */
  readonly limitSeconds: number;
}

/** Begins the line on the error output that names the plugin, for a process that started this one. */
export const BLOCKED_MARK = "error: blocked while loading plugins: ";

const TICK_MS = 1000;
/** Where a bundle has the thread's file, relative to where this code may be. */
const BUNDLED = ["./load-thread.js", "../load-thread.js", "../../load-thread.js"];

function threadFile(): URL | undefined {
  if (import.meta.url.endsWith(".ts")) return new URL("./load-thread.ts", import.meta.url);
  return BUNDLED.map((place) => new URL(place, import.meta.url)).find((url) => existsSync(url));
}

const isDebugged = (): boolean => process.execArgv.some((arg) => arg.startsWith("--inspect"));

/**
 * Ends this process when a plugin blocks it while plugins are loaded, with a line that names the plugin. A command has no supervisor: without this it would
 * hang for ever. Disposing stops the watch.
 */
export function watchLoading(limitSeconds: number): { readonly monitor: LoopMonitor } & Disposable {
  const monitor = createLoopMonitor();
  const file = isDebugged() ? undefined : threadFile();
  const workerData: LoadWatch = { buffer: monitor.buffer, limitSeconds };
  const worker = file && new Worker(file, { name: "load-watch", workerData, execArgv: [], env: {} });
  worker?.unref();
  // Without the thread a plugin that blocks is not noticed; everything else goes on.
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
    const place = at === undefined ? "" : ` (${at})`;
    const message =
      pluginId === undefined
        ? `nothing ran for ${seconds} s while plugins were loaded${place}`
        : `the plugin ${pluginId} has blocked this process for ${seconds} s in ${what ?? "its code"}${place}`;
    writeSync(2, `${BLOCKED_MARK}${message}; run: openclaw plugins doctor\n`);
    process.kill(process.pid, "SIGKILL");
  }

  setInterval(() => {
    const judged = counter.tick(performance.now(), view.heartbeat());
    if (judged.kind === "end" && !ending) void end(judged.seconds);
  }, TICK_MS);
}
