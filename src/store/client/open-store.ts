import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import type { Clock } from "../../base/clock.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import type { WatchRequest } from "../../base/watchdog/watch-main-thread.ts";
import type { ReadKind, Results, Write, WriteInput, WriteKind, WriteResult } from "../areas/index.ts";
import type { OpenRequest, Reply } from "../messages.ts";
import { resolveRetention, type MaintenanceReport } from "../retention.ts";
import { errorFrom } from "../sqlite/failure.ts";
import type { CommitOptions, Store } from "../store.ts";
import { createLongReads, isLong } from "./long-reads.ts";
import { createRequests, roughBytes, type Control, type Requests } from "./requests.ts";
import { createSessionRows } from "./session-rows.ts";
import { startThread, type StoreThread } from "./start-thread.ts";
import { createStoreStatus, type StoreStatus } from "./status.ts";

/** Name of the database in the state folder. */
const DATABASE_FILE = "openclaw.db";

export interface OpenStoreOptions {
  /** State folder; created when missing. */
  readonly stateDir: string;
  readonly clock: Clock;
  /** From `warmUpStore`; without it the thread is started now. */
  readonly thread?: StoreThread | undefined;
  /** The thread also watches the main one: it reports what blocks it, and ends the process when that lasts. */
  readonly watch?: WatchRequest | undefined;
  /**
   * Writes the documented `sessions.json` of each agent, and imports what other programs wrote to it. `path` is an absolute path with `{agentId}`
   * when they are at another location. Without this option these files are only read, at the first start.
   */
  readonly sessionIndex?: { readonly path?: string | undefined } | undefined;
  /** Receives what an operator should know: repairs, imports, failures. */
  readonly log?: (message: string, details?: Readonly<Record<string, unknown>>) => void;
  /** Commits that may wait for their fsync; the next one is refused with `OVERLOADED`. Default 4096. */
  readonly maxWaiting?: number;
  /** Roughly the bytes that may wait. Default 64 MiB; a commit larger than that passes when nothing else waits. */
  readonly maxWaitingBytes?: number;
}

interface Connection {
  readonly options: OpenStoreOptions;
  readonly file: string;
  readonly status: StoreStatus;
  readonly requests: Requests;
  /** Resolves when the thread has ended. */
  readonly gone: Promise<void>;
  /** Called when sessions changed through another program's file. */
  readonly externalChange: Set<() => void>;
}

/** Opens the durable state of an installation, in a thread of its own: the caller never waits for a disk. Start it early. */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  const { stateDir, watch, sessionIndex, clock } = options;
  const file = join(stateDir, DATABASE_FILE);
  const worker = options.thread ?? startThread();
  const status = createStoreStatus(file, (message, details) => options.log?.(message, details));
  const requests = createRequests((request) => worker.postMessage(request), clock.monotonic);
  const gone = Promise.withResolvers<void>();
  const connection = { options, file, status, requests, gone: gone.promise, externalChange: new Set<() => void>() };
  const opened = listen(worker, connection, gone.resolve);
  worker.postMessage({ type: "open", mode: "write", file, stateDir, now: clock.now(), watch, sessionIndex } satisfies OpenRequest);
  await opened;
  return createStore(connection);
}

/** Handles messages of the thread, and notices when it dies. Resolves when the store is open. */
function listen(worker: Worker, { options, file, status, requests, externalChange }: Connection, gone: () => void): Promise<void> {
  const opening = Promise.withResolvers<void>();

  function ended(how: string): void {
    status.isAlive = false;
    gone();
    if (status.phase === "opening") opening.reject(new AppError("STORE_FAILED", `the store's thread ended while it opened ${options.stateDir} (${how})`));
    else if (status.phase === "open" || requests.size > 0) {
      status.fail({ code: "STORE_FAILED", message: `the store's thread ended (${how}); start the gateway again`, at: options.clock.now() });
      requests.rejectAll(() => new AppError("STORE_FAILED", `the store's thread ended (${how}) before this was acknowledged; it may or may not have happened`));
    }
  }

  worker.on("message", (reply: Reply) => {
    if (reply.type === "settled") {
      status.diskFull = reply.diskFull;
      status.refusedAsHeld = reply.held;
      requests.settle(reply.settled);
    } else if (reply.type === "opened") {
      status.phase = "open";
      opening.resolve();
    } else if (reply.type === "refused") opening.reject(errorFrom(reply.error));
    else if (reply.type === "failed") status.fail({ ...reply.failure, message: `${file}: ${reply.failure.message}` });
    else if (reply.type === "takenIn") for (const listener of externalChange) listener();
    else if (reply.type === "log") options.log?.(reply.message, reply.details);
    else status.notice(reply.notices);
  });
  worker.on("error", (error) => ended(messageOf(error)));
  worker.on("exit", (code) => ended(`exit code ${code}`));
  return opening.promise;
}

/** Adds a listener until it is disposed of. */
function subscribe<T>(listeners: Set<T>, listener: T): Disposable {
  listeners.add(listener);
  return { [Symbol.dispose]: () => void listeners.delete(listener) };
}

const closed = (): AppError => new AppError("UNAVAILABLE", "the store is closed; nothing was read or written");

/** Why no commit can be accepted right now. */
function refusal({ failure, phase }: StoreStatus, { commits, bytes }: Requests["waiting"]): AppError {
  if (failure) return new AppError("STORE_FAILED", `the store has failed and accepts no more writes: ${failure.message}`, { details: { code: failure.code } });
  if (phase !== "open") return closed();
  return new AppError("OVERLOADED", `${commits} commits are already waiting for the disk; nothing was accepted, try again shortly`, {
    details: { waiting: commits, waitingBytes: bytes, retryAfterMs: 250 },
  });
}

function createStore({ options, file, status, requests, gone, externalChange }: Connection): Store {
  const { stateDir, clock, maxWaiting = 4096, maxWaitingBytes = 64 * 1024 * 1024 } = options;
  const longReads = createLongReads({ file, stateDir, clock });
  const sessions = createSessionRows((key) => requests.read("sessions.get", { key }));
  const beforeCommit = new Set<Parameters<Store["onWrites"]>[0]>();
  const afterCommit = new Set<Parameters<Store["onCommit"]>[0]>();
  const { waiting } = requests;
  externalChange.add(() => {
    for (const listener of beforeCommit) listener(undefined, undefined);
    sessions.clear();
  });

  async function commit<T extends readonly unknown[]>(writes: readonly Write[], commitOptions: CommitOptions = {}): Promise<T> {
    const bytes = roughBytes(writes);
    const isFull = waiting.commits >= maxWaiting || (waiting.commits > 0 && waiting.bytes + bytes > maxWaitingBytes);
    if (status.failure || status.phase !== "open" || isFull) throw refusal(status, waiting);
    for (const listener of beforeCommit) listener(writes, commitOptions.by);
    const results = requests.commit<T>(writes, commitOptions, clock.now(), bytes);
    sessions.committing(writes, results);
    if (afterCommit.size === 0) return results;
    const done = await results;
    for (const listener of afterCommit) listener(writes);
    return done;
  }

  async function read(kind: ReadKind, input: unknown): Promise<unknown> {
    if (status.phase !== "open") throw closed();
    if (kind === "sessions.get" && isRecord(input) && typeof input["key"] === "string") return sessions.get(input["key"]);
    if (!isLong(kind, input)) return requests.read(kind, input);
    try {
      return await longReads.read(kind, input);
    } catch (failure) {
      // The second thread could not be started, or died: the first one can answer as well, but not in parallel to commits.
      if (!(failure instanceof AppError) || failure.code !== "UNAVAILABLE" || status.phase !== "open") throw failure;
      options.log?.(`${failure.message}; the main store thread is used instead`);
      return requests.read(kind, input);
    }
  }

  async function ask<T>(control: Control): Promise<T> {
    if (status.phase !== "open") throw closed();
    return requests.control<T>(control);
  }

  return {
    commit: <const T extends readonly Write[]>(writes: T, commitOptions?: CommitOptions) => commit<Results<T>>(writes, commitOptions),
    async write<K extends WriteKind>(kind: K, input: WriteInput<K>, commitOptions?: CommitOptions) {
      const [result] = await commit<[WriteResult<K>]>([[kind, input] as Write], commitOptions);
      return result;
    },
    read,
    onWrites: (listener) => subscribe(beforeCommit, listener),
    onCommit: (listener) => subscribe(afterCommit, listener),
    health: () => status.health(requests),
    onFailure: status.onFailure,
    checkpoint: ({ truncate = false } = {}) => ask({ type: "checkpoint", truncate }),
    async maintain({ budgetMs = 1000, policy } = {}) {
      const report = await ask<MaintenanceReport>({ type: "maintain", now: clock.now(), budgetMs, policy: resolveRetention(policy) });
      status.behind(report.behind, clock.now());
      return report;
    },
    imported: () => ask({ type: "imported" }),
    async [Symbol.asyncDispose]() {
      if (status.phase !== "open") return gone;
      status.phase = "closing";
      await requests.drained();
      await longReads[Symbol.asyncDispose]();
      try {
        if (status.isAlive) await requests.control({ type: "close" });
      } finally {
        status.phase = "closed";
      }
      return gone;
    },
  };
}
