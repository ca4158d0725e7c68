import type { Worker } from "node:worker_threads";
import type { Clock } from "../../../base/clock.ts";
import { AppError, messageOf } from "../../../base/errors.ts";

/** Tells which lines are meant. */
export interface Matcher extends AsyncDisposable {
  /** Places of the lines that match, in order. `TIMEOUT` when the pattern takes too long on them, after which it is of no more use. */
  match(lines: readonly string[]): Promise<readonly number[]>;
}

export interface Pattern {
  readonly text: string;
  readonly ignoreCase: boolean;
  readonly literal: boolean;
}

export interface MatcherDeps {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Longest time for one call of `match`. */
  readonly blockMs: number;
}

const MAX_PATTERN_CHARS = 10_000;
const SPECIAL = /[\\^$.*+?()[\]{}|]/;

/**
 * A text is looked for here. A regular expression runs in a thread of its own, which is ended when it takes too long: some take longer than the age of
 * the world. `INVALID_INPUT` when it is none.
 */
export function createMatcher({ text, ignoreCase, literal }: Pattern, deps: MatcherDeps): Matcher {
  if (text.length > MAX_PATTERN_CHARS) throw new AppError("INVALID_INPUT", `The pattern has more than ${MAX_PATTERN_CHARS} characters: make it shorter`);
  if (literal || !SPECIAL.test(text)) return literalMatcher(text, ignoreCase);
  return threadMatcher(compile(text, ignoreCase), deps);
}

function literalMatcher(text: string, ignoreCase: boolean): Matcher {
  const wanted = ignoreCase ? text.toLowerCase() : text;
  const isIn = (line: string): boolean => (ignoreCase ? line.toLowerCase() : line).includes(wanted);
  return {
    match: async (lines) => lines.flatMap((line, at) => (isIn(line) ? [at] : [])),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

interface Expression {
  readonly source: string;
  readonly flags: string;
}

/** Only read here, which takes no time; it is never run on this thread. `(?i)` in front is what other programs know. */
function compile(text: string, ignoreCase: boolean): Expression {
  const source = text.replace(/^\(\?i\)/, "");
  const fold = ignoreCase || source !== text ? "i" : "";
  let failure: unknown;
  // Without `u`, needless escapes such as `\-` are allowed.
  for (const flags of [`${fold}u`, fold]) {
    try {
      void new RegExp(source, flags);
      return { source, flags };
    } catch (error) {
      failure = error;
    }
  }
  throw new AppError("INVALID_INPUT", `${messageOf(failure)}. Use literal=true to look for the text as it is.`);
}

const THREAD = `
const { workerData, parentPort } = require("node:worker_threads");
const pattern = new RegExp(workerData.source, workerData.flags);
parentPort.postMessage([]);
parentPort.on("message", (text) => {
  const lines = text.split("\\n");
  const found = [];
  try {
    for (let at = 0; at < lines.length; at += 1) if (pattern.test(lines[at])) found.push(at);
    parentPort.postMessage(found);
  } catch (error) {
    parentPort.postMessage(String(error?.message ?? error));
  }
});
`;

/** A machine that is busy takes its time to start a thread; that is not the pattern's fault. */
const START_MS = 20_000;

async function startThread(workerData: Expression): Promise<Worker> {
  const { Worker } = await import("node:worker_threads");
  const resourceLimits = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 64 };
  const worker = new Worker(THREAD, { eval: true, name: "grep", workerData, execArgv: [], env: {}, resourceLimits });
  // The caller that waits gets the failure; one after that concerns nobody.
  return worker.on("error", () => undefined);
}

function threadMatcher(expression: Expression, { clock, signal, blockMs }: MatcherDeps): Matcher {
  let thread: Worker | undefined;
  return {
    async match(lines) {
      if (!thread) {
        thread = await startThread(expression);
        using late = deadline(clock, START_MS, "The search thread did not start: try again");
        await nextMessage(thread, signal, late.passed);
      }
      using late = deadline(clock, blockMs, `The pattern took longer than ${blockMs} ms: make it simpler`);
      thread.postMessage(lines.join("\n"));
      const said = await nextMessage(thread, signal, late.passed);
      if (typeof said === "string") throw new AppError("INVALID_INPUT", `The pattern failed: ${said}`);
      return said;
    },
    async [Symbol.asyncDispose]() {
      // Not waited for: the call ends in time, whatever the engine is busy with.
      void thread?.terminate();
    },
  };
}

function deadline(clock: Clock, ms: number, text: string): Disposable & { readonly passed: Promise<never> } {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = clock.after(ms, () => reject(new AppError("TIMEOUT", text)));
  return { passed: promise, [Symbol.dispose]: () => timer[Symbol.dispose]() };
}

async function nextMessage(worker: Worker, signal: AbortSignal, late: Promise<never>): Promise<readonly number[] | string> {
  const answer = Promise.withResolvers<readonly number[] | string>();
  const onError = (error: unknown): void => answer.reject(new AppError("INVALID_INPUT", `The pattern failed: ${messageOf(error)}`));
  const onAbort = (): void => answer.reject(signal.reason);
  worker.once("message", answer.resolve).once("error", onError);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([answer.promise, late]);
  } finally {
    worker.off("message", answer.resolve).off("error", onError);
    signal.removeEventListener("abort", onAbort);
  }
}
