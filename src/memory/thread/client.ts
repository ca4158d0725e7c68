import { Worker } from "node:worker_threads";
import { existsSync } from "node:fs";
import type { Clock } from "../../base/clock.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { FromThread, RequestKind, Requests, ToThread } from "./messages.ts";

/** The caller's side of the thread: it runs while it is asked, and ends when it has been idle for a while. */
export interface ThreadClient extends AsyncDisposable {
  readonly isRunning: boolean;
  ask<K extends RequestKind>(
    kind: K,
    request: Pick<Extract<ToThread, { type: "request" }>, "settings" | "embeddings">,
    input: Requests[K]["input"],
  ): Promise<Requests[K]["result"]>;
  /** Notes something, if the thread runs: one that starts later sees it by itself. */
  post(message: Exclude<ToThread, { type: "request" | "close" }>): void;
}

export interface ThreadClientDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly onUsage: (message: Extract<FromThread, { type: "usage" }>) => void;
}

/** Opening an index again takes some milliseconds. */
const IDLE_MS = 10 * 60_000;

interface Pending {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

/** Where a bundle has the thread's file, relative to the chunk that contains this code. */
const BUNDLED = ["./memory-worker.js", "../memory-worker.js", "../../memory-worker.js"];

function threadFile(): URL {
  if (import.meta.url.endsWith(".ts")) return new URL("./worker.ts", import.meta.url);
  for (const path of BUNDLED) {
    const url = new URL(path, import.meta.url);
    if (existsSync(url)) return url;
  }
  throw new AppError("UNAVAILABLE", `memory-worker.js is missing beside ${import.meta.url}; the installation is incomplete, reinstall it`);
}

/** Starts the thread of the memory. It opens an index when it is first asked about one. */
const startThread = (): Worker => new Worker(threadFile(), { name: "memory", resourceLimits: { maxOldGenerationSizeMb: 512 } });

export function createThreadClient({ clock, log, onUsage }: ThreadClientDeps): ThreadClient {
  let worker: Worker | undefined;
  let idle: Disposable | undefined;
  let closed = false;
  let lastId = 0;
  const pending = new Map<number, Pending>();

  function lost(which: Worker, why: string): void {
    if (worker !== which) return;
    worker = undefined;
    for (const { reject } of pending.values()) reject(new AppError("UNAVAILABLE", `the memory thread ended (${why}); try again`));
    pending.clear();
  }

  function start(): Worker {
    const started = startThread();
    started.on("message", (message: FromThread) => {
      if (message.type === "notice") return log.warn(message.message);
      if (message.type === "usage") return onUsage(message);
      const waiting = pending.get(message.id);
      pending.delete(message.id);
      if (message.type === "answer") waiting?.resolve(message.result as never);
      else waiting?.reject(new AppError(message.code, message.message));
      if (pending.size === 0) rest();
    });
    started.on("error", (error) => {
      log.error(`the memory thread failed: ${messageOf(error)}`);
      lost(started, messageOf(error));
    });
    started.on("exit", (code) => lost(started, `exit code ${code}`));
    return started;
  }

  function rest(): void {
    worker?.unref();
    idle?.[Symbol.dispose]();
    idle = clock.after(IDLE_MS, () => void stop());
  }

  async function stop(): Promise<void> {
    const ending = worker;
    worker = undefined;
    idle?.[Symbol.dispose]();
    if (!ending) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    ending.once("exit", () => resolve());
    ending.ref();
    ending.postMessage({ type: "close" } satisfies ToThread);
    await promise;
  }

  return {
    get isRunning() {
      return worker !== undefined;
    },
    ask(kind, request, input) {
      if (closed) return Promise.reject(new AppError("UNAVAILABLE", "the memory is closed"));
      const asked = (worker ??= start());
      idle?.[Symbol.dispose]();
      asked.ref();
      lastId += 1;
      const id = lastId;
      return new Promise((resolve, reject) => {
        pending.set(id, { resolve, reject });
        asked.postMessage({ type: "request", id, kind, ...request, input } satisfies ToThread);
      });
    },
    post: (message) => worker?.postMessage(message),
    async [Symbol.asyncDispose]() {
      closed = true;
      await stop();
    },
  };
}
