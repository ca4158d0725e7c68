import { method } from "../method.ts";
import {
  amount,
  anything,
  choice,
  closed,
  count,
  done,
  effect,
  either,
  filled,
  flag,
  idempotencyKey,
  list,
  literal,
  maybe,
  moment,
  number,
  open,
  orNull,
  text,
  texts,
} from "../pieces.ts";

/** Attachments are read one by one by the handler, which drops what is no image. */
const attachments = maybe(list(anything()));

const aborted = done({ aborted: flag(), runIds: texts() });

const reply = closed({ text: maybe(text()), mediaUrl: maybe(orNull(text())), mediaUrls: maybe(texts()) });

const Final = open({
  runId: filled(),
  status: choice(["ok", "error"]),
  summary: text(),
  result: maybe(
    open({
      payloads: list(reply),
      meta: open({
        durationMs: number(),
        agentMeta: maybe(open({ sessionId: text(), provider: text(), model: text() })),
        aborted: maybe(flag()),
        stopReason: maybe(text()),
      }),
    }),
  ),
});

/** Conversations of clients. */
export const chatMethods = {
  "chat.send": method({
    access: "operator.write",
    params: closed({
      sessionKey: filled(),
      message: text(),
      thinking: maybe(text()),
      deliver: maybe(flag()),
      attachments,
      timeoutMs: maybe(amount({ description: "0 waits without end." })),
      idempotencyKey: idempotencyKey(),
    }),
    result: either(closed({ runId: filled(), status: choice(["started", "in_flight", "ok"]) }), aborted),
    effect: true,
    module: "conversation",
    summary:
      "Says something in a session. The answer comes as `chat` and `agent` events under the key as `runId`. A stop word ends the session's runs instead.",
  }),
  "chat.history": method({
    access: "operator.read",
    params: closed({ sessionKey: filled(), limit: maybe(count({ maximum: 1000, default: 200 })) }),
    result: closed({
      sessionKey: filled(),
      sessionId: maybe(text()),
      messages: list(anything()),
      thinkingLevel: maybe(text()),
      verboseLevel: maybe(text()),
    }),
    effect: false,
    module: "sessions",
    summary: "The last messages of a session, cut to what a screen can show.",
  }),
  "chat.abort": method({
    access: "operator.write",
    params: effect({ sessionKey: filled(), runId: maybe(filled()) }),
    result: aborted,
    effect: true,
    module: "conversation",
    summary: "Ends one run, or all runs of a session, but none that the method agent began: /stop reaches those.",
  }),
  "chat.inject": method({
    access: "operator.admin",
    params: effect({ sessionKey: filled(), message: filled(), label: maybe(text({ maxLength: 100 })) }),
    result: done({ messageId: filled() }),
    effect: true,
    module: "sessions",
    summary: "Puts a message of the assistant into a transcript without a run.",
    advertised: false,
  }),
};

/** Runs of agents. */
export const agentMethods = {
  agent: method({
    access: "operator.write",
    params: closed({
      message: filled(),
      agentId: maybe(filled()),
      to: maybe(text()),
      replyTo: maybe(text()),
      sessionId: maybe(text()),
      sessionKey: maybe(text()),
      thinking: maybe(text()),
      deliver: maybe(flag()),
      attachments,
      channel: maybe(text()),
      replyChannel: maybe(text()),
      accountId: maybe(text()),
      replyAccountId: maybe(text()),
      threadId: maybe(text()),
      groupId: maybe(text()),
      groupChannel: maybe(text()),
      groupSpace: maybe(text()),
      timeout: maybe(amount({ description: "Seconds." })),
      lane: maybe(text()),
      extraSystemPrompt: maybe(text()),
      inputProvenance: maybe(
        closed({
          kind: choice(["external_user", "inter_session", "internal_system"]),
          sourceSessionKey: maybe(text()),
          sourceChannel: maybe(text()),
          sourceTool: maybe(text()),
        }),
      ),
      idempotencyKey: idempotencyKey(),
      label: maybe(filled({ maxLength: 64 })),
      spawnedBy: maybe(text()),
    }),
    result: either(closed({ runId: filled(), status: literal("accepted"), acceptedAt: moment() }), Final),
    effect: true,
    module: "conversation",
    summary: "Runs an agent: answers `accepted` at once and again with the result. Needs one of `sessionKey`, `agentId`, `sessionId` and `to`.",
  }),
  "agent.wait": method({
    access: "operator.write",
    params: closed({ runId: filled(), timeoutMs: maybe(amount({ default: 30_000 })) }),
    result: closed({
      runId: filled(),
      status: choice(["ok", "error", "timeout"]),
      startedAt: maybe(moment()),
      endedAt: maybe(moment()),
      error: maybe(text()),
    }),
    effect: false,
    module: "conversation",
    summary: "Waits for the end of a run.",
  }),
};
