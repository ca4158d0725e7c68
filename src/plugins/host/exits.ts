import { AppError } from "../../base/errors.ts";
import type { PluginDiagnostic } from "../record.ts";

export interface ExitsDeps {
  /** Whose code runs now, or is on the stack of the error. */
  readonly ownerOf: (error: unknown) => string | undefined;
  readonly report: (found: PluginDiagnostic, error?: unknown) => void;
  /** What the process is; `the gateway` when left out. */
  readonly subject?: string | undefined;
  /** Whether a plugin may end the process now; never when left out. */
  readonly mayExit?: (() => boolean) | undefined;
}

type Ending = "exit" | "reallyExit" | "abort" | "kill";

/** Signals that stop or restart the gateway in order, or ask only whether it is there. */
const ORDERLY: ReadonlySet<unknown> = new Set([0, "SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1", "SIGUSR2", 15, 2, 1, 10, 12]);

/** True for a signal that would reach this very process. */
const isSelf = (pid: unknown): boolean => Number(pid) === process.pid || Number(pid) === 0 || Number(pid) === -process.pid;

/**
 * A plugin cannot end the gateway, nor a command that loads it: what would do so throws in its code instead, and is reported with its name. A signal that stops the process in order
 * passes, and is reported, too. Whatever is not a plugin's own call goes on as without this.
 */
export function refuseExits({ ownerOf, report, subject = "the gateway", mayExit = () => false }: ExitsDeps): Disposable {
  const target = process as unknown as Record<Ending, (...args: unknown[]) => unknown>;
  const restore: (() => void)[] = [];

  function replace(name: Ending, judge: (args: readonly unknown[]) => { readonly call: string; readonly refused: boolean } | undefined): void {
    const original = target[name];
    const replacement = (...args: unknown[]): unknown => {
      const verdict = mayExit() ? undefined : judge(args);
      if (!verdict) return Reflect.apply(original, process, args);
      const { call, refused } = verdict;
      const error = new AppError("PLUGIN_FAILED", `${call} is refused: a plugin cannot end ${subject}; throw an error, or report the problem with api.logger`);
      const pluginId = ownerOf(error);
      if (pluginId === undefined) return Reflect.apply(original, process, args);
      const message = refused ? `it called ${call}, which is refused: ${subject} continues` : `it called ${call}`;
      report({ level: refused ? "error" : "warn", code: "process-exit", message, pluginId }, error);
      if (refused) throw error;
      return Reflect.apply(original, process, args);
    };
    target[name] = replacement;
    restore.push(() => {
      // Other code has replaced it since: leave that in place.
      if (target[name] === replacement) target[name] = original;
    });
  }

  const ends = (name: Ending): void => replace(name, (args) => ({ call: `process.${name}(${args.map(String).join(", ")})`, refused: true }));
  ends("exit");
  ends("reallyExit");
  ends("abort");
  replace("kill", ([pid, signal = "SIGTERM"]) =>
    isSelf(pid) && signal !== 0 ? { call: `process.kill(process.pid, ${String(signal)})`, refused: !ORDERLY.has(signal) } : undefined,
  );
  // `import { exit } from "node:process"` means the same.
  const { syncBuiltinESMExports } = process.getBuiltinModule("node:module");
  syncBuiltinESMExports();
  return {
    [Symbol.dispose]() {
      for (const undo of restore.splice(0)) undo();
      syncBuiltinESMExports();
    },
  };
}
