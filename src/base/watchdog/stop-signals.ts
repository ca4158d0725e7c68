/** SIGTERM and SIGINT. */
const STOPS = [15, 2];

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
    const { Signal } = (require("internal/test/binding") as Internals).internalBinding("signal_wrap");
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
