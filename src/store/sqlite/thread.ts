import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { AppError } from "../../base/errors.ts";

/** Where a bundle keeps the thread's file, seen from where this code may have been put. */
const BUNDLED = ["./store-worker.js", "../store-worker.js", "../../store-worker.js"];

function threadFile(): URL {
  if (import.meta.url.endsWith(".ts")) return new URL("./worker.ts", import.meta.url);
  for (const place of BUNDLED) {
    const url = new URL(place, import.meta.url);
    if (existsSync(url)) return url;
  }
  throw new AppError("UNAVAILABLE", `store-worker.js is missing beside ${import.meta.url}; the installation is incomplete, install it again`);
}

/**
 * Starts a thread of the store, which then waits to be told what to open. Its young generation is kept small: it holds messages for a moment and
 * little else.
 */
export function startThread(): Worker {
  return new Worker(threadFile(), { name: "store", execArgv: [], resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 1024 } });
}
