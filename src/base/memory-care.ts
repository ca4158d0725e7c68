import type { Clock } from "./clock.ts";

/** Gives memory back to the system when nothing is going on. */
export interface MemoryCare extends Disposable {
  /** Something was done; called often. */
  touched(): void;
  /** Much was loaded that leaves garbage behind: give it back at the first quiet moment, however little it is. */
  tidy(): void;
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
  /** From so many bytes more than were held after the last time it is done at the first quiet moment. */
  readonly muchBytes?: number;
}

const QUIET_MS = 400;
const REST_MS = 30_000;
const INTERVAL_MS = 2_000;
const LEAST_BYTES = 40 * 1024 * 1024;
const MUCH_BYTES = 24 * 1024 * 1024;

/**
 * The engine keeps what it once took: after a busy hour it holds several times of what is in use, until it is told that there is time to clean up.
 * That takes some tens of milliseconds, so it waits for a moment in which nobody does. And it costs compiled code: what was compiled for objects of
 * which there are none just then is thrown away with them, and the turns after it take a third more processor time until it is there again. So a
 * pause between two messages is no reason, unless much was taken since the last time. What is in use does not count: a gateway that holds long
 * conversations would clean up in every pause, for nothing.
 */
export function createMemoryCare(deps: MemoryCareDeps): MemoryCare {
  const { clock, isBusy, heldBytes = engineBytes, release = releaseMemory, leastBytes = LEAST_BYTES, muchBytes = MUCH_BYTES } = deps;
  let last = 0;
  let released = -INTERVAL_MS;
  let timer: Disposable | undefined;
  /** What is held is worth giving back only after a long rest. */
  let resting = false;
  let tidying = false;
  /** Bytes that were left the last time. */
  let heldAfter = 0;

  function look(): void {
    timer = undefined;
    resting = false;
    const now = clock.monotonic();
    const again = (ms: number): void => void (timer = clock.after(ms, look));
    const wait = Math.max(last + QUIET_MS - now, released + INTERVAL_MS - now);
    if (wait > 0 || isBusy()) return again(Math.max(wait, QUIET_MS / 4));
    const held = heldBytes();
    if ((held < leastBytes || held <= heldAfter) && !tidying) return;
    resting = held < heldAfter + muchBytes && !tidying && now < last + REST_MS;
    if (resting) return again(last + REST_MS - now);
    tidying = false;
    release();
    heldAfter = heldBytes();
    released = clock.monotonic();
  }

  function touched(): void {
    last = clock.monotonic();
    if (timer && !resting) return;
    timer?.[Symbol.dispose]();
    resting = false;
    timer = clock.after(QUIET_MS, look);
  }

  return {
    touched,
    tidy() {
      tidying = true;
      touched();
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
