import type { Clock } from "./clock.ts";
import { collectGarbage } from "./runtime-internals.ts";

/** Returns memory to the system when the process is idle. */
export interface MemoryCare extends Disposable {
  /** Activity happened; called often. */
  touched(): void;
  /** Loading left garbage behind: release it at the first idle moment, however little it is. */
  tidy(): void;
}

export interface MemoryCareDeps {
  readonly clock: Pick<Clock, "monotonic" | "after">;
  /** True while a pause would be noticed. */
  readonly isBusy: () => boolean;
  /** Bytes that the engine holds. */
  readonly heldBytes?: () => number;
  readonly release?: () => void;
  /** Below this nothing is released. */
  readonly leastBytes?: number;
  /** When this many bytes were added since the last release, release at the first idle moment. */
  readonly muchBytes?: number;
}

const QUIET_MS = 400;
const REST_MS = 30_000;
const INTERVAL_MS = 2_000;
const LEAST_BYTES = 40 * 1024 * 1024;
const MUCH_BYTES = 24 * 1024 * 1024;

/**
 * V8 keeps the memory it once took: after a busy hour it holds several times of what is in use, until it is asked to clean up.
 * That takes some tens of milliseconds, so it waits for an idle moment. It also discards compiled code whose objects are gone, and the turns after it
 * take a third more CPU time until that is compiled again. So a short pause is no reason, unless much was allocated since the last release. Memory in
 * use does not count: a gateway with long conversations would otherwise clean up in every pause, for nothing.
 */
export function createMemoryCare(deps: MemoryCareDeps): MemoryCare {
  const { clock, isBusy, heldBytes = engineBytes, release = collectGarbage, leastBytes = LEAST_BYTES, muchBytes = MUCH_BYTES } = deps;
  let last = 0;
  let released = -INTERVAL_MS;
  let timer: Disposable | undefined;
  /** Releasing pays off only after a long idle time. */
  let resting = false;
  let tidying = false;
  /** Bytes that were left after the last release. */
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
