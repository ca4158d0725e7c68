/** Batches messages that come in quick succession. */
import type { Clock } from "../../base/clock.ts";

export interface DebouncerOptions<T> {
  /** Quiet time before a batch is passed on; 0 passes on at once. */
  readonly debounceMs: number;
  /** Items with the same key are one batch; an item without a key is passed on at once. */
  buildKey(item: T): string | null | undefined;
  readonly shouldDebounce?: ((item: T) => boolean) | undefined;
  onFlush(items: T[]): Promise<void>;
  readonly onError?: ((error: unknown, items: T[]) => void) | undefined;
}

export interface Debouncer<T> {
  /** Settles when the item was passed on or queued. */
  enqueue(item: T): Promise<void>;
  flushKey(key: string): Promise<void>;
}

/** An urgent item takes along the pending ones of its key, ahead of it. */
export function createInboundDebouncer<T>(options: DebouncerOptions<T>, clock: Pick<Clock, "after">): Debouncer<T> {
  const waiting = new Map<string, { readonly items: T[]; timer: Disposable }>();
  const delay = Math.max(0, Math.trunc(options.debounceMs) || 0);

  async function flush(items: T[]): Promise<void> {
    try {
      await options.onFlush(items);
    } catch (error) {
      options.onError?.(error, items);
    }
  }

  async function flushKey(key: string): Promise<void> {
    const batch = waiting.get(key);
    if (!batch) return;
    waiting.delete(key);
    batch.timer[Symbol.dispose]();
    await flush(batch.items);
  }

  return {
    async enqueue(item) {
      const key = options.buildKey(item);
      const waits = key && delay > 0 && (options.shouldDebounce?.(item) ?? true);
      if (!waits) {
        if (key) await flushKey(key);
        return flush([item]);
      }
      const batch = waiting.get(key);
      const timer = clock.after(delay, () => void flushKey(key));
      if (!batch) return void waiting.set(key, { items: [item], timer });
      batch.timer[Symbol.dispose]();
      batch.timer = timer;
      batch.items.push(item);
    },
    flushKey,
  };
}
