import type { Worker } from "node:worker_threads";
import { AppError, messageOf } from "../../base/errors.ts";
import type { Clock } from "../../base/clock.ts";
import type { ReadKind } from "../areas/index.ts";
import { errorFrom } from "./failure.ts";
import type { OpenRequest, Reply } from "./messages.ts";
import { startThread } from "./thread.ts";
import { createWaiting } from "./waiting.ts";

/** How long the reader thread stays after its last request. */
const IDLE_MS = 30_000;

/** The second thread, for long reads. It is started by the first of them and ended when idle for a while. */
export interface HeavyReads extends AsyncDisposable {
  read(kind: ReadKind, input: unknown): Promise<unknown>;
}

interface Reader {
  readonly worker: Worker;
  readonly gone: Promise<void>;
}

export function createHeavyReads(deps: { readonly file: string; readonly stateDir: string; readonly clock: Clock }): HeavyReads {
  const waiting = createWaiting(() => 0);
  let reader: Reader | undefined;
  let idle: Disposable | undefined;

  function lost(worker: Worker, reason: string): void {
    if (reader?.worker !== worker) return;
    reader = undefined;
    waiting.rejectAll(() => new AppError("UNAVAILABLE", `the thread for long reads ended (${reason}); ask again`));
  }

  function start(): Reader {
    const worker = startThread();
    worker.postMessage({ type: "open", mode: "read", file: deps.file, stateDir: deps.stateDir, now: deps.clock.now() } satisfies OpenRequest);
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    worker.on("message", (reply: Reply) => {
      if (reply.type === "settled") waiting.settle(reply.settled);
      if (reply.type === "refused") waiting.rejectAll(() => errorFrom(reply.error));
      if (waiting.size === 0) rest();
    });
    worker.on("error", (error) => lost(worker, messageOf(error)));
    worker.on("exit", (code) => {
      lost(worker, `exit code ${code}`);
      resolve();
    });
    return { worker, gone };
  }

  function rest(): void {
    reader?.worker.unref();
    idle?.[Symbol.dispose]();
    idle = deps.clock.after(IDLE_MS, () => void stop());
  }

  async function stop(): Promise<void> {
    const ending = reader;
    reader = undefined;
    idle?.[Symbol.dispose]();
    if (!ending) return;
    ending.worker.ref();
    ending.worker.postMessage({ type: "close", id: 0 });
    await ending.gone;
  }

  return {
    read(kind, input) {
      reader ??= start();
      idle?.[Symbol.dispose]();
      reader.worker.ref();
      const { id, promise } = waiting.add<unknown>(0, false);
      try {
        reader.worker.postMessage({ type: "batch", commits: [], reads: [[id, kind, input]] });
      } catch (error) {
        waiting.reject(id, new AppError("INVALID_INPUT", `the question ${kind} cannot be sent: ${messageOf(error)}`));
      }
      return promise;
    },
    async [Symbol.asyncDispose]() {
      await waiting.drained();
      await stop();
    },
  };
}
