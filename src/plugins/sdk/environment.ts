/** What a plugin's code leans on while it runs: logs, waiting, a terminal. */
import type { RuntimeEnv, RuntimeLogger } from "../../protocol/index.ts";
import { sdkHost, type SdkLogRecord } from "./host-binding.ts";
import { whenAborted } from "../../base/when-aborted.ts";

/** Whether details are wanted in the log. */
export function shouldLogVerbose(): boolean {
  return sdkHost()?.verbose?.() === true;
}

export const isVerbose = (): boolean => shouldLogVerbose();

function write(record: SdkLogRecord): void {
  sdkHost()?.log?.(record);
}

export function logVerbose(message: string): void {
  if (shouldLogVerbose()) write({ level: "debug", subsystem: "plugin", message });
}

export const logDebug = (message: string): void => write({ level: "debug", subsystem: "plugin", message });
export const logInfo = (message: string): void => write({ level: "info", subsystem: "plugin", message });
export const logError = (message: string): void => write({ level: "error", subsystem: "plugin", message });

type LogCall = (message: string, meta?: Record<string, unknown>) => void;

export interface SubsystemLogger {
  subsystem: string;
  trace: LogCall;
  debug: LogCall;
  info: LogCall;
  warn: LogCall;
  error: LogCall;
  fatal: LogCall;
  raw(message: string): void;
  isEnabled(level: string): boolean;
  child(name: string): SubsystemLogger;
}

/** A logger for one part of a plugin. Lines go to the host's log; without a host nowhere. */
export function createSubsystemLogger(subsystem: string): SubsystemLogger {
  const at =
    (level: SdkLogRecord["level"]): LogCall =>
    (message, meta) =>
      write({ level, subsystem, message, meta });
  return {
    subsystem,
    trace: at("trace"),
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    fatal: at("fatal"),
    raw: (message) => write({ level: "info", subsystem, message }),
    isEnabled: (level) => (level !== "debug" && level !== "trace") || shouldLogVerbose(),
    child: (name) => createSubsystemLogger(`${subsystem}/${name}`),
  };
}

/** As {@link createSubsystemLogger}, named by its bindings. */
export function getChildLogger(bindings: Record<string, unknown> = {}): RuntimeLogger {
  const name = Object.values(bindings).map(String).join("/");
  return createSubsystemLogger(name || "plugin");
}

/** Waits unless the signal fires first, in which case it rejects with the signal's reason. */
export function sleepWithAbort(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = setTimeout(done, Math.max(0, ms));
    function stop(): void {
      clearTimeout(timer);
      reject(signal?.reason);
    }
    function done(): void {
      signal?.removeEventListener("abort", stop);
      resolve();
    }
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** Resolves when the signal fires. */
export function waitForAbortSignal(signal?: AbortSignal): Promise<void> {
  return signal ? whenAborted(signal) : Promise.resolve();
}

export interface BackoffPolicy {
  initialMs: number;
  maxMs: number;
  factor: number;
  /** Share of the wait that is left to chance, 0 to 1. */
  jitter: number;
}

/** How long to wait before attempt `attempt`, counted from 1. */
export function computeBackoff(policy: BackoffPolicy, attempt: number): number {
  const base = policy.initialMs * policy.factor ** Math.max(attempt - 1, 0);
  return Math.min(policy.maxMs, Math.round(base * (1 + policy.jitter * Math.random())));
}

/** Tries until it works, `attempts` times, waiting longer each time. */
export async function retryAsync<T>(
  fn: () => Promise<T>,
  options: { attempts?: number; minDelayMs?: number; maxDelayMs?: number; shouldRetry?: (error: unknown, attempt: number) => boolean } = {},
): Promise<T> {
  const { attempts = 3, minDelayMs = 300, maxDelayMs = 30_000, shouldRetry = () => true } = options;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await fn();
    } catch (error) {
      if (attempt >= attempts || !shouldRetry(error, attempt)) throw error;
    }
    await sleepWithAbort(Math.min(maxDelayMs, minDelayMs * 2 ** (attempt - 1)));
  }
}

/** A terminal whose lines go to the log and that never ends the process. */
export function createNonExitingRuntime(): RuntimeEnv {
  return {
    log: (...args) => logInfo(args.map(String).join(" ")),
    error: (...args) => logError(args.map(String).join(" ")),
    exit(code) {
      throw new Error(`exit ${code} was requested, and a plugin cannot end the gateway`);
    },
  };
}

export const defaultRuntime: RuntimeEnv = createNonExitingRuntime();

/** A command line as this installation writes it. */
export const formatCliCommand = (command: string): string => command;

/** Whether a program can be found: a path that may be run, or a name on the search path. */
export async function detectBinary(name: string): Promise<boolean> {
  const { access, constants } = await import("node:fs/promises");
  const { delimiter, join } = await import("node:path");
  const folders = /[/\\]/.test(name) ? [""] : (sdkHost()?.env["PATH"] ?? "").split(delimiter).filter(Boolean);
  const endings = process.platform === "win32" ? [".exe", ".cmd", ".bat", ""] : [""];
  for (const path of folders.flatMap((folder) => endings.map((ending) => (folder ? join(folder, name + ending) : name + ending)))) {
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return true;
  }
  return false;
}
