/** `runtime.logging`. */
import type { RuntimeLogging } from "../sdk/types/index.ts";
import type { RuntimeOwner, RuntimePorts } from "./ports.ts";

export function createLogging({ log, verbose }: RuntimePorts, owner: RuntimeOwner): RuntimeLogging {
  return {
    shouldLogVerbose: verbose,
    getChildLogger(bindings) {
      const method = (level: "debug" | "info" | "warn" | "error") => (message: string, meta?: Readonly<Record<string, unknown>>) =>
        log[level](`[${owner.id}] ${message}`, { ...bindings, ...meta });
      return { debug: method("debug"), info: method("info"), warn: method("warn"), error: method("error") };
    },
  };
}
