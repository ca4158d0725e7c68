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

const started = closed({ runId: filled(), status: choice(["started", "in_flight", "ok"]) });
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
      timeoutMs: maybe(amount({ description: "0: no limit." })),
      edits: maybe(
        filled({
          description:
            "The `id` of a message of the user that this one replaces: the conversation continues from before it, on a new branch. Refused while a run is active.",
        }),
      ),
      idempotencyKey: idempotencyKey(),
    }),
    result: either(started, aborted),
    effect: true,
    module: "conversation",
    summary:
      "Sends a message in a session. The answer arrives as `chat` and `agent` events with the key as `runId`. A stop word ends the session's runs instead.",
  }),
  "chat.regenerate": method({
    access: "operator.write",
    params: closed({
      sessionKey: filled(),
      entryId: filled({ description: "The `id` of an answer, or of the message to answer again." }),
      thinking: maybe(text()),
      timeoutMs: maybe(amount({ description: "0: no limit." })),
      idempotencyKey: idempotencyKey(),
    }),
    result: started,
    effect: true,
    module: "conversation",
    summary: "Answers a message again, on a new branch. The previous answer is kept. Refused while a run is active.",
  }),
  "chat.branches": method({
    access: "operator.read",
    params: closed({ sessionKey: filled(), entryId: filled({ description: "The `id` of a message or of the first entry of an answer." }) }),
    result: closed({
      sessionKey: filled(),
      branches: list(
        closed({
          id: filled(),
          seq: amount(),
          ts: moment(),
          kind: choice(["user", "assistant"]),
          text: text({ description: "For an answer: its text up to the next message." }),
          cut: maybe(flag({ description: "There is more: use `chat.entry`." })),
          model: maybe(text()),
          shown: flag({ description: "It is on the current branch." }),
        }),
        { description: "Oldest first, including itself; the newest 50." },
      ),
    }),
    effect: false,
    module: "sessions",
    summary: "Lists the versions of a message, or the answers to one.",
  }),
  "chat.branch": method({
    access: "operator.write",
    params: effect({ sessionKey: filled(), entryId: filled({ description: "The conversation continues at the end of the newest branch with this entry." }) }),
    result: done({ sessionKey: filled(), changed: flag({ description: "False: it is already the current branch." }) }),
    effect: true,
    module: "sessions",
    summary: "Switches a session to another branch, for agents and clients. Refused while a run is active.",
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
    summary: "Returns the last messages of a session, truncated to what a screen can show.",
  }),
  "chat.abort": method({
    access: "operator.write",
    params: effect({ sessionKey: filled(), runId: maybe(filled()) }),
    result: aborted,
    effect: true,
    module: "conversation",
    summary: "Ends one run or all runs of a session, except those started with the method agent: /stop ends these.",
  }),
  "chat.steer": method({
    access: "operator.write",
    params: effect({ sessionKey: filled(), runId: filled({ description: "Id of a queued message: one of `pending` in `chat.page`." }) }),
    result: done({ steered: flag({ description: "False: it is no longer queued, or the current run did not accept it and it stays queued." }) }),
    effect: true,
    module: "conversation",
    summary: "Passes a queued message to the current run at its next step, instead of answering it afterwards.",
  }),
  "chat.inject": method({
    access: "operator.admin",
    params: effect({ sessionKey: filled(), message: filled(), label: maybe(text({ maxLength: 100 })) }),
    result: done({ messageId: filled() }),
    effect: true,
    module: "sessions",
    summary: "Adds an assistant message to a transcript without a run.",
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
    summary: "Waits for a run to end.",
  }),
};
