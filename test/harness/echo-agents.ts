import type { Clock } from "../../src/base/clock.ts";
import type { Answerer } from "../../src/app/responder/answer.ts";
import type { AssistantMessage } from "../../src/protocol/index.ts";

/** What the echo says to a message, and how fast. */
export interface Answer {
  /** In order; joined they are the whole text. */
  readonly pieces: readonly string[];
  /** Time between two pieces. */
  readonly gapMs: number;
}

const MAX_PIECES = 10_000;
const MAX_GAP_MS = 60_000;
const SETTING = /@(chunks|gap)=(\d{1,9})(?=\s|$)/g;

/**
 * The message itself. `@chunks=N` and `@gap=MS` are taken out of it and steer the stream: the text is the first of N pieces, numbered words are the
 * others, and MS passes between two.
 */
export function answerTo(message: string): Answer {
  const settings = new Map([...message.matchAll(SETTING)].map(([, name, value]) => [name!, Number(value)]));
  const text = settings.size === 0 ? message : message.replace(SETTING, "").replaceAll(/ {2,}/g, " ").trim();
  const count = Math.min(Math.max(settings.get("chunks") ?? 1, 1), MAX_PIECES);
  const pieces = Array.from({ length: count }, (_, index) => (index === 0 ? text : ` w${index}`));
  return { pieces, gapMs: Math.min(settings.get("gap") ?? 0, MAX_GAP_MS) };
}

const USAGE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };

/** Resolves after `ms`, or as soon as the signal fires. */
function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const wake = (): void => resolve();
  const timer = clock.after(ms, wake);
  signal.addEventListener("abort", wake);
  return promise.finally(() => {
    timer[Symbol.dispose]();
    signal.removeEventListener("abort", wake);
  });
}

/** Repeats what it is told: an answer that a test knows beforehand. */
export function echoAnswerer(clock: Clock): Answerer {
  return {
    async *answer({ message, signal }) {
      const { pieces, gapMs } = answerTo(message);
      let text = "";
      for (const [index, delta] of pieces.entries()) {
        if (index > 0 && gapMs > 0) await pause(gapMs, clock, signal);
        if (signal.aborted) break;
        text += delta;
        yield { type: "delta", delta };
      }
      const status = signal.aborted ? "aborted" : "ok";
      const stopReason = signal.aborted ? "aborted" : "stop";
      const facts = {
        role: "assistant",
        api: "openai-responses",
        provider: "openclaw",
        model: "echo",
        usage: USAGE,
        stopReason,
        timestamp: clock.now(),
      } as const;
      const answered: AssistantMessage = { ...facts, content: text === "" ? [] : [{ type: "text", text }] };
      yield { type: "end", end: { status, message: answered, patch: { modelProvider: "openclaw", model: "echo" } } };
    },
  };
}
