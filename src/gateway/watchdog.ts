import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log/logger.ts";
import { readExitNote, removeExitNote } from "../base/watchdog/exit-note.ts";
import { createLoopMonitor, type LoopMonitor } from "../base/watchdog/loop-monitor.ts";
import type { WatchRequest } from "../base/watchdog/watch-main-thread.ts";
import type { OpenClawConfig } from "../config/index.ts";
import type { Store } from "../store/index.ts";

const WARN_SECONDS = 5;
const LIMIT_SECONDS = 30;
/** As long as a stop may take. */
const GRACE_SECONDS = 10;
/** How long health shows why the previous process was ended. */
const SHOWN_MS = 24 * 60 * 60 * 1000;

interface Watchdog {
  readonly monitor: LoopMonitor;
  /** For the thread that watches; undefined where a debugger stops the main thread on purpose. */
  readonly request: WatchRequest | undefined;
}

const isDebugged = (): boolean => process.execArgv.some((arg) => arg.startsWith("--inspect"));

/** What the main thread and the thread that watches it share. Disposing the monitor stops its heartbeat. */
export function createWatchdog({ gateway }: OpenClawConfig, { stateDir, pid }: { readonly stateDir: string; readonly pid: number }): Watchdog {
  const monitor = createLoopMonitor();
  const { warnSeconds = WARN_SECONDS, limitSeconds = LIMIT_SECONDS } = gateway?.watchdog ?? {};
  const request = { buffer: monitor.buffer, stateDir, pid, warnSeconds, limitSeconds, graceSeconds: GRACE_SECONDS };
  return { monitor, request: isDebugged() ? undefined : request };
}

/** Why the previous process was ended, if its watchdog ended it. */
interface LastExit {
  /** What health shows of it. */
  notices(): readonly string[];
  /** Writes it into the journal of each turn that was unfinished, for `openclaw why`. */
  trace(store: Pick<Store, "read" | "write">): Promise<void>;
}

/** Reads and logs why the watchdog ended the previous process, if it did. */
export function readLastExit(stateDir: string, { clock, log }: { readonly clock: Clock; readonly log: Logger }): LastExit {
  const note = readExitNote(stateDir);
  if (!note) return { notices: () => [], trace: async () => {} };
  const { at, pid, message, pluginId, what } = note;
  log.warn(`the previous process: ${message}`, { pid, at: new Date(at).toISOString(), pluginId, what });
  const shown = `${new Date(at).toISOString()}: ${message}`;
  return {
    notices: () => (clock.now() - at < SHOWN_MS ? [shown] : []),
    async trace(store) {
      for (const { id, startedAt } of await store.read("turns.unfinished", {})) {
        if (startedAt > at) continue;
        await store.write("journal.append", { turnId: id, kind: "note", data: { exit: { at, message, pluginId, what } } });
      }
      removeExitNote(stateDir);
    },
  };
}
