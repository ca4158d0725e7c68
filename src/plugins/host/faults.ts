import { messageOf } from "../../base/errors.ts";
import type { PluginDiagnostic } from "../record.ts";

export interface FaultsDeps {
  /** Whose code threw it, by its stack or because it runs now. */
  readonly ownerOf: (error: unknown) => string | undefined;
  readonly report: (found: PluginDiagnostic, error?: unknown) => void;
}

/**
 * Errors that nobody caught. One that came from a plugin is a diagnostic, and the gateway goes on; any other ends the process as it would without
 * this: it is thrown again where nobody listens.
 */
export function catchFaults({ ownerOf, report }: FaultsDeps): Disposable {
  const take =
    (code: string, what: string) =>
    (error: unknown): void => {
      const pluginId = ownerOf(error);
      if (pluginId !== undefined) return report({ level: "error", code, message: `${what}: ${messageOf(error)}`, pluginId }, error);
      stop();
      setImmediate(() => {
        throw error;
      });
    };
  const onException = take("uncaught-exception", "an uncaught exception");
  const onRejection = take("unhandled-rejection", "an unhandled promise rejection");
  const stop = (): void => {
    process.off("uncaughtException", onException);
    process.off("unhandledRejection", onRejection);
  };
  process.on("uncaughtException", onException);
  process.on("unhandledRejection", onRejection);
  return { [Symbol.dispose]: stop };
}
