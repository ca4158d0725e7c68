import type { Clock } from "./clock.ts";

/** Gives memory back to the system when nothing is going on. */
export interface MemoryCare extends Disposable {
  /** Something was done; called often. */
  touched(): void;
}

export interface MemoryCareDeps {
  readonly clock: Pick<Clock, "monotonic" | "after">;
  /** True while somebody would notice a pause. */
  readonly isBusy: () => boolean;
  /** Bytes that the engine holds. */
  readonly heldBytes?: () => number;
  readonly release?: () => void;
  /** Below this nothing is done. */
  readonly leastBytes?: number;
}

const QUIET_MS = 400;
const INTERVAL_MS = 2_000;
const LEAST_BYTES = 40 * 1024 * 1024;

/**
 * The engine keeps what it once took: after a busy hour it holds several times of what is in use, until it is told that there is time to clean up.
 * That takes some tens of milliseconds, so it waits for a moment in which nobody does.
 */
export function createMemoryCare(deps: MemoryCareDeps): MemoryCare {
  const { clock, isBusy, heldBytes = engineBytes, release = releaseMemory, leastBytes = LEAST_BYTES } = deps;
  let last = 0;
  let released = -INTERVAL_MS;
  let timer: Disposable | undefined;

  function look(): void {
    timer = undefined;
    const now = clock.monotonic();
    const wait = Math.max(last + QUIET_MS - now, released + INTERVAL_MS - now);
    if (wait > 0 || isBusy()) {
      timer = clock.after(Math.max(wait, QUIET_MS / 4), look);
      return;
    }
    if (heldBytes() < leastBytes) return;
    release();
    released = clock.monotonic();
  }

  return {
    touched() {
      last = clock.monotonic();
      timer ??= clock.after(QUIET_MS, look);
    },
    [Symbol.dispose]: () => timer?.[Symbol.dispose](),
  };
}

const engineBytes = (): number => process.getBuiltinModule("node:v8").getHeapStatistics().total_heap_size;

/** Collects everything that can be collected and gives empty pages back. Some tens of milliseconds. */
function releaseMemory(): void {
  process.getBuiltinModule("node:v8").setFlagsFromString("--expose-gc");
  const gc = process.getBuiltinModule("node:vm").runInNewContext("gc") as (options: object) => void;
  gc({ type: "major", execution: "sync", flavor: "last-resort" });
}
