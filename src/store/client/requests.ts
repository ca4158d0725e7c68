import { AppError, messageOf } from "../../base/errors.ts";
import type { ReadKind, Write } from "../areas/index.ts";
import type { CommitRequest, ControlRequest, ReadRequest, Request, Settled } from "../messages.ts";
import { errorFrom } from "../sqlite/failure.ts";
import type { CommitOptions } from "../store.ts";

interface Waiter {
  readonly promise: Promise<unknown>;
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
  readonly bytes: number;
  /** When a commit was sent. A read has none: it does not count towards the queue's limits. */
  readonly since: number | undefined;
}

/** A control request before it has its id. */
export type Control = ControlRequest extends infer C ? (C extends ControlRequest ? Omit<C, "id"> : never) : never;

/** Requests to a thread, and the promises of their answers. Requests of one tick share one message. */
export interface Requests {
  /** Commits that wait for their answer, and roughly their bytes. */
  readonly waiting: { readonly commits: number; readonly bytes: number };
  readonly size: number;
  /** How long the oldest commit has waited, in milliseconds. */
  oldest(): number;
  commit<T>(writes: readonly Write[], options: CommitOptions, now: number, bytes: number): Promise<T>;
  read<T>(kind: ReadKind, input: unknown): Promise<T>;
  control<T>(control: Control): Promise<T>;
  settle(answers: readonly Settled[]): void;
  rejectAll(error: () => Error): void;
  /** Resolves when nothing is pending. */
  drained(): Promise<void>;
}

/** How long a patient commit waits for others. */
const PATIENCE_MS = 10;

interface Waiters {
  readonly byId: ReadonlyMap<number, Waiter>;
  readonly waiting: Requests["waiting"];
  add<T>(bytes: number, since?: number): { readonly id: number; readonly promise: Promise<T> };
  take(id: number): Waiter | undefined;
}

function createWaiters(): Waiters {
  const byId = new Map<number, Waiter>();
  const waiting = { commits: 0, bytes: 0 };
  let last = 0;
  return {
    byId,
    waiting,
    add<T>(bytes: number, since?: number) {
      last += 1;
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      byId.set(last, { promise, resolve, reject, bytes, since });
      if (since !== undefined) waiting.commits += 1;
      waiting.bytes += bytes;
      return { id: last, promise };
    },
    take(id) {
      const waiter = byId.get(id);
      if (!waiter) return undefined;
      byId.delete(id);
      if (waiter.since !== undefined) waiting.commits -= 1;
      waiting.bytes -= waiter.bytes;
      return waiter;
    },
  };
}

export function createRequests(post: (request: Request) => void, monotonic: () => number): Requests {
  const { byId, waiting, add, take } = createWaiters();
  let commits: CommitRequest[] = [];
  let reads: ReadRequest[] = [];
  let scheduled = false;
  let patience: NodeJS.Timeout | undefined;

  function flush(): void {
    scheduled = false;
    clearTimeout(patience);
    patience = undefined;
    if (commits.length + reads.length === 0) return;
    const batch = { type: "batch", commits, reads } as const;
    commits = [];
    reads = [];
    try {
      post(batch);
    } catch {
      for (const commit of batch.commits) sendSingly(commit[0], { type: "batch", commits: [commit], reads: [] });
      for (const read of batch.reads) sendSingly(read[0], { type: "batch", commits: [], reads: [read] });
    }
  }

  /** One request in a batch cannot be cloned to a thread: only that one is refused. */
  function sendSingly(id: number, request: Request): void {
    try {
      post(request);
    } catch (error) {
      take(id)?.reject(new AppError("INVALID_INPUT", `only plain data can be stored: ${messageOf(error)}`, { cause: error }));
    }
  }

  /** After this tick and its resolved promises: requests started by then share the message. */
  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    process.nextTick(flush);
  }

  return {
    waiting,
    get size() {
      return byId.size;
    },
    oldest() {
      const since = byId.values().find((waiter) => waiter.since !== undefined)?.since;
      return since === undefined ? 0 : Math.round(monotonic() - since);
    },
    commit<T>(writes: readonly Write[], { fence, lazy = false, patient = false }: CommitOptions, now: number, bytes: number) {
      const { id, promise } = add<T>(bytes, monotonic());
      commits.push([id, now, writes, fence, lazy]);
      if (patient) patience ??= setTimeout(flush, PATIENCE_MS);
      else schedule();
      return promise;
    },
    read<T>(kind: ReadKind, input: unknown) {
      const { id, promise } = add<T>(0);
      reads.push([id, kind, input]);
      schedule();
      return promise;
    },
    control<T>(control: Control) {
      const { id, promise } = add<T>(0);
      flush();
      post({ ...control, id });
      return promise;
    },
    settle(answers) {
      for (const [id, ok, value] of answers) {
        const waiter = take(id);
        if (ok) waiter?.resolve(value as never);
        else waiter?.reject(errorFrom(value));
      }
    },
    rejectAll(error) {
      for (const id of byId.keys()) take(id)?.reject(error());
    },
    async drained() {
      while (byId.size > 0) await Promise.allSettled(byId.values().map(({ promise }) => promise));
    },
  };
}

/** Roughly the cost of sending and holding a value: enough to bound a queue, cheap enough for each commit. */
export function roughBytes(value: unknown, depth = 0): number {
  if (typeof value === "string") return value.length + 16;
  if (typeof value !== "object" || value === null) return 8;
  if (depth > 8) return 64;
  let sum = 16;
  if (Array.isArray(value)) for (const item of value) sum += roughBytes(item, depth + 1);
  else for (const item of Object.values(value)) sum += 8 + roughBytes(item, depth + 1);
  return sum;
}
