import { method } from "../method.ts";
import { amount, choice, closed, count, done, effect, filled, flag, free, list, maybe, moment, number, open, text, texts } from "../pieces.ts";

const ofAgent = { agentId: maybe(filled({ description: "Default: the default agent." })) };
const timeZone = filled({ description: "In which times are shown: `agents.defaults.userTimezone`, else that of the machine." });
const lines = { path: text(), startLine: count(), endLine: count() };

const Hit = open({
  ...lines,
  score: number({ minimum: 0, maximum: 1, description: "The chance that this passage or one beside it holds the answer." }),
  snippet: text(),
  source: choice(["memory", "sessions"]),
  at: maybe(text({ description: "ISO time, where it is known." })),
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
      words: texts({ description: "Words of the question in its text." }),
      about: texts({ description: "Those that are only in its heading or the name of its speaker." }),
      related: texts(),
      effects: list(closed({ feature: text(), effect: number(), value: number() })),
      ranked: number({ description: "The score by this evidence alone." }),
      adjusted: maybe(choice(["question", "order", "age", "vectors"], { description: "Why `score` is another one." })),
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
    dirty: flag({ description: "Something changed that is not indexed yet." }),
    indexing: flag({ description: "The index is still being made." }),
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
  n: count({ description: "Its number in this answer: `only` names it." }),
  kind: choice(["note", "message"]),
  ...lines,
  text: text({ description: "The line, or the beginning of the message." }),
  kept: maybe(text({ description: "Why it stays: its file is not changed. Without it, it is removed." })),
  at: maybe(text()),
  role: maybe(text()),
  sessionId: maybe(text()),
  sessionKey: maybe(text()),
  entryId: maybe(text()),
});

const notePath = () => filled({ maxLength: 1000, description: "`MEMORY.md` or `memory/….md`." });

/** Notes: the Markdown files that an agent remembers by. */
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
    summary: "The notes of an agent: `MEMORY.md` first, then those of days from the newest on, then the others.",
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
    summary: "A note as it is on disk.",
  }),
  "memory.notes.set": method({
    access: "operator.admin",
    params: effect({
      ...ofAgent,
      path: notePath(),
      text: text(),
      hash: maybe(
        text({ description: "What `memory.notes.get` gave: refused with `CONFLICT` when the file is another by now. Empty: there must be no such file." }),
      ),
    }),
    result: done({ agentId: filled(), path: text(), hash: text() }),
    effect: true,
    module: "memory",
    summary: "Writes a note in one step.",
  }),
  "memory.notes.delete": method({
    access: "operator.admin",
    params: effect({ ...ofAgent, path: notePath(), hash: maybe(text()) }),
    result: done({ agentId: filled(), path: text(), undo: text({ description: "For `memory.notes.restore`, for a day." }), undoUntil: moment() }),
    effect: true,
    module: "memory",
    summary: "Removes a note. No search finds it any more; it can be restored for a day, then it is erased.",
  }),
  "memory.notes.restore": method({
    access: "operator.admin",
    params: effect({ undo: filled({ maxLength: 200 }) }),
    result: done({ agentId: filled(), path: text(), hash: text() }),
    effect: true,
    module: "memory",
    summary: "Puts a removed note back, unless there is another of its name by now.",
  }),
};

/** What agents know. Ours. */
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
    summary: "What is indexed of each agent's notes and conversations.",
  }),
  "memory.search": method({
    access: "operator.read",
    params: closed({
      ...ofAgent,
      query: filled({ maxLength: 200_000, description: "A question or some words. The first 4000 characters count." }),
      maxResults: maybe(count({ maximum: 200 })),
      minScore: maybe(number({ minimum: 0, maximum: 1 })),
      explain: maybe(flag({ description: "Also answers how the question was understood, and what put each result where it is." })),
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
      indexing: flag({ description: "The index is still being made: more may be found later." }),
      ms: number({ minimum: 0 }),
      understood: maybe(
        open({
          language: text(),
          terms: texts(),
          exact: texts({ description: "Ids, numbers and addresses." }),
          kind: text(),
          span: maybe(closed({ from: text(), to: text() })),
          wants: maybe(choice(["newest", "oldest"])),
          text: text({ description: "All of it in one sentence." }),
        }),
      ),
    }),
    effect: false,
    module: "memory",
    summary: "Searches an agent's notes and all of its conversations.",
  }),
  "memory.index": method({
    access: "operator.write",
    params: effect({ ...ofAgent, force: maybe(flag({ description: "Makes a new index that then replaces the old one." })) }),
    result: done({
      agentId: filled(),
      files: amount(),
      changed: amount(),
      removed: amount(),
      messages: amount({ description: "Messages that were added." }),
      issues: list(closed({ path: text(), why: text() })),
      ms: number({ minimum: 0 }),
    }),
    effect: true,
    module: "memory",
    summary: "Brings the index of an agent up to date now.",
  }),
  ...notesMethods,
  "memory.forget": method({
    access: "operator.admin",
    params: effect({
      ...ofAgent,
      text: maybe(
        filled({ maxLength: 4000, description: "Lines of notes and messages that contain it, in any case; failing that, those with all of its words." }),
      ),
      path: maybe(notePath()),
      startLine: maybe(count()),
      endLine: maybe(count()),
      sessionId: maybe(filled()),
      entryId: maybe(filled()),
      preview: maybe(flag({ description: "Changes nothing and answers what would be removed." })),
      plan: maybe(text({ description: "Of the preview: refused with `CONFLICT` when something else would be removed by now." })),
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
      truncated: flag({ description: "There is more than is listed; all of it is removed." }),
      unreachable: texts({ description: "Where it may still be." }),
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
          runId: maybe(text({ description: "The turn, where it is still recorded: what `why` takes." })),
          asked: maybe(text({ description: "How the message begins that the turn answered." })),
          query: text(),
          automatic: maybe(flag({ description: "They came with the message (`memorySearch.recall`); the query is the message." })),
          results: list(closed({ ...lines, score: number(), source: text(), snippet: text() })),
        }),
      ),
    }),
    effect: false,
    module: "memory",
    summary: "Which passages the model was given in which turn, by `memory_search` or with the message, newest first.",
  }),
};
