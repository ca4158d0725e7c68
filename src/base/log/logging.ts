import type { Clock } from "../clock.ts";
import { createConsoleSink, type ConsoleStyle } from "./console-sink.ts";
import { createFileSink, type FileSink } from "./file-sink.ts";
import { createLogger, type Logger, type LogLevel, type LogOutput, type LogSink } from "./logger.ts";
import type { Redactor } from "../redaction.ts";
import { logFileAt } from "./log-file.ts";

const MAX_FILE_BYTES = 50 * 1024 * 1024;
const KEEP_MS = 24 * 60 * 60 * 1000;

/** `logging` of the configuration. */
export interface LogSettings {
  readonly level?: LogLevel | undefined;
  readonly levels?: Readonly<Record<string, LogLevel>> | undefined;
  readonly file?: string | undefined;
  readonly maxFileBytes?: number | undefined;
  readonly consoleLevel?: LogLevel | undefined;
  readonly consoleStyle?: ConsoleStyle | undefined;
  /** Regular expressions of texts to mask. */
  readonly redactPatterns?: readonly string[] | undefined;
}

export interface LoggingOptions {
  readonly settings: LogSettings | undefined;
  readonly stateDir: string;
  readonly console: { readonly write: (text: string) => void; readonly color: boolean; readonly terminal: boolean };
  /** `--verbose`: the console shows debug lines, whatever the file says. */
  readonly verbose: boolean;
}

export interface Logging {
  readonly log: Logger;
  readonly file: FileSink;
  readonly consoleStyle: ConsoleStyle;
  /** Where the log goes now. */
  readonly path: () => string;
  /** Another place for what goes into the file, until it is disposed of. */
  tap(sink: LogSink): Disposable;
  /** From now on these settings count: levels, files, sizes and the console's style. */
  follow(settings: LogSettings | undefined): void;
}

/** The gateway's logger: JSON lines to the dated file, readable lines to the console, secrets in neither. */
export function openLogging({ settings, stateDir, console, verbose }: LoggingOptions, deps: { readonly clock: Clock; readonly redactor: Redactor }): Logging {
  let now = settings;
  const styleNow = (): ConsoleStyle => now?.consoleStyle ?? (console.terminal ? "pretty" : "compact");
  const screen = createConsoleSink({
    stream: { write: console.write },
    color: console.color,
    get style() {
      return styleNow();
    },
  });
  const usualFileAt = logFileAt({ stateDir });
  const fileAt = (time: number): string => now?.file || usualFileAt(time);
  const file = createFileSink({
    clock: deps.clock,
    file: fileAt,
    get maxBytes() {
      return now?.maxFileBytes ?? MAX_FILE_BYTES;
    },
    keepMs: KEEP_MS,
    onProblem: (message) => screen.write({ time: deps.clock.now(), level: "warn", subsystem: "log", message, fields: {} }),
  });
  const asInFile = (sink: LogSink): LogOutput => ({
    sink,
    get level() {
      return now?.level ?? "info";
    },
  });
  const outputs: LogOutput[] = [
    asInFile(file),
    {
      sink: screen,
      get level() {
        return verbose ? "debug" : (now?.consoleLevel ?? "info");
      },
    },
  ];
  const log = createLogger({
    ...deps,
    outputs,
    get levels() {
      return now?.levels ?? {};
    },
  });
  function mask(patterns: readonly string[] = []): void {
    for (const wrong of deps.redactor.patterns(patterns))
      log.warn(`logging.redactPatterns: ${JSON.stringify(wrong)} is no regular expression and hides nothing`);
  }
  mask(settings?.redactPatterns);
  return {
    log,
    file,
    consoleStyle: styleNow(),
    path: () => fileAt(deps.clock.now()),
    tap(sink) {
      const output = asInFile(sink);
      outputs.push(output);
      return { [Symbol.dispose]: () => void outputs.splice(outputs.indexOf(output), 1) };
    },
    follow(next) {
      now = next;
      mask(next?.redactPatterns);
    },
  };
}
