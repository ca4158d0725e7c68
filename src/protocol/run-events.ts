import { amount, anything, choice, closed, count, either, filled, flag, free, list, literal, maybe, moment, number, open, text, texts } from "./pieces.ts";

/** Messages of a run in the conversation. The text of a `delta` is cumulative. */
export const ChatEventSchema = closed({
  runId: filled(),
  sessionKey: filled(),
  seq: amount(),
  state: choice(["delta", "final", "aborted", "error"]),
  message: maybe(open({ role: literal("assistant"), content: list(anything()), timestamp: maybe(moment()) })),
  errorMessage: maybe(text()),
  usage: maybe(anything()),
  stopReason: maybe(text()),
});

const stream = <Name extends string, Data extends Parameters<typeof list>[0]>(name: Name, data: Data) =>
  closed({ runId: filled(), stream: literal(name), data, sessionKey: maybe(filled()), seq: count(), ts: moment() });

const startedAt = maybe(moment());

/** What happens inside a run, step by step. `seq` counts per run. */
export const AgentEventSchema = either(
  stream(
    "lifecycle",
    either(
      closed({ phase: literal("start"), startedAt: moment() }),
      closed({ phase: literal("end"), endedAt: moment(), startedAt, aborted: maybe(flag()) }),
      closed({ phase: literal("error"), error: text(), endedAt: moment(), startedAt }),
    ),
  ),
  stream("assistant", closed({ text: text(), delta: text(), mediaUrls: maybe(texts()) })),
  stream("thinking", closed({ text: text(), delta: text() })),
  stream(
    "tool",
    either(
      closed({ phase: literal("start"), name: filled(), toolCallId: filled(), args: anything() }),
      closed({ phase: literal("update"), name: filled(), toolCallId: filled(), partialResult: maybe(anything()) }),
      closed({
        phase: literal("result"),
        name: filled(),
        toolCallId: filled(),
        meta: maybe(anything()),
        isError: flag(),
        result: maybe(anything()),
      }),
    ),
  ),
  stream(
    "compaction",
    either(
      closed({ phase: literal("start") }),
      closed({ phase: literal("end"), willRetry: flag(), notice: maybe(text({ description: "What was left out of the conversation to make it fit." })) }),
    ),
  ),
  stream("error", closed({ reason: literal("seq gap"), expected: number(), received: number() })),
);

/**
 * A text that grows, for clients with the capability `text-deltas`: `delta` follows the first `at` characters (UTF-16 units) of what the stream said so far.
 * `at: 0` begins another text.
 */
const textDelta = (name: "assistant" | "thinking") => stream(name, closed({ delta: text(), at: amount() }));
export const AgentDeltaSchema = either(textDelta("assistant"), textDelta("thinking"));

/** How one heartbeat went. */
export const HeartbeatEventSchema = closed({
  ts: moment(),
  status: choice(["sent", "ok-empty", "ok-token", "skipped", "failed"]),
  to: maybe(text()),
  accountId: maybe(text()),
  preview: maybe(text()),
  durationMs: maybe(number()),
  hasMedia: maybe(flag()),
  reason: maybe(text()),
  channel: maybe(text()),
  silent: maybe(flag()),
  indicatorType: maybe(choice(["ok", "alert", "error"])),
});

/** What happened to a sub-agent. That its turn began is announced by `agent`. */
export const SubagentEventSchema = closed({
  ts: moment(),
  action: choice(["spawned", "steered", "ended", "reported", "removed"]),
  runId: filled(),
  sessionKey: filled(),
  requesterSessionKey: filled(),
  outcome: maybe(choice(["ok", "error", "timeout", "killed"])),
});

/** What happened to a cron job. */
export const cronEventFields = {
  jobId: filled(),
  action: choice(["added", "updated", "removed", "started", "finished"]),
  runAtMs: maybe(moment()),
  nextRunAtMs: maybe(moment()),
  status: maybe(choice(["ok", "error", "skipped"])),
  error: maybe(text()),
  summary: maybe(text()),
  sessionId: maybe(text()),
  sessionKey: maybe(text()),
  durationMs: maybe(number()),
  model: maybe(text()),
  provider: maybe(text()),
  usage: maybe(free()),
  costUsd: maybe(number({ minimum: 0 })),
  delivered: maybe(flag({ description: "The answer was passed to a channel." })),
  lateMs: maybe(amount({ description: "How much later than planned the run began, if it was more than a minute." })),
  waiting: maybe(text({ description: "Why a run that has started has not begun its work yet." })),
  webhook: maybe(
    closed({
      state: choice(["pending", "sending", "sent", "failed", "unknown"]),
      error: maybe(text()),
    }),
  ),
};
