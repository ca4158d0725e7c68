// Lets a test move the time of a process forward: given to gateways of tests with --import, never part of the product.
// Timers and the monotonic clock move; the time of day does not, because platforms and the files of the process share it.
import { rmSync } from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";
import { createServer } from "node:net";
import { isMainThread } from "node:worker_threads";

const socketPath = process.env.OPENCLAW_TEST_CLOCK;
const require = createRequire(import.meta.url);

function install(timers, promises) {
  const real = { setTimeout, setInterval, clearTimeout, clearInterval, monotonic: performance.now.bind(performance) };
  const live = new Set();
  let ahead = 0;

  const probe = real.setTimeout(() => undefined, 1000);
  /** What timers count from. */
  const base = real.monotonic() - probe._idleStart;
  real.clearTimeout(probe);

  function later(fn, ms, ...args) {
    const timer = real.setTimeout(
      (...values) => {
        live.delete(timer);
        fn(...values);
      },
      ms,
      ...args,
    );
    live.add(timer);
    return timer;
  }
  function each(fn, ms, ...args) {
    const timer = real.setInterval(fn, ms, ...args);
    live.add(timer);
    return timer;
  }
  const forget = (clear) => (timer) => {
    live.delete(timer);
    clear(timer);
  };
  const sleep = (ms, value, { signal, ref = true } = {}) =>
    new Promise((resolve, reject) => {
      const stop = () => {
        timers.clearTimeout(timer);
        reject(Object.assign(new Error("The operation was aborted", { cause: signal.reason }), { name: "AbortError", code: "ABORT_ERR" }));
      };
      const timer = later(() => {
        signal?.removeEventListener("abort", stop);
        resolve(value);
      }, ms);
      if (!ref) timer.unref();
      if (signal?.aborted) stop();
      else signal?.addEventListener("abort", stop, { once: true });
    });

  const replaced = { setTimeout: later, setInterval: each, clearTimeout: forget(real.clearTimeout), clearInterval: forget(real.clearInterval) };
  Object.defineProperty(later, Symbol.for("nodejs.util.promisify.custom"), { value: sleep });
  Object.assign(globalThis, replaced);
  Object.assign(timers, replaced);
  promises.setTimeout = sleep;
  syncBuiltinESMExports();
  AbortSignal.timeout = (ms) => {
    const limit = new AbortController();
    later(() => limit.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError")), ms).unref();
    return limit.signal;
  };
  performance.now = () => real.monotonic() + ahead;

  return (ms) => {
    ahead += ms;
    const now = real.monotonic() - base;
    for (const timer of live) {
      if (timer._destroyed) {
        live.delete(timer);
        continue;
      }
      timer._idleTimeout = Math.max(1, timer._idleStart + timer._idleTimeout - now - ms);
      timer.refresh();
    }
  };
}

if (socketPath && isMainThread) {
  const skip = install(require("node:timers"), require("node:timers/promises"));
  rmSync(socketPath, { force: true });
  createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (text) => {
      skip(Number(text));
      socket.end("done");
    });
  })
    .listen(socketPath)
    .unref();
}
