import { errorFrom } from "./failure.ts";
import type { Settled } from "./messages.ts";

interface Waiter {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
  readonly bytes: number;
  /** A commit counts towards the queue's limits; a read does not. */
  readonly commit: boolean;
  readonly since: number;
}

/** Requests that wait for their answer. */
export interface WaitingRequests {
  readonly commits: number;
  readonly bytes: number;
  readonly size: number;
  /** How long the oldest commit has waited, in milliseconds. */
  oldest(): number;
  add<T>(bytes: number, commit: boolean): { readonly id: number; readonly promise: Promise<T> };
  settle(answers: readonly Settled[]): void;
  reject(id: number, error: Error): void;
  rejectAll(error: () => Error): void;
  /** Resolves when nothing is pending. */
  drained(): Promise<void>;
}

export function createWaiting(monotonic: () => number): WaitingRequests {
  const waiting = new Map<number, Waiter>();
  const drains: (() => void)[] = [];
  let last = 0;
  let commits = 0;
  let bytes = 0;

  function take(id: number): Waiter | undefined {
    const waiter = waiting.get(id);
    if (!waiter) return undefined;
    waiting.delete(id);
    if (waiter.commit) commits -= 1;
    bytes -= waiter.bytes;
    return waiter;
  }

  function tellDrained(): void {
    if (waiting.size === 0) for (const done of drains.splice(0)) done();
  }

  return {
    get commits() {
      return commits;
    },
    get bytes() {
      return bytes;
    },
    get size() {
      return waiting.size;
    },
    oldest() {
      const first = waiting.values().find(({ commit }) => commit);
      return first ? Math.round(monotonic() - first.since) : 0;
    },
    add<T>(size: number, commit: boolean) {
      last += 1;
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      waiting.set(last, { resolve, reject, bytes: size, commit, since: commit ? monotonic() : 0 });
      if (commit) commits += 1;
      bytes += size;
      return { id: last, promise };
    },
    settle(answers) {
      for (const [id, ok, value] of answers) {
        const waiter = take(id);
        if (ok) waiter?.resolve(value as never);
        else waiter?.reject(errorFrom(value));
      }
      tellDrained();
    },
    reject(id, error) {
      take(id)?.reject(error);
      tellDrained();
    },
    rejectAll(error) {
      for (const id of waiting.keys()) take(id)?.reject(error());
      tellDrained();
    },
    drained: () => (waiting.size === 0 ? Promise.resolve() : new Promise((resolve) => drains.push(resolve))),
  };
}

/** Roughly the cost of sending and holding a value: enough to bound a queue, cheap enough for each commit. */
export function roughBytes(value: unknown, depth = 0): number {
  if (typeof value === "string") return value.length + 16;
  if (typeof value !== "object" || value === null) return 8;
  if (depth > 8) return 64;
  let sum = 16;
  if (Array.isArray(value)) for (const item of value) sum += roughBytes(item, depth + 1);
  else for (const key in value) sum += 8 + roughBytes((value as Record<string, unknown>)[key], depth + 1);
  return sum;
}
