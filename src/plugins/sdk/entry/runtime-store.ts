/** Where a plugin holds the `api.runtime` that it got, for its other modules, and modules that are loaded when they are first needed. */
import { AppError } from "../../../base/errors.ts";
import { lazy } from "../../../base/lazy.ts";
import type { PluginRuntime } from "../types/runtime.ts";

export interface PluginRuntimeStore<Runtime = PluginRuntime> {
  setRuntime(runtime: Runtime): void;
  /** Throws where none was set. */
  getRuntime(): Runtime;
  tryGetRuntime(): Runtime | null;
  clearRuntime(): void;
}

/** A store of its own for every call: two plugins, or two generations of one, never see each other's. */
export function createPluginRuntimeStore<Runtime = PluginRuntime>(
  options: string | { pluginId?: string | undefined; errorMessage?: string | undefined } = {},
): PluginRuntimeStore<Runtime> {
  const { pluginId, errorMessage } = typeof options === "string" ? { pluginId: undefined, errorMessage: options } : options;
  let current: Runtime | null = null;
  return {
    setRuntime: (runtime) => void (current = runtime),
    getRuntime() {
      if (current === null)
        throw new AppError("UNAVAILABLE", errorMessage ?? `the runtime of ${pluginId ?? "this plugin"} is not available before register is called`);
      return current;
    },
    tryGetRuntime: () => current,
    clearRuntime: () => void (current = null),
  };
}

/** A load that failed is tried again. */
export function createLazyRuntimeModule<T>(load: () => Promise<T>): () => Promise<T> {
  return lazy(load);
}

export function createLazyRuntimeNamedExport<T, K extends keyof T>(load: () => Promise<T>, name: K): () => Promise<T[K]> {
  const module = createLazyRuntimeModule(load);
  return async () => (await module())[name];
}

/** A function of a module that is loaded at its first call. */
export function createLazyRuntimeMethod<T, Args extends unknown[], Result>(
  load: () => Promise<T>,
  pick: (module: T) => (...args: Args) => Result | Promise<Result>,
): (...args: Args) => Promise<Result> {
  const module = createLazyRuntimeModule(load);
  return async (...args) => {
    const method = pick(await module());
    return method(...args);
  };
}
