import type { Clock } from "../clock.ts";
import type { Redactor } from "../redaction.ts";

/** From loudest to quietest; a logger set to a level drops everything after it. */
export const LOG_LEVELS = ["silent", "fatal", "error", "warn", "info", "debug", "trace"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogFields = Readonly<Record<string, unknown>>;

/** One log entry, already redacted. */
export interface LogRecord {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly level: LogLevel;
  readonly subsystem: string;
  readonly message: string;
  readonly fields: LogFields;
}

/** Where records go. `write` must not block and must not throw. */
export interface LogSink {
  write(record: LogRecord): void;
  /** Resolves when everything written so far has left the process, as far as the sink can tell. */
  flush(): Promise<void>;
}

export type LogMethod = (message: string, fields?: LogFields) => void;

export interface Logger {
  readonly fatal: LogMethod;
  readonly error: LogMethod;
  readonly warn: LogMethod;
  readonly info: LogMethod;
  readonly debug: LogMethod;
  readonly trace: LogMethod;
  /** A logger with the same sinks for another subsystem, with that subsystem's level. */
  subsystem(name: string): Logger;
}

/** The level is read whenever a line is written, so that it may change while the process runs. */
export interface LogOutput {
  readonly sink: LogSink;
  readonly level: LogLevel;
}

export interface LoggerDeps {
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly outputs: readonly LogOutput[];
  /** Levels of single subsystems; the others use their output's level. */
  readonly levels?: Readonly<Record<string, LogLevel>>;
}

const rank = (level: LogLevel): number => LOG_LEVELS.indexOf(level);

export function createLogger(deps: LoggerDeps, subsystem = "app"): Logger {
  function method(level: LogLevel): LogMethod {
    const at = rank(level);
    return (message, fields) => {
      let record: LogRecord | undefined;
      for (const output of deps.outputs) {
        if (at > rank(deps.levels?.[subsystem] ?? output.level)) continue;
        record ??= {
          time: deps.clock.now(),
          level,
          subsystem,
          message: deps.redactor.text(message),
          fields: fields ? (deps.redactor.value(fields) as LogFields) : {},
        };
        output.sink.write(record);
      }
    };
  }

  return {
    fatal: method("fatal"),
    error: method("error"),
    warn: method("warn"),
    info: method("info"),
    debug: method("debug"),
    trace: method("trace"),
    subsystem: (name) => createLogger(deps, name),
  };
}

/** Drops everything: for code that must work without a logger. */
export const silentLogger: Logger = {
  fatal: () => {},
  error: () => {},
  warn: () => {},
  info: () => {},
  debug: () => {},
  trace: () => {},
  subsystem: () => silentLogger,
};
