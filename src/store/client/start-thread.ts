import { existsSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";
import { AppError, systemCode } from "../../base/errors.ts";
import { SIGNAL_FLAGS } from "../../base/runtime-internals.ts";

/** Where a bundle has the thread's file, relative to the chunk that contains this code. */
const BUNDLED = ["./store-worker.js", "../store-worker.js", "../../store-worker.js"];

function threadFile(): URL {
  if (import.meta.url.endsWith(".ts")) return new URL("../thread/worker.ts", import.meta.url);
  for (const path of BUNDLED) {
    const url = new URL(path, import.meta.url);
    if (existsSync(url)) return url;
  }
  throw new AppError("UNAVAILABLE", `store-worker.js is missing beside ${import.meta.url}; the installation is incomplete, install it again`);
}

/** A started store thread that has nothing open yet. Pass it to `openStore`, or end it with `terminate()`. */
export type StoreThread = Worker;

/**
 * Starts a thread of the store, which then waits for its `open` message. Its young generation is small: it holds messages for a moment and
 * little else.
 */
export function startThread(): StoreThread {
  // A size on the command line overrides the limits of every thread started after it. The main thread has read it; 0 is V8's default.
  setFlagsFromString("--max-semi-space-size=0");
  const options = { name: "store", resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 1024 } };
  try {
    // It also watches the main thread, and receives signals for that.
    return new Worker(threadFile(), { ...options, execArgv: [...SIGNAL_FLAGS] });
  } catch (error) {
    if (systemCode(error) !== "ERR_WORKER_INVALID_EXEC_ARGV") throw error;
    return new Worker(threadFile(), { ...options, execArgv: [] });
  }
}
