/** A program that speaks JSON-RPC over its input and output, one message per line. */
import type { Child } from "../../../base/spawn.ts";
import { createLines, openChild } from "./child.ts";
import { ChannelError, notSent, unsure } from "./failure.ts";
import { type Fields, fieldsOf, jsonOf, textOf } from "./fields.ts";

export interface RpcProcessOptions {
  /** For people: "imsg". */
  readonly platform: string;
  /** A name on the search path, or a path. No shell reads it. */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Where variables come from: it inherits what commands do. Default: the host's environment. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly signal: AbortSignal;
  /** A message that answers no request. */
  onNotification(method: string, params: unknown): void;
  /** Any line. */
  readonly onAlive?: (() => void) | undefined;
  /** Lines that are not of the protocol, and what it writes to its error output. */
  readonly onNoise?: ((text: string) => void) | undefined;
  /** A longer line is left out, and reported to `onNoise`. Default 16 MiB. */
  readonly maxLineBytes?: number | undefined;
  /** After its input is closed it has this long before it is terminated, and 2 s more before it is killed. Default 500 ms. */
  readonly stopMs?: number | undefined;
}

export interface RpcRequestOptions {
  /** Default 10 s. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface RpcProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** Why we ended it. */
  readonly error: Error | undefined;
  /** The last that it wrote beside the protocol. */
  readonly noise: string;
}

export interface RpcProcess {
  readonly pid: number;
  /** Never rejects. */
  readonly ended: Promise<RpcProcessEnd>;
  /**
   * Resolves with the result. Rejects with a `ChannelError`: `failed` with the error's code in `reason` where the program answered with one, `unknown` where it
   * did not answer, `retry` where nothing was written to it.
   */
  request(method: string, params?: Fields, options?: RpcRequestOptions): Promise<unknown>;
  /** Closes its input; resolves when it has ended. */
  close(why?: Error): Promise<void>;
  /** Stops and resumes reading. Requests wait for their answers without a limit while it is stopped. */
  flow(isOpen: boolean): void;
}

const MAX_LINE_BYTES = 16 * 1024 * 1024;
const REQUEST_MS = 10_000;
const STOP_MS = 500;
const KILL_MS = 2000;
const NOISE_CHARS = 2000;

function refusalOf(platform: string, method: string, error: Fields): ChannelError {
  const { code, message, data } = error;
  const detail = typeof data === "string" ? data : data === undefined ? "" : JSON.stringify(data);
  const description = [textOf(message), detail].filter(Boolean).join(": ") || "no reason given";
  return new ChannelError(`${platform} refused ${method}: ${description}`, {
    action: method,
    description,
    reason: typeof code === "number" ? String(code) : undefined,
    delivery: { state: "failed" },
    code: "RPC_ERROR",
    body: error,
  });
}

interface Pending {
  readonly method: string;
  resolve(result: unknown): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout | undefined;
}

interface Requests {
  /** False: it answers nothing that was asked. */
  answer(message: Fields): boolean;
  ask(child: Child, method: string, params: Fields, options: RpcRequestOptions): Promise<unknown>;
  end(): void;
}

function createRequests(platform: string, isPaused: () => boolean): Requests {
  const open = new Map<number, Pending>();
  let count = 0;
  let isOver = false;

  function take(id: number): Pending | undefined {
    const pending = open.get(id);
    open.delete(id);
    clearTimeout(pending?.timer);
    return pending;
  }
  function arm(id: number, pending: Pending, ms: number): void {
    pending.timer = setTimeout(() => {
      if (isPaused()) return arm(id, pending, ms);
      take(id)?.reject(unsure(pending.method, `${platform} did not respond to ${pending.method} within ${ms} ms`));
    }, ms);
  }

  return {
    answer({ id, result, error }) {
      const pending = typeof id === "number" ? take(id) : undefined;
      if (!pending) return false;
      const refused = fieldsOf(error);
      if (refused) pending.reject(refusalOf(platform, pending.method, refused));
      else pending.resolve(result);
      return true;
    },
    ask(child, method, params, { timeoutMs = REQUEST_MS, signal }) {
      if (isOver || signal?.aborted) return Promise.reject(notSent(method, isOver ? `${platform} is not running` : `${method} was cancelled`));
      const id = (count += 1);
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const pending: Pending = { method, resolve, reject, timer: undefined };
      if (!child.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`)) {
        return Promise.reject(notSent(method, `${platform} does not read its input`));
      }
      open.set(id, pending);
      arm(id, pending, timeoutMs);
      const cancel = (): void => take(id)?.reject(unsure(method, `${method} was cancelled after it was written to ${platform}`));
      signal?.addEventListener("abort", cancel, { once: true });
      return promise.finally(() => signal?.removeEventListener("abort", cancel));
    },
    end() {
      isOver = true;
      for (const id of open.keys()) {
        const pending = take(id);
        pending?.reject(unsure(pending.method, `${platform} exited before it responded to ${pending.method}`));
      }
    },
  };
}

/** Starts the program. Rejects where it cannot be started; with `permanent` where it is not there. */
export async function openRpcProcess(options: RpcProcessOptions): Promise<RpcProcess> {
  const { platform, signal, onNotification, onAlive, onNoise, maxLineBytes = MAX_LINE_BYTES, stopMs = STOP_MS } = options;
  let noise = "";
  let why: Error | undefined;
  let paused: PromiseWithResolvers<void> | undefined;
  let closing: Promise<void> | undefined;
  const requests = createRequests(platform, () => paused !== undefined);

  function hear(text: string): void {
    noise = `${noise}${text}\n`.slice(-NOISE_CHARS);
    onNoise?.(text);
  }
  function line(text: string): void {
    onAlive?.();
    const message = fieldsOf(jsonOf(text));
    if (!message) return hear(text);
    if (typeof message["method"] === "string") return onNotification(message["method"], message["params"]);
    if (!requests.answer(message) && fieldsOf(message["error"])) hear(text);
  }
  const lines = {
    stdout: createLines(maxLineBytes, line, () => hear(`a line of more than ${maxLineBytes} bytes was skipped: its content is lost`)),
    stderr: createLines(maxLineBytes, hear),
  };
  const child = await openChild({
    command: options.command,
    args: options.args ?? [],
    from: options.env,
    input: true,
    onOutput(stream, chunk) {
      lines[stream](chunk);
      return stream === "stdout" ? paused?.promise : undefined;
    },
  });

  function close(error?: Error): Promise<void> {
    why ??= error;
    return (closing ??= stop());
  }
  async function stop(): Promise<void> {
    child.endInput();
    // What is not read would hold its end back.
    flow(true);
    const terminate = setTimeout(() => child.signal("SIGTERM"), stopMs);
    const kill = setTimeout(() => child.signal("SIGKILL"), stopMs + KILL_MS);
    await child.exited;
    clearTimeout(terminate);
    clearTimeout(kill);
  }
  function flow(isOpen: boolean): void {
    if (!isOpen) paused ??= Promise.withResolvers<void>();
    else {
      paused?.resolve();
      paused = undefined;
    }
  }
  const onAbort = (): void => void close();
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const ended = child.exited.then((exit): RpcProcessEnd => {
    signal.removeEventListener("abort", onAbort);
    requests.end();
    return { ...exit, error: why, noise: noise.trim() };
  });
  return { pid: child.pid, ended, close, flow, request: (method, params = {}, request = {}) => requests.ask(child, method, params, request) };
}
