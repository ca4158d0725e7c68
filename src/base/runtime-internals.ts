/**
 * The two places where we reach past Node's public interface.
 *
 * 1. `collectGarbage`: V8 keeps memory that it once took. Measured 25 s after a start: 91 MB resident, 100 MB without this; the limit is 95. Node offers no
 *    call for it: the flag `--expose-gc` works only on the command line, which is the user's, and `HeapProfiler.collectGarbage` of `node:inspector` takes 5 MB.
 *    To remove it: delete the function and `memory-care.ts`.
 * 2. `watchStopSignals`: a plugin that blocks the event loop must not put off a stop. Node reports signals to the main thread only, which is the one that
 *    is blocked; without this, SIGTERM is ignored until the block ends, or until the service manager kills the process (systemd: 90 s).
 *    To remove it: delete the function and its caller in `watchdog/watch-main-thread.ts`.
 */

/** Collects all garbage and returns empty pages to the system. Takes some tens of milliseconds. */
export function collectGarbage(): void {
  process.getBuiltinModule("node:v8").setFlagsFromString("--expose-gc");
  const gc = process.getBuiltinModule("node:vm").runInNewContext("gc") as (options: object) => void;
  gc({ type: "major", execution: "sync", flavor: "last-resort" });
}

/** SIGTERM and SIGINT. */
const STOPS = [15, 2];

/** Part of Node itself. */
const INTERNALS = "internal/test/binding";

/** `execArgv` of a thread that may listen for signals. */
export const SIGNAL_FLAGS: readonly string[] = ["--expose-internals"];

interface Internals {
  internalBinding(name: "signal_wrap"): { readonly Signal: new () => SignalHandle };
}

interface SignalHandle {
  unref(): void;
  onsignal: (signal: number) => void;
  start(signal: number): number;
}

/**
 * Tells a thread other than the main one that the process is asked to stop; Node itself tells only the main thread, and only when its event loop turns.
 * Every listener of a signal gets it, so nothing is taken from the main thread. The thread must have been started with `SIGNAL_FLAGS`; where that, or
 * the platform, does not allow it `onStop` is never called.
 */
export function watchStopSignals(onStop: (signal: "SIGTERM" | "SIGINT") => void): void {
  // Node warns whenever its own parts are asked for, and has no other way to signals for threads.
  const { emitWarning } = process;
  try {
    process.emitWarning = () => {};
    const require = process.getBuiltinModule("node:module").createRequire(import.meta.url);
    const { Signal } = (require(INTERNALS) as Internals).internalBinding("signal_wrap");
    for (const number of STOPS) {
      const handle = new Signal();
      handle.unref();
      handle.onsignal = () => onStop(number === 15 ? "SIGTERM" : "SIGINT");
      handle.start(number);
    }
  } catch {
    // Another platform, or a version of Node that does not offer it.
  } finally {
    process.emitWarning = emitWarning;
  }
}
