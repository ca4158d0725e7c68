import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { AppError, messageOf } from "../../base/errors.ts";
import type { Clock } from "../../base/clock.ts";
import type { ReadKind, Write } from "../areas/index.ts";
import { resolveRetention, type MaintenanceReport } from "../retention.ts";
import type { CommitOptions, Store } from "../store.ts";
import { errorFrom } from "./failure.ts";
import { isHeavy, type OpenRequest, type Reply } from "./messages.ts";
import { createHeavyReads } from "./reads.ts";
import { createSender, type Control, type Sender } from "./sender.ts";
import { createStoreStatus, type StoreStatus } from "./status.ts";
import { startThread } from "./thread.ts";
import { createWaiting, roughBytes, type WaitingRequests } from "./waiting.ts";

/** Name of the database in the state folder. */
export const DATABASE_FILE = "openclaw.db";

export interface SqliteOptions {
  readonly stateDir: string;
  readonly clock: Clock;
  /** A thread that was started earlier. */
  readonly thread?: Worker | undefined;
  readonly watch?: OpenRequest["watch"];
  readonly sessionIndex?: OpenRequest["sessionIndex"];
  readonly log?: (message: string, details?: Readonly<Record<string, unknown>>) => void;
  /** Commits that may wait for their fsync; the next one is refused with `OVERLOADED`. Default 4096. */
  readonly maxWaiting?: number;
  /** Roughly the bytes that may wait. Default 64 MiB; a commit larger than that passes when nothing else waits. */
  readonly maxWaitingBytes?: number;
}

interface Parts {
  readonly options: SqliteOptions;
  readonly standing: StoreStatus;
  readonly waiting: WaitingRequests;
  readonly sender: Sender;
  readonly heavy: ReturnType<typeof createHeavyReads>;
  /** Resolves when the thread has ended. */
  readonly gone: Promise<void>;
  readonly alive: () => boolean;
}

/** Opens the embedded store: in a thread of its own, so that the caller never waits for a disk. */
export async function openSqlite(options: SqliteOptions): Promise<Store> {
  const file = join(options.stateDir, DATABASE_FILE);
  const worker = options.thread ?? startThread();
  const standing = createStoreStatus(file, (message, details) => options.log?.(message, details));
  const waiting = createWaiting(options.clock.monotonic);
  const { opened, gone, alive } = listen(worker, options, standing, waiting);
  const { stateDir, watch, sessionIndex } = options;
  worker.postMessage({ type: "open", mode: "write", file, stateDir, now: options.clock.now(), watch, sessionIndex } satisfies OpenRequest);
  await opened;
  const heavy = createHeavyReads({ file, stateDir: options.stateDir, clock: options.clock });
  return createStore({ options, standing, waiting, gone, alive, heavy, sender: createSender(worker, waiting) });
}

/** Handles messages of the thread, and notices when it dies. */
function listen(
  worker: Worker,
  options: SqliteOptions,
  standing: StoreStatus,
  waiting: WaitingRequests,
): Pick<Parts, "gone" | "alive"> & { readonly opened: Promise<void> } {
  const opening = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  let alive = true;

  function ended(how: string): void {
    alive = false;
    gone.resolve();
    if (standing.phase === "opening") opening.reject(new AppError("STORE_FAILED", `the store's thread ended while it opened ${options.stateDir} (${how})`));
    else if (standing.phase === "open" || waiting.size > 0) {
      standing.fail({ code: "STORE_FAILED", message: `the store's thread ended (${how}); start the gateway again`, at: options.clock.now() });
      waiting.rejectAll(() => new AppError("STORE_FAILED", `the store's thread ended (${how}) before this was acknowledged; it may or may not have happened`));
    }
  }

  worker.on("message", (reply: Reply) => {
    if (reply.type === "settled") {
      standing.diskFull = reply.diskFull;
      standing.refusedAsHeld = reply.held;
      waiting.settle(reply.settled);
    } else if (reply.type === "opened") {
      standing.phase = "open";
      opening.resolve();
    } else if (reply.type === "refused") opening.reject(errorFrom(reply.error));
    else if (reply.type === "failed") standing.fail({ ...reply.failure, message: `${join(options.stateDir, DATABASE_FILE)}: ${reply.failure.message}` });
    else if (reply.type === "takenIn") standing.changedExternally();
    else if (reply.type === "log") options.log?.(reply.message, reply.details);
    else standing.notice(reply.notices);
  });
  worker.on("error", (error) => ended(messageOf(error)));
  worker.on("exit", (code) => ended(`exit code ${code}`));
  return { opened: opening.promise, gone: gone.promise, alive: () => alive };
}

function createStore({ options, standing, waiting, sender, heavy, gone, alive }: Parts): Store {
  const { clock, maxWaiting = 4096, maxWaitingBytes = 64 * 1024 * 1024 } = options;

  function overload(bytes: number): AppError | undefined {
    if (waiting.commits < maxWaiting && (waiting.commits === 0 || waiting.bytes + bytes <= maxWaitingBytes)) return undefined;
    return new AppError("OVERLOADED", `${waiting.commits} commits already wait for the disk; nothing was accepted, try again shortly`, {
      details: { waiting: waiting.commits, waitingBytes: waiting.bytes, retryAfterMs: 250 },
    });
  }

  async function commit(writes: readonly Write[], given: CommitOptions = {}): Promise<unknown[]> {
    const bytes = roughBytes(writes);
    const error = standing.unwritable() ?? overload(bytes);
    if (error) throw error;
    return sender.commit(writes, given, clock.now(), bytes);
  }

  async function read(kind: ReadKind, input: unknown): Promise<unknown> {
    const error = standing.closed();
    if (error) throw error;
    if (!isHeavy(kind, input)) return sender.read(kind, input);
    try {
      return await heavy.read(kind, input);
    } catch (failure) {
      // The second thread could not be started, or died: the first one can answer as well, but not in parallel to commits.
      if (!(failure instanceof AppError) || failure.code !== "UNAVAILABLE" || standing.closed()) throw failure;
      options.log?.(`${failure.message}; the store's own thread answers instead`);
      return sender.read(kind, input);
    }
  }

  async function ask<T>(control: Control): Promise<T> {
    const error = standing.closed();
    if (error) throw error;
    return sender.control<T>(control);
  }

  async function close(): Promise<void> {
    if (standing.closed()) return gone;
    standing.phase = "closing";
    await waiting.drained();
    await heavy[Symbol.asyncDispose]();
    try {
      if (alive()) await sender.control({ type: "close" });
    } finally {
      standing.phase = "closed";
    }
    return gone;
  }

  return {
    commit: (writes, given) => commit(writes, given) as never,
    write: async (kind, input, given) => (await commit([[kind, input] as unknown as Write], given))[0] as never,
    read,
    health: () => standing.health(waiting),
    onFailure: standing.onFailure,
    onExternalChange: standing.onExternalChange,
    checkpoint: ({ truncate = false } = {}) => ask({ type: "checkpoint", truncate }),
    async maintain({ budgetMs = 1000, policy } = {}) {
      const report = await ask<MaintenanceReport>({ type: "maintain", now: clock.now(), budgetMs, policy: resolveRetention(policy) });
      standing.behind(report.behind, clock.now());
      return report;
    },
    imported: () => ask({ type: "imported" }),
    [Symbol.asyncDispose]: close,
  };
}
