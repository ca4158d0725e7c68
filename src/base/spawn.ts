import { spawn as start } from "node:child_process";
import type { Readable } from "node:stream";
import { AppError, messageOf, systemCode } from "./errors.ts";

/**
 * Variables that make a child run code its caller did not name. They reach a child only when a trusted configuration sets them by name in `env`;
 * inherited ones are dropped.
 */
const DANGEROUS =
  /^(?:NODE_OPTIONS|NODE_PATH|NODE_REPL_EXTERNAL_MODULE|LD_.*|DYLD_.*|BASH_ENV|ENV|PROMPT_COMMAND|PYTHONSTARTUP|PYTHONPATH|PYTHONHOME|GCONV_PATH|SSLKEYLOGFILE|ZDOTDIR|PERL5OPT|PERL5LIB|RUBYOPT|RUBYLIB|GIT_SSH_COMMAND|GIT_EXTERNAL_DIFF|IFS|SHELLOPTS|BASHOPTS|BASH_FUNC_.*)$/i;

export interface SpawnOptions {
  readonly args?: readonly string[];
  readonly cwd?: string;
  /** The child's whole environment; variables that load foreign code are filtered out. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  /** Output beyond this many bytes kills the child. */
  readonly maxOutputBytes: number;
  readonly input?: string;
  readonly signal?: AbortSignal;
  /** Called with the id of the process, which is also that of its group, once it has one. */
  readonly onStart?: (pid: number) => void;
  /** Called with each chunk as it comes, besides the result. */
  readonly onOutput?: (stream: "stdout" | "stderr", chunk: Buffer) => void;
}

export interface SpawnResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The environment a child may have. */
export function childEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined && !DANGEROUS.test(pair[0])));
}

/** The only way to run a child process to its end: no shell, bounded time and output, filtered environment, killed as a group. */
export function run(command: string, options: SpawnOptions): Promise<SpawnResult> {
  if (options.signal?.aborted === true) return Promise.reject(new AppError("CANCELLED", `${command} was cancelled before it began`));
  const { promise, resolve, reject } = Promise.withResolvers<SpawnResult>();
  const child = start(command, options.args ?? [], {
    cwd: options.cwd,
    env: childEnvironment(options.env),
    shell: false,
    detached: process.platform !== "win32",
    stdio: ["pipe", "pipe", "pipe"],
  });
  const output: Record<"stdout" | "stderr", Buffer[]> = { stdout: [], stderr: [] };
  let size = 0;
  let ended: AppError | undefined;

  function end(error: AppError): void {
    ended ??= error;
    try {
      if (child.pid !== undefined && process.platform !== "win32") process.kill(-child.pid, "SIGKILL");
      else child.kill("SIGKILL");
    } catch {
      // It already ended by itself.
    }
  }

  const timer = setTimeout(() => end(new AppError("TIMEOUT", `${command} did not end within ${options.timeoutMs} ms; it was killed`)), options.timeoutMs);
  const onAbort = (): void => end(new AppError("CANCELLED", `${command} was cancelled`));
  options.signal?.addEventListener("abort", onAbort, { once: true });
  for (const name of ["stdout", "stderr"] as const) {
    child[name].on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > options.maxOutputBytes) end(new AppError("OVERLOADED", `${command} wrote more than ${options.maxOutputBytes} bytes; it was killed`));
      else {
        output[name].push(chunk);
        options.onOutput?.(name, chunk);
      }
    });
  }
  child.stdin.on("error", () => {});
  child.stdin.end(options.input ?? "");
  child.on("error", (error) => {
    const missing = systemCode(error) === "ENOENT";
    end(
      new AppError(missing ? "NOT_FOUND" : "IO_ERROR", missing ? `${command} is not installed or not on PATH` : `${command}: ${messageOf(error)}`, {
        cause: error,
      }),
    );
    finish(null);
  });
  child.on("close", finish);
  try {
    if (child.pid !== undefined) options.onStart?.(child.pid);
  } catch (error) {
    end(new AppError("IO_ERROR", `${command} was ended, since its start could not be noted: ${messageOf(error)}`, { cause: error }));
  }

  function finish(code: number | null): void {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", onAbort);
    const text = (chunks: Buffer[]): string => Buffer.concat(chunks).toString("utf8");
    if (ended) reject(ended);
    else resolve({ code, stdout: text(output.stdout), stderr: text(output.stderr) });
  }
  return promise;
}

/**
 * Starts a program that goes on by itself, such as the user's browser: it is never ended, and nothing it writes is read. Resolves with its exit code, or with
 * undefined when it still runs after `settleMs`.
 */
export function launch(command: string, options: Pick<SpawnOptions, "args" | "env"> & { readonly settleMs: number }): Promise<number | null | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | null | undefined>();
  const child = start(command, options.args ?? [], { env: childEnvironment(options.env), shell: false, detached: true, windowsHide: true, stdio: "ignore" });
  child.unref();
  const timer = setTimeout(() => resolve(undefined), options.settleMs);
  child.on("exit", (code) => resolve(code));
  child.on("error", (error) => reject(new AppError("IO_ERROR", `${command} could not be started: ${messageOf(error)}`, { cause: error })));
  return promise.finally(() => clearTimeout(timer));
}

/** How a child ended: by code or by signal; neither when it could not be started. */
export interface ChildExit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface ChildOptions {
  readonly args: readonly string[];
  readonly cwd: string;
  /** The child's whole environment; variables that load foreign code are filtered out. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called with each chunk as it comes; nothing is buffered here. While a returned promise is pending, the child's output is not read. */
  readonly onOutput: (stream: "stdout" | "stderr", chunk: Buffer) => Promise<void> | undefined;
  /** True keeps its input open for `write`; otherwise it has none. */
  readonly input?: boolean;
}

/** A child process that runs on its own, the head of its process group. */
export interface Child {
  readonly pid: number;
  /** Resolves when it has ended and all its output has been passed on. */
  readonly exited: Promise<ChildExit>;
  /** Sends a signal to the whole group; false when the group is empty. */
  signal(name: "SIGTERM" | "SIGKILL"): boolean;
  /** Writes to its input; false when the input is not open, or more than a megabyte of it is unread. */
  write(data: string | Buffer): boolean;
  /** Closes its input behind everything that was written. */
  endInput(): void;
}

/** Output that is still open this long after the exit belongs to a process that the child left behind. */
const LINGER_MS = 250;
const MOST_UNREAD_BYTES = 1024 * 1024;

/** Starts a child without waiting for it: no shell, no input unless requested, filtered environment. The caller limits time and size. */
export function startChild(command: string, options: ChildOptions): Promise<Child> {
  const { promise, resolve, reject } = Promise.withResolvers<Child>();
  const exited = Promise.withResolvers<ChildExit>();
  const child = start(command, options.args, {
    cwd: options.cwd,
    env: childEnvironment(options.env),
    shell: false,
    detached: process.platform !== "win32",
    stdio: [options.input === true ? "pipe" : "ignore", "pipe", "pipe"],
  });
  const { stdin, stdout, stderr } = child as typeof child & { readonly stdout: Readable; readonly stderr: Readable };
  // `exited` reports its end; input written after it is lost, as on a terminal.
  stdin?.on("error", () => {});
  let paused = 0;
  for (const name of ["stdout", "stderr"] as const) {
    const stream = { stdout, stderr }[name];
    stream.on("data", (chunk: Buffer) => {
      const busy = options.onOutput(name, chunk);
      if (!busy) return;
      paused += 1;
      stream.pause();
      void busy.finally(() => {
        paused -= 1;
        stream.resume();
      });
    });
  }

  function write(data: string | Buffer): boolean {
    if (!stdin?.writable || stdin.writableLength > MOST_UNREAD_BYTES) return false;
    stdin.write(data);
    return true;
  }

  function signal(name: "SIGTERM" | "SIGKILL"): boolean {
    try {
      return process.platform === "win32" || child.pid === undefined ? child.kill(name) : process.kill(-child.pid, name);
    } catch {
      return false;
    }
  }

  child.on("spawn", () => resolve({ pid: child.pid ?? 0, exited: exited.promise, signal, write, endInput: () => void stdin?.end() }));
  child.on("error", (error) => reject(new AppError("IO_ERROR", `${command} could not be started: ${messageOf(error)}`, { cause: error })));
  child.on("exit", () => {
    const timer = setInterval(() => {
      // Output written before its end is still to be read.
      if (paused > 0) return;
      stdout.destroy();
      stderr.destroy();
      stdin?.destroy();
      clearInterval(timer);
    }, LINGER_MS);
    child.on("close", () => clearInterval(timer));
  });
  child.on("close", (code, name) => exited.resolve({ code, signal: name }));
  return promise;
}
