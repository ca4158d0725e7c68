import type { Server } from "node:net";

/** Something that goes on by itself until it is ended. */
export type Started =
  | { readonly kind: "timer"; readonly isOver: () => boolean; readonly end: () => void }
  | { readonly kind: "server"; readonly server: Server; readonly end: () => void };

/** Who runs now. */
interface Runner {
  /** The folder of its code, in every way in which a stack may write it. */
  readonly places: readonly string[];
  take(started: Started): void;
}

type AnyFunction = (...args: unknown[]) => unknown;

/**
 * Reports timers and servers that plugin code starts to the plugin's scope, so that they end with the plugin. Node offers no view of running timers, so
 * `setTimeout`, `setInterval`, `setImmediate` and `Server.listen` are replaced while plugins are loaded. Outside a plugin's scope that costs one look at the
 * current scope. Inside, the caller's file decides: what the gateway, Node's own `fetch` or a shared package starts while a plugin waits is not the plugin's.
 *
 * This is one of the two places where we change what is not ours (the other is `base/runtime-internals.ts`). Without it a plugin that is disabled or
 * reloaded goes on running: its intervals fire in the old code, and the port of its server stays taken until the gateway restarts. To remove it: give plugins
 * timers of their own in the API, delete this file and its call in the host, and drop `timers` and `servers` from a plugin's status.
 */
export function watchResources(scopes: { getStore(): Runner | undefined }): Disposable {
  const net = process.getBuiltinModule("node:net");
  using undo = new DisposableStack();

  /** True when `replacement` was called from a file of the plugin. */
  function isOwnCode(places: readonly string[], replacement: AnyFunction): boolean {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 1;
    const at: { stack?: unknown } = {};
    Error.captureStackTrace(at, replacement);
    const frame = String(at.stack);
    Error.stackTraceLimit = limit;
    return places.some((place) => frame.includes(place));
  }

  function replace<T extends object>(target: T, name: keyof T & string, onStart: (result: unknown, self: unknown) => Started): void {
    const original = target[name] as AnyFunction;
    const replacement = function (this: unknown, ...args: unknown[]): unknown {
      const runner = scopes.getStore();
      if (runner === undefined) return Reflect.apply(original, this, args);
      const own = isOwnCode(runner.places, replacement);
      const result = Reflect.apply(original, this, args);
      if (own) runner.take(onStart(result, this));
      return result;
    };
    // `util.promisify(setTimeout)` looks for a symbol on the function.
    Object.defineProperties(replacement, Object.getOwnPropertyDescriptors(original));
    target[name] = replacement as T[typeof name];
    undo.defer(() => {
      // Other code has replaced it since: leave that in place; this replacement keeps passing calls through.
      if (target[name] === (replacement as unknown)) target[name] = original as T[typeof name];
    });
  }

  const timer =
    (end: (id: never) => void) =>
    (handle: unknown): Started => ({
      kind: "timer",
      // A mark that Node sets on timers that ran or were cleared. Without it they are kept until the plugin ends.
      isOver: () => (handle as { _destroyed?: boolean })._destroyed === true,
      end: () => end(handle as never),
    });
  replace(globalThis, "setTimeout", timer(clearTimeout));
  replace(globalThis, "setInterval", timer(clearInterval));
  replace(globalThis, "setImmediate", timer(clearImmediate));
  replace(net.Server.prototype, "listen", (_result, server) => ({ kind: "server", server: server as Server, end: () => (server as Server).close() }));
  const kept = undo.move();
  return { [Symbol.dispose]: () => kept.dispose() };
}
