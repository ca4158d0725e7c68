import type { Worker } from "node:worker_threads";
import type { Clock } from "../../base/clock.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import type { ReadKind } from "../areas/index.ts";
import type { OpenRequest, Reply } from "../messages.ts";
import { errorFrom } from "../sqlite/failure.ts";
import { createRequests } from "./requests.ts";
import { startThread } from "./start-thread.ts";

/** Reads that walk many rows: they go to a thread of their own, so that no commit waits for them. */
const LONG_READS: ReadonlySet<ReadKind> = new Set<ReadKind>([
  "inbox.find",
  "inbox.recent",
  "inbox.arrivals",
  "outbox.recent",
  "sessions.list",
  "sessions.shown",
  "transcripts.list",
  "transcripts.positions",
  "usage.totals",
  "usage.outcomes",
  "usage.bySession",
  "usage.points",
  "cron.slot.outcomes",
  "imports.list",
]);

/** This few rows are read faster than a thread is started. */
const FEW_ROWS = 50;
/** This many are skipped in well under a millisecond. */
const NEAR_ROWS = 1000;
/** The first page of a list of conversations. */
const FIRST_SHOWN = 64;

/** True when a read goes to the thread for long reads. */
export function isLong(kind: ReadKind, input: unknown): boolean {
  const { limit, search, offset, endedSince }: Readonly<Record<string, unknown>> = isRecord(input) ? input : {};
  // Sub-agents of all sessions; those of one session are found by an index.
  if (kind === "subagents.list") return endedSince !== undefined;
  if (!LONG_READS.has(kind)) return false;
  const few = kind === "sessions.list" ? FEW_ROWS : kind === "sessions.shown" ? FIRST_SHOWN : 0;
  const isNear = offset === undefined || (typeof offset === "number" && offset <= NEAR_ROWS);
  return !(typeof limit === "number" && limit <= few && search === undefined && isNear);
}

/** How long the reader thread stays after its last request. */
const IDLE_MS = 30_000;

/** The second thread, for long reads. It is started by the first of them and ended when idle for a while. */
export interface LongReads extends AsyncDisposable {
  read<T>(kind: ReadKind, input: unknown): Promise<T>;
}

interface Reader {
  readonly worker: Worker;
  readonly gone: Promise<void>;
}

export function createLongReads(deps: { readonly file: string; readonly stateDir: string; readonly clock: Clock }): LongReads {
  let reader: Reader | undefined;
  let idle: Disposable | undefined;
  const requests = createRequests(
    (request) => reader?.worker.postMessage(request),
    () => 0,
  );

  function lost(worker: Worker, reason: string): void {
    if (reader?.worker !== worker) return;
    reader = undefined;
    requests.rejectAll(() => new AppError("UNAVAILABLE", `the thread for long reads ended (${reason}); try again`));
  }

  function start(): Reader {
    const worker = startThread();
    worker.postMessage({ type: "open", mode: "read", file: deps.file, stateDir: deps.stateDir, now: deps.clock.now() } satisfies OpenRequest);
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    worker.on("message", (reply: Reply) => {
      if (reply.type === "settled") requests.settle(reply.settled);
      if (reply.type === "refused") requests.rejectAll(() => errorFrom(reply.error));
      if (requests.size === 0) rest();
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
      return requests.read(kind, input);
    },
    async [Symbol.asyncDispose]() {
      await requests.drained();
      await stop();
    },
  };
}
