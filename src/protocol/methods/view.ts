import { AskedCommandSchema, ChatEntrySchema, PendingMessageSchema, ShownRunSchema } from "../chat-entry.ts";
import { method } from "../method.ts";
import { amount, choice, closed, count, done, effect, filled, flag, list, maybe, moment, none, number, open, orNull, text, texts } from "../pieces.ts";

/** `began`: when the transcript was begun that positions belong to. They mean other entries when it is another time. */
const page = {
  sessionKey: filled({ description: "Canonical: as in events." }),
  sessionId: maybe(text()),
  began: maybe(moment()),
  runs: list(ShownRunSchema),
  pending: list(PendingMessageSchema),
};

const ContextPart = closed({
  kind: choice(["system", "workspace", "skills", "tools", "messages", "summary", "other"]),
  label: text(),
  chars: amount(),
  tokens: amount({ description: "Estimated." }),
  truncated: maybe(flag()),
});

/** A conversation as a page shows it: read by position, kept in step, exported. Ours. */
export const viewMethods = {
  "chat.page": method({
    access: "operator.read",
    params: closed({
      sessionKey: filled(),
      before: maybe(amount({ description: "Entries before this position: one of an entry that is shown. Without `before` and `after`: the newest." })),
      after: maybe(amount({ description: "Entries after this position." })),
      limit: maybe(count({ maximum: 200, default: 60 })),
      commands: maybe(list(filled(), { maxItems: 100, description: "Approvals about which the page wants to know how their commands are." })),
    }),
    result: closed({
      ...page,
      commands: maybe(list(AskedCommandSchema, { description: "Commands that needed approval: those in the entries, and those named in the request." })),
      entries: list(ChatEntrySchema, { description: "Oldest first." }),
      more: flag({ description: "There is more in the direction asked for." }),
      last: amount({ description: "Position of the newest line; 0 when there is none. Not every line is shown: what came up to here is known." }),
    }),
    effect: false,
    module: "sessions",
    summary: "A stretch of a conversation with tokens and cost, the runs under way, and messages that were accepted and wait.",
  }),
  "chat.image": method({
    access: "operator.read",
    params: closed({ sessionKey: filled(), seq: amount(), index: amount({ description: "Which block of the entry's content." }) }),
    result: closed({ mimeType: filled(), data: filled({ description: "Base64." }) }),
    effect: false,
    module: "sessions",
    summary: "A picture in a conversation, which `chat.page` leaves out.",
  }),
  "chat.entry": method({
    access: "operator.read",
    params: closed({ sessionKey: filled(), seq: amount(), from: maybe(amount({ description: "`next` of the part before." })) }),
    result: closed({ text: text(), next: maybe(amount({ description: "There is more: ask again with it, and put the parts together in order." })) }),
    effect: false,
    module: "sessions",
    summary: "All that an entry says, where `chat.page` shows it cut.",
  }),
  "chat.watch": method({
    access: "operator.read",
    params: closed({ sessionKey: filled(), on: maybe(flag({ default: true })) }),
    result: done({ sessionKey: filled(), watching: texts() }),
    effect: false,
    module: "gateway",
    summary: "Subscribes this connection to every change of a session: `chat.changed`, and tool events with their results. Ends when the connection closes.",
  }),
  "commands.list": method({
    access: "operator.read",
    params: closed({ agentId: maybe(filled()) }),
    result: closed({
      commands: list(
        closed({
          name: filled({ description: "Without the slash." }),
          aliases: texts(),
          description: text(),
          category: text(),
          source: text({ description: "`core`, `skill` or `plugin:<id>`." }),
          args: list(closed({ name: filled(), description: maybe(text()), choices: maybe(texts()), required: maybe(flag()) })),
        }),
      ),
    }),
    effect: false,
    module: "conversation",
    summary: "Commands that a message may begin with, with what they take.",
  }),
  "sessions.context": method({
    access: "operator.read",
    params: closed({ key: filled() }),
    result: closed({
      key: filled(),
      model: maybe(text()),
      contextTokens: amount({ description: "How much the model can hold; 0 as long as it is not known." }),
      usedTokens: amount(),
      measured: flag({ description: "`usedTokens` was reported by the model's provider; otherwise it is an estimate." }),
      parts: list(ContextPart),
    }),
    effect: false,
    module: "agent",
    summary: "How full the model's memory is, and of what.",
  }),
  "sessions.export": method({
    access: "operator.read",
    params: closed({
      key: filled(),
      format: maybe(choice(["jsonl", "markdown"], { default: "jsonl" })),
      after: maybe(amount({ description: "`next` of the part before; means nothing else." })),
    }),
    result: closed({ name: filled({ description: "For the file." }), mimeType: filled(), text: text(), next: maybe(amount()) }),
    effect: false,
    module: "sessions",
    summary: "A session's transcript in parts of at most a megabyte, to be put together in order.",
  }),
  "login.code": method({
    access: "operator.admin",
    params: effect({}),
    result: closed({
      code: filled(),
      path: filled({ description: "Of the login link, to be appended to the page's origin. The code stands behind `#`." }),
      expiresAt: moment(),
    }),
    effect: true,
    module: "gateway",
    summary: "A code that lets one browser in, once, within ten minutes.",
  }),
  overview: method({
    access: "operator.read",
    params: none(),
    result: closed({
      ts: moment(),
      version: text(),
      startedAt: moment(),
      answering: closed({ model: orNull(text()), offline: flag(), why: text() }),
      runs: list(
        open({
          runId: filled(),
          sessionKey: filled(),
          name: maybe(text({ description: "What the session is called." })),
          agentId: text(),
          startedAt: moment(),
          channel: maybe(text()),
          model: maybe(text()),
          doing: maybe(text()),
        }),
      ),
      queues: list(closed({ sessionKey: filled(), name: maybe(text()), waiting: amount(), oldestAt: moment() })),
      problems: list(
        closed({
          id: filled(),
          at: moment(),
          level: choice(["warn", "error"]),
          text: text(),
          todo: maybe(text()),
          count: count(),
          why: maybe(text({ description: "To be asked with `why`." })),
          page: maybe(text({ description: "The page of the Control UI that helps." })),
        }),
      ),
      store: closed({ engine: text(), path: maybe(text()), bytes: maybe(amount()), walBytes: maybe(amount()), sessions: amount() }),
      disk: maybe(closed({ freeBytes: amount(), totalBytes: amount() })),
      memory: closed({ rssBytes: amount(), heapUsedBytes: amount() }),
      cpu: maybe(closed({ userMs: number(), systemMs: number() })),
    }),
    effect: false,
    module: "app",
    summary: "What the gateway does now: which model answers and why, runs, queues, recent errors with what to do, store and disk.",
  }),
};
