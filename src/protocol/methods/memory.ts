import { method } from "../method.ts";
import { amount, choice, closed, count, done, effect, filled, flag, free, list, maybe, moment, number, open, text, texts } from "../pieces.ts";

const ofAgent = { agentId: maybe(filled({ description: "Default: the default agent." })) };
const timeZone = filled({ description: "Time zone of the shown times: `agents.defaults.userTimezone`, otherwise that of the machine." });
const lines = { path: text(), startLine: count(), endLine: count() };

const Hit = open({
  ...lines,
  score: number({ minimum: 0, maximum: 1, description: "The probability that this passage or an adjacent one contains the answer." }),
  snippet: text(),
  source: choice(["memory", "sessions"]),
  at: maybe(text({ description: "ISO time, if known." })),
  role: maybe(choice(["user", "assistant"])),
  speaker: maybe(text()),
  heading: maybe(text({ description: "The headings above a passage of a note." })),
  sessionId: maybe(text()),
  sessionKey: maybe(text()),
  entryId: maybe(text()),
  supersedes: maybe(text({ description: "The older statement that this one replaces, as `path#L1-L2`." })),
  supersededBy: maybe(text()),
  why: maybe(
    closed({
      words: texts({ description: "Words of the query in its text." }),
      about: texts({ description: "Words that are only in its heading or its speaker's name." }),
      related: texts(),
      effects: list(closed({ feature: text(), effect: number(), value: number() })),
      ranked: number({ description: "The score by this evidence alone." }),
      adjusted: maybe(choice(["question", "order", "age", "vectors"], { description: "Why `score` differs." })),
    }),
  ),
  reasons: maybe(texts({ description: "With `explain`: what put it there, strongest first, each as a short phrase." })),
});

const Status = closed({
  agentId: filled(),
  status: open({
    backend: choice(["builtin", "qmd"]),
    files: amount(),
    chunks: amount(),
    dirty: flag({ description: "There are changes that are not indexed yet." }),
    indexing: flag({ description: "The index is still being built." }),
    enabled: flag(),
    workspaceDir: text(),
    dbPath: text(),
    dbBytes: amount(),
    updatedAtMs: maybe(moment()),
    provider: text(),
    model: maybe(text()),
    requestedProvider: text(),
    sources: texts(),
    extraPaths: texts(),
    sourceCounts: list(closed({ source: text(), files: amount(), chunks: amount() })),
    cache: free(),
    fts: free(),
    vector: free(),
    batch: free(),
    custom: free(),
  }),
  scan: closed({
    sources: list(closed({ source: text(), totalFiles: amount(), issues: texts() })),
    totalFiles: amount(),
    issues: texts({ description: "Files that are not indexed, each with its reason." }),
  }),
});

const Forgotten = closed({
  n: count({ description: "Its number in this response, for `only`." }),
  kind: choice(["note", "message"]),
  ...lines,
  text: text({ description: "The line, or the beginning of the message." }),
  kept: maybe(text({ description: "Why it is kept: its file is not changed. If absent, it is removed." })),
  at: maybe(text()),
  role: maybe(text()),
  sessionId: maybe(text()),
  sessionKey: maybe(text()),
  entryId: maybe(text()),
});

const notePath = () => filled({ maxLength: 1000, description: "`MEMORY.md` or `memory/….md`." });

/** Notes: the Markdown files of an agent's memory. */
const notesMethods = {
  "memory.notes.list": method({
    access: "operator.read",
    params: closed(ofAgent),
    result: closed({
      agentId: filled(),
      notes: list(
        closed({
          path: text(),
          bytes: amount(),
          updatedAtMs: moment(),
          day: maybe(text({ description: "`YYYY-MM-DD`, when the file is named after a day." })),
        }),
      ),
      truncated: flag({ description: "There are more files than are listed." }),
    }),
    effect: false,
    module: "memory",
    summary: "Lists the notes of an agent: `MEMORY.md` first, then daily notes, newest first, then the others.",
  }),
  "memory.notes.get": method({
    access: "operator.read",
    params: closed({ ...ofAgent, path: notePath() }),
    result: closed({
      agentId: filled(),
      path: text(),
      text: text(),
      hash: text({ description: "For `memory.notes.set`; empty while there is no such file." }),
    }),
    effect: false,
    module: "memory",
    summary: "Returns a note as it is on disk.",
  }),
  "memory.notes.set": method({
    access: "operator.admin",
    params: effect({
      ...ofAgent,
      path: notePath(),
      text: text(),
      hash: maybe(
        text({ description: "Hash returned by `memory.notes.get`: refused with `CONFLICT` if the file has changed. Empty: the file must not exist." }),
      ),
    }),
    result: done({ agentId: filled(), path: text(), hash: text() }),
    effect: true,
    module: "memory",
    summary: "Writes a note atomically.",
  }),
  "memory.notes.delete": method({
    access: "operator.admin",
    params: effect({ ...ofAgent, path: notePath(), hash: maybe(text()) }),
    result: done({ agentId: filled(), path: text(), undo: text({ description: "For `memory.notes.restore`, valid for a day." }), undoUntil: moment() }),
    effect: true,
    module: "memory",
    summary: "Removes a note from disk and search. It can be restored for a day, then it is erased.",
  }),
  "memory.notes.restore": method({
    access: "operator.admin",
    params: effect({ undo: filled({ maxLength: 200 }) }),
    result: done({ agentId: filled(), path: text(), hash: text() }),
    effect: true,
    module: "memory",
    summary: "Restores a removed note, unless another one has its name by now.",
  }),
};

/** Agents' memory. OpenClaw's own methods. */
export const memoryMethods = {
  "memory.status": method({
    access: "operator.read",
    params: closed({
      agentId: maybe(filled({ description: "Default: all agents." })),
      deep: maybe(flag({ description: "Also checks whether embeddings can be computed." })),
    }),
    result: closed({ agents: list(Status), timeZone }),
    effect: false,
    module: "memory",
    summary: "Returns what is indexed of each agent's notes and conversations.",
  }),
  "memory.search": method({
    access: "operator.read",
    params: closed({
      ...ofAgent,
      query: filled({ maxLength: 200_000, description: "A question or keywords. Only the first 4000 characters are used." }),
      maxResults: maybe(count({ maximum: 200 })),
      minScore: maybe(number({ minimum: 0, maximum: 1 })),
      explain: maybe(flag({ description: "Also returns how the query was understood, and why each result has its rank." })),
      now: maybe(moment()),
    }),
    result: closed({
      agentId: filled(),
      timeZone,
      results: list(Hit),
      mode: choice(["hybrid", "fts-only", "vector"]),
      provider: maybe(text()),
      model: maybe(text()),
      ranker: choice(["learned", "fixed"]),
      indexing: flag({ description: "The index is still being built: more may be found later." }),
      ms: number({ minimum: 0 }),
      understood: maybe(
        open({
          language: text(),
          terms: texts(),
          exact: texts({ description: "Ids, numbers and addresses." }),
          kind: text(),
          span: maybe(closed({ from: text(), to: text() })),
          wants: maybe(choice(["newest", "oldest"])),
          text: text({ description: "Summary in one sentence." }),
        }),
      ),
    }),
    effect: false,
    module: "memory",
    summary: "Searches an agent's notes and all of its conversations.",
  }),
  "memory.index": method({
    access: "operator.write",
    params: effect({ ...ofAgent, force: maybe(flag({ description: "Builds a new index that then replaces the old one." })) }),
    result: done({
      agentId: filled(),
      files: amount(),
      changed: amount(),
      removed: amount(),
      messages: amount({ description: "Number of messages added." }),
      issues: list(closed({ path: text(), why: text() })),
      ms: number({ minimum: 0 }),
    }),
    effect: true,
    module: "memory",
    summary: "Updates the index of an agent now.",
  }),
  ...notesMethods,
  "memory.forget": method({
    access: "operator.admin",
    params: effect({
      ...ofAgent,
      text: maybe(
        filled({
          maxLength: 4000,
          description: "Removes lines of notes and messages that contain this text, ignoring case; if there are none, those with all of its words.",
        }),
      ),
      path: maybe(notePath()),
      startLine: maybe(count()),
      endLine: maybe(count()),
      sessionId: maybe(filled()),
      entryId: maybe(filled()),
      preview: maybe(flag({ description: "Changes nothing and returns what would be removed." })),
      plan: maybe(text({ description: "From the preview: refused with `CONFLICT` if something else would be removed now." })),
      only: maybe(list(count(), { description: "Only these of the listed ones." })),
    }),
    result: done({
      agentId: filled(),
      timeZone,
      removed: flag({ description: "False for a preview." }),
      plan: text(),
      match: choice(["phrase", "words", "lines", "entry"]),
      items: list(Forgotten),
      copies: amount({ description: "Other records that repeat it: results of tools, summaries, deliveries, the queue." }),
      truncated: flag({ description: "There are more than are listed; all are removed." }),
      unreachable: texts({ description: "Where copies may remain." }),
    }),
    effect: true,
    module: "memory",
    summary: "Removes text from notes, conversations and every other record, for good. Give `text`, or `path` with lines, or `sessionId` with `entryId`.",
  }),
  "memory.recalls": method({
    access: "operator.read",
    params: closed({ ...ofAgent, limit: maybe(count({ default: 50, maximum: 500 })) }),
    result: closed({
      agentId: filled(),
      timeZone,
      recalls: list(
        closed({
          at: maybe(text()),
          sessionKey: maybe(text()),
          sessionId: text(),
          entryId: text({ description: "The result in the transcript, or the message that they came with." }),
          runId: maybe(text({ description: "The turn, if still recorded; accepted by `why`." })),
          asked: maybe(text({ description: "The beginning of the message that the turn answered." })),
          query: text(),
          automatic: maybe(flag({ description: "They came with the message (`memorySearch.recall`); the query is the message." })),
          results: list(closed({ ...lines, score: number(), source: text(), snippet: text() })),
        }),
      ),
    }),
    effect: false,
    module: "memory",
    summary: "Lists the passages that the model received in each turn, through `memory_search` or with the message, newest first.",
  }),
};
