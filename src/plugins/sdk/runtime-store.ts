/** Where a plugin keeps the `api.runtime` that it got, for its other modules. */
import { AppError } from "../../base/errors.ts";
import type { PluginRuntime } from "./types/runtime.ts";

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
        throw new AppError("UNAVAILABLE", errorMessage ?? `the runtime of ${pluginId ?? "this plugin"} is not there before register was called`);
      return current;
    },
    tryGetRuntime: () => current,
    clearRuntime: () => void (current = null),
  };
}
