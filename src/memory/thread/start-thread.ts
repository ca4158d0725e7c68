import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { AppError } from "../../base/errors.ts";

/** Where a bundle has the thread's file, relative to the chunk that contains this code. */
const BUNDLED = ["./memory-worker.js", "../memory-worker.js", "../../memory-worker.js"];

function threadFile(): URL {
  if (import.meta.url.endsWith(".ts")) return new URL("./worker.ts", import.meta.url);
  for (const path of BUNDLED) {
    const url = new URL(path, import.meta.url);
    if (existsSync(url)) return url;
  }
  throw new AppError("UNAVAILABLE", `memory-worker.js is missing beside ${import.meta.url}; the installation is incomplete, install it again`);
}

/** Starts the thread of the memory. It opens an index when it is first asked about one. */
export const startThread = (): Worker => new Worker(threadFile(), { name: "memory", resourceLimits: { maxOldGenerationSizeMb: 512 } });
