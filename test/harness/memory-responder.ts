import { systemClock, type Clock } from "../../src/base/clock.ts";
import { AppError } from "../../src/base/errors.ts";
import type { AcceptedRun, Responder, RunEvent, RunOutcome, RunRequest } from "../../src/gateway/ports.ts";

/**
 * A responder that keeps its runs in memory. Messages steer it: `@chunks=N`, `@gap=MS`, `@hold` (until aborted), `@fail`, `@empty`; `@tools` shows the use of a
 * tool, `@thinking` a thought, `@compaction` a summing up, each with `@late` when the run is aborted; `@call` calls every tool of the caller's, `@usage` counts tokens, `@length` stops at the limit.
 */
export interface MemoryResponder extends Responder {
  /** What was accepted, in order. */
  readonly requests: readonly RunRequest[];
  /** Ids of runs that were aborted. */
  readonly aborted: readonly string[];
  /** Resolves with the next run that is accepted. */
  nextAccepted(): Promise<RunRequest>;
  nextAborted(): Promise<string>;
}

interface Running {
  readonly request: RunRequest;
  readonly ended: PromiseWithResolvers<RunOutcome>;
  outcome?: RunOutcome;
  text: string;
  timer?: Disposable;
}

const number = (message: string, name: string, otherwise: number): number => Number(new RegExp(`@${name}=(\\d+)`).exec(message)?.[1] ?? otherwise);

/** What such a responder answers to a message. */
export const echoOf = (message: string): string => `Echo: ${message.replace(/@\w+(?:=\d+)?\s*/g, "").trim()}`;

const USAGE = { input: 100, output: 20, cacheRead: 30, cacheWrite: 5, total: 155 };

/** How a run ends that nobody stops. */
function endOf({ message, clientTools = [] }: RunRequest, text: string): RunOutcome {
  if (message.includes("@fail")) return { status: "error", error: "the test asked for it" };
  const calls = clientTools.map(({ name }, index) => ({ type: "toolCall" as const, id: `call-${index}`, name, arguments: { city: "Bern", n: index } }));
  return {
    status: "ok",
    text,
    sessionId: "s",
    durationMs: 0,
    ...(message.includes("@usage") ? { provider: "acme", model: "large", usage: USAGE, lastCallUsage: { ...USAGE, input: 50, total: 105 } } : {}),
    ...(message.includes("@call") ? { calls, stopReason: "toolUse" } : {}),
    ...(message.includes("@length") ? { stopReason: "length" } : {}),
  };
}

const LONG = "x".repeat(100_000);

/** What happens in a run beside its answer. */
function* happenings(message: string): Generator<RunEvent> {
  const call = { name: "read", toolCallId: "t1" };
  if (message.includes("@thinking")) yield { stream: "thinking", data: { text: "hm", delta: "hm" } };
  if (message.includes("@tools")) {
    yield { stream: "tool", data: { ...call, phase: "start", args: { path: "a.txt" } } };
    yield { stream: "tool", data: { ...call, phase: "update", partialResult: { content: [{ type: "text", text: "par" }] } } };
    yield { stream: "tool", data: { ...call, phase: "result", isError: false, result: { content: [{ type: "text", text: LONG }] } } };
  }
  if (message.includes("@compaction")) {
    yield { stream: "compaction", data: { phase: "start" } };
    yield { stream: "compaction", data: { phase: "end" } };
  }
}

function pieces(text: string, count: number): readonly string[] {
  const size = Math.max(1, Math.ceil(text.length / count));
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) => text.slice(index * size, (index + 1) * size));
}

export function createMemoryResponder(clock: Clock = systemClock): MemoryResponder {
  const runs = new Map<string, Running>();
  const requests: RunRequest[] = [];
  const aborted: string[] = [];
  const listeners = new Set<Parameters<Responder["onEvent"]>[0]>();
  const waiting = { accepted: Promise.withResolvers<RunRequest>(), aborted: Promise.withResolvers<string>() };

  function emit(run: Running, event: RunEvent): void {
    const { runId, sessionKey } = run.request;
    for (const listener of listeners) listener({ runId, sessionKey }, event);
  }
  function end(run: Running, outcome: RunOutcome): void {
    run.timer?.[Symbol.dispose]();
    run.outcome = outcome;
    const endedAt = clock.now();
    if (outcome.status === "error") emit(run, { stream: "lifecycle", data: { phase: "error", error: outcome.error, endedAt } });
    else emit(run, { stream: "lifecycle", data: { phase: "end", endedAt, aborted: outcome.status === "aborted" } });
    run.ended.resolve(outcome);
  }
  function start(run: Running): void {
    const { message } = run.request;
    emit(run, { stream: "lifecycle", data: { phase: "start", startedAt: clock.now() } });
    if (!message.includes("@late")) for (const event of happenings(message)) emit(run, event);
    const answer = message.includes("@empty") ? "" : echoOf(message);
    const parts = [...pieces(answer, number(message, "chunks", 1))];
    const gap = number(message, "gap", 0);
    const step = (): void => {
      if (run.outcome) return;
      const delta = parts.shift();
      if (delta !== undefined) {
        run.text += delta;
        emit(run, { stream: "assistant", data: { text: run.text, delta } });
      }
      if (parts.length > 0) return void (run.timer = clock.after(gap, step));
      if (message.includes("@hold")) return;
      end(run, endOf(run.request, answer));
    };
    run.timer = clock.after(0, step);
  }

  return {
    requests,
    aborted,
    nextAccepted: () => waiting.accepted.promise,
    nextAborted: () => waiting.aborted.promise,
    async accept(request): Promise<AcceptedRun> {
      const { runId, message } = request;
      if (message.includes("@refuse")) throw new AppError("OVERLOADED", "too many messages wait; try again later");
      const before = runs.get(runId);
      if (before && before.request.message !== message) throw new AppError("CONFLICT", `the run ${runId} was started with another message`);
      if (before) return { runId, duplicate: true, ...(before.outcome ? { ended: before.outcome } : {}) };
      const run: Running = { request, ended: Promise.withResolvers(), text: "" };
      runs.set(runId, run);
      requests.push(request);
      start(run);
      waiting.accepted.resolve(request);
      waiting.accepted = Promise.withResolvers();
      return { runId, duplicate: false };
    },
    async outcome(runId, signal) {
      const run = runs.get(runId);
      if (!run) return undefined;
      const left = Promise.withResolvers<never>();
      signal?.addEventListener("abort", () => left.reject(new AppError("CANCELLED", "the caller no longer waits")), { once: true });
      return Promise.race([run.ended.promise, left.promise]);
    },
    abort({ sessionKey, runId }) {
      const reached = [...runs.values()].filter(
        (run) => !run.outcome && run.request.sessionKey === sessionKey && (runId === undefined || run.request.runId === runId),
      );
      for (const run of reached) {
        if (run.request.message.includes("@late")) for (const event of happenings(run.request.message)) emit(run, event);
        end(run, { status: "aborted", text: run.text, sessionId: "s", durationMs: 0 });
        aborted.push(run.request.runId);
        waiting.aborted.resolve(run.request.runId);
        waiting.aborted = Promise.withResolvers();
      }
      return reached.map((run) => run.request.runId);
    },
    onEvent(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}
