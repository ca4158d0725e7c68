import { AnsweringSchema } from "../answering.ts";
import { AskedCommandSchema, ChatEntrySchema, PendingMessageSchema, ShownRunSchema } from "../chat-entry.ts";
import { method } from "../method.ts";
import { amount, choice, closed, count, done, effect, filled, flag, list, maybe, moment, none, number, open, text, texts } from "../pieces.ts";

/** `began`: when the transcript was begun that positions belong to. They mean other entries when it is another time. */
const page = {
  sessionKey: filled({ description: "Canonical: as in events." }),
  sessionId: maybe(text()),
  began: maybe(moment()),
  fork: maybe(amount({ description: "Position of the newest line that began a branch. If it changes, known entries may no longer be on the current branch." })),
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
      before: maybe(amount({ description: "Entries before this position, taken from an entry. Without `before` and `after`: the newest." })),
      after: maybe(amount({ description: "Entries after this position." })),
      limit: maybe(count({ maximum: 200, default: 60 })),
      commands: maybe(list(filled(), { maxItems: 100, description: "Approvals whose command status the page wants." })),
    }),
    result: closed({
      ...page,
      commands: maybe(list(AskedCommandSchema, { description: "Commands that needed approval: those in the entries, and those named in the request." })),
      entries: list(ChatEntrySchema, { description: "Oldest first." }),
      more: flag({ description: "There is more in the requested direction." }),
      others: maybe(list(filled(), { description: "Entries that follow the last one on other branches, where this one ends: `chat.branch` takes them." })),
      last: amount({ description: "Position of the newest line; 0 if there is none. Not every line is shown: everything up to here is included." }),
    }),
    effect: false,
    module: "sessions",
    summary: "Returns part of a conversation with tokens and cost, the current runs, and queued messages.",
  }),
  "chat.search": method({
    access: "operator.read",
    params: closed({
      query: filled({ maxLength: 500, description: "Words that all occur in a message. The last one may be a prefix." }),
      agentId: maybe(filled({ description: "Default: all agents." })),
      sessionKey: maybe(filled({ description: "Only in this session." })),
      limit: maybe(count({ maximum: 100, default: 20 })),
      cursor: maybe(filled({ description: "`next` of the previous response." })),
    }),
    result: closed({
      results: list(
        closed({
          sessionKey: filled(),
          name: text({ description: "Display name of the session." }),
          agentId: filled(),
          sessionId: filled(),
          entryId: filled(),
          seq: amount({ description: "Position, as in `chat.page`." }),
          ts: moment(),
          role: choice(["user", "assistant"]),
          text: text({ description: "The part of the message with the words." }),
          marks: list(closed({ from: amount(), to: amount() }), { description: "Positions in `text`." }),
        }),
        { description: "Newest conversation first, and in each the newest message first." },
      ),
      indexing: flag({ description: "Some messages are not indexed yet: search again later." }),
      off: maybe(flag({ description: "The configuration keeps sessions out of the index: nothing was searched." })),
      next: maybe(filled({ description: "There is more." })),
    }),
    effect: false,
    module: "memory",
    summary: "Searches messages of all sessions, on their current branches.",
  }),
  "chat.image": method({
    access: "operator.read",
    params: closed({ sessionKey: filled(), seq: amount(), index: amount({ description: "Which block of the entry's content." }) }),
    result: closed({ mimeType: filled(), data: filled({ description: "Base64." }) }),
    effect: false,
    module: "sessions",
    summary: "Returns an image of a conversation, which `chat.page` leaves out.",
  }),
  "chat.file": method({
    access: "operator.read",
    params: closed({
      sessionKey: filled(),
      seq: amount(),
      index: amount({ description: "Which of the entry's files, from 0: of an answer its `MEDIA:` lines, of a message its `files`." }),
      maxBytes: maybe(count({ description: "Only the beginning of the file, up to this many bytes." })),
    }),
    result: closed({
      name: filled(),
      mimeType: filled({ description: "By content." }),
      bytes: amount({ description: "Size of the file." }),
      data: text({ description: "Base64." }),
    }),
    effect: false,
    module: "sessions",
    summary: "Returns a file that an answer sends with a `MEDIA:` line, or that came with a message, up to 25 MB.",
  }),
  "chat.queued": method({
    access: "operator.read",
    params: closed({ sessionKey: filled(), runId: filled({ description: "One of `pending` in `chat.page`." }) }),
    result: closed({
      text: text(),
      attachments: list(closed({ type: choice(["image", "file"]), mimeType: filled(), fileName: filled(), content: text({ description: "Base64." }) }), {
        description: "As `chat.send` takes them.",
      }),
    }),
    effect: false,
    module: "sessions",
    summary: "Returns a client's message that is queued, with its files, so that it can be edited and sent again.",
  }),
  "chat.entry": method({
    access: "operator.read",
    params: closed({ sessionKey: filled(), seq: amount(), from: maybe(amount({ description: "`next` of the previous part." })) }),
    result: closed({ text: text(), next: maybe(amount({ description: "There is more: call again with this value, and join the parts in order." })) }),
    effect: false,
    module: "sessions",
    summary: "Returns the full text of an entry that `chat.page` truncates.",
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
    summary: "Lists commands that a message may begin with, and their arguments.",
  }),
  "sessions.context": method({
    access: "operator.read",
    params: closed({ key: filled() }),
    result: closed({
      key: filled(),
      model: maybe(text()),
      contextTokens: amount({ description: "Size of the context window; 0 while unknown." }),
      usedTokens: amount(),
      measured: flag({ description: "`usedTokens` was reported by the model's provider; otherwise it is an estimate." }),
      parts: list(ContextPart),
    }),
    effect: false,
    module: "agent",
    summary: "Returns how full the context window is, and with what.",
  }),
  "sessions.export": method({
    access: "operator.read",
    params: closed({
      key: filled(),
      format: maybe(choice(["jsonl", "json", "markdown", "html"], { default: "jsonl" })),
      after: maybe(amount({ description: "`next` of the previous part; opaque." })),
    }),
    result: closed({ name: filled({ description: "For the file." }), mimeType: filled(), text: text(), next: maybe(amount()) }),
    effect: false,
    module: "sessions",
    summary:
      "Returns a session's transcript in parts of about a megabyte, to be joined in order. `jsonl` and `json` have all branches, the other formats the current one.",
  }),
  "login.code": method({
    access: "operator.admin",
    params: effect({}),
    result: closed({
      code: filled(),
      path: filled({ description: "Path of the login link, to be appended to the page's origin. The code follows `#`." }),
      expiresAt: moment(),
    }),
    effect: true,
    module: "gateway",
    summary: "Creates a code that signs in one browser, once, within ten minutes.",
  }),
  overview: method({
    access: "operator.read",
    params: none(),
    result: closed({
      ts: moment(),
      version: text(),
      startedAt: moment(),
      answering: AnsweringSchema,
      runs: list(
        open({
          runId: filled(),
          sessionKey: filled(),
          name: maybe(text({ description: "Display name of the session." })),
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
          why: maybe(text({ description: "For `why`." })),
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
    summary: "Returns the current state of the gateway: which model answers and why, runs, queues, recent errors with what to do, store and disk.",
  }),
  "overview.history": method({
    access: "operator.read",
    params: closed({ hours: maybe(count({ maximum: 720, default: 24 })) }),
    result: closed({
      from: moment(),
      to: moment(),
      stepMs: count(),
      parts: list(
        closed({
          id: filled({ description: "`gateway`, `models`, `automation`, or `channel:<channel>:<account>`." }),
          kind: choice(["gateway", "models", "channel", "automation"]),
          spans: list(
            closed({
              from: moment(),
              to: moment(),
              state: choice(["ok", "slow", "down", "off", "unknown"], {
                description: "`slow`: reconnecting, or some calls or jobs failed. `off`: not meant to run. `unknown`: the gateway ended without a shutdown.",
              }),
            }),
            { description: "Oldest first. Times about which nothing was recorded are left out." },
          ),
        }),
      ),
      messages: closed({
        from: moment(),
        total: amount(),
        answered: amount(),
        failed: amount(),
        channels: list(closed({ channel: filled(), counts: list(amount(), { description: "In each step from `from` on." }) }), { description: "Most first." }),
      }),
    }),
    effect: false,
    module: "app",
    summary:
      "Returns how the gateway, its models, channels and jobs did over the last hours, and how many messages arrived. Messages are counted for the time they are stored.",
  }),
};
