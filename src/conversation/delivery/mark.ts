import { AppError } from "../../base/errors.ts";
import type { OutboxMark } from "../../store/index.ts";
import type { DeliveryDeps } from "./deps.ts";

const FULL_MS = 1000;

/** Writes marks, waiting for a disk that is full: what has happened must not be forgotten while the process lives. */
export function createMark({ store, clock, log }: Pick<DeliveryDeps, "store" | "clock" | "log">, stopping: AbortSignal) {
  async function pause(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = (): void => resolve();
    using _timer = clock.after(FULL_MS, resolve);
    stopping.addEventListener("abort", stop, { once: true });
    await promise;
    stopping.removeEventListener("abort", stop);
  }
  return async function mark(input: OutboxMark): Promise<{ readonly attempts: number; readonly repeats: number }> {
    for (;;) {
      try {
        return await store.write("outbox.mark", input);
      } catch (error) {
        if (!(error instanceof AppError && error.code === "DISK_FULL") || stopping.aborted) throw error;
        log.error(`delivery ${input.id} cannot be marked ${input.state}: ${error.message}`);
        await pause();
      }
    }
  };
}
