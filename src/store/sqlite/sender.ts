import type { Worker } from "node:worker_threads";
import { AppError, messageOf } from "../../base/errors.ts";
import type { ReadKind, Write } from "../areas/index.ts";
import type { CommitOptions } from "../store.ts";
import type { CommitRequest, ControlRequest, ReadRequest } from "./messages.ts";
import type { WaitingRequests } from "./waiting.ts";

/** A control request before it has its id. */
export type Control = ControlRequest extends infer C ? (C extends ControlRequest ? Omit<C, "id"> : never) : never;

/** Sends requests to a thread; those of one tick share one message. */
export interface Sender {
  commit(writes: readonly Write[], options: CommitOptions, now: number, bytes: number): Promise<unknown[]>;
  read(kind: ReadKind, input: unknown): Promise<unknown>;
  control<T>(control: Control): Promise<T>;
}

/** How long a patient commit waits for others. */
const PATIENCE_MS = 10;

export function createSender(worker: Worker, waiting: WaitingRequests): Sender {
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
      worker.postMessage(batch);
    } catch {
      for (const commit of batch.commits) sendSingly(commit[0], { commits: [commit], reads: [] });
      for (const read of batch.reads) sendSingly(read[0], { commits: [], reads: [read] });
    }
  }

  /** One request in a batch cannot be cloned to a thread: only that one is refused. */
  function sendSingly(id: number, part: { readonly commits: readonly CommitRequest[]; readonly reads: readonly ReadRequest[] }): void {
    try {
      worker.postMessage({ type: "batch", ...part });
    } catch (error) {
      waiting.reject(id, new AppError("INVALID_INPUT", `only plain data can be stored: ${messageOf(error)}`, { cause: error }));
    }
  }

  /** After this tick and its resolved promises: requests started by then share the message. */
  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    process.nextTick(flush);
  }

  return {
    commit(writes, { fence, lazy = false, patient = false }, now, bytes) {
      const { id, promise } = waiting.add<unknown[]>(bytes, true);
      commits.push([id, now, writes, fence, lazy]);
      if (patient) patience ??= setTimeout(flush, PATIENCE_MS);
      else schedule();
      return promise;
    },
    read(kind, input) {
      const { id, promise } = waiting.add<unknown>(0, false);
      reads.push([id, kind, input]);
      schedule();
      return promise;
    },
    control<T>(control: Control) {
      const { id, promise } = waiting.add<T>(0, false);
      flush();
      worker.postMessage({ ...control, id });
      return promise;
    },
  };
}
