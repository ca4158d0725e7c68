import { method } from "../method.ts";
import { amount, anything, choice, closed, count, done, effect, filled, flag, list, maybe, moment, number, orNull, text, texts } from "../pieces.ts";
import { SessionRowSchema, StoredEntrySchema } from "../session-row.ts";

const label = filled({ maxLength: 64 });
/** Null clears the field. Words are checked by the handler, which names the ones it knows. */
const field = () => maybe(orNull(filled()));

const Patch = effect({
  key: filled(),
  label: maybe(orNull(label)),
  thinkingLevel: field(),
  verboseLevel: field(),
  reasoningLevel: field(),
  responseUsage: maybe(orNull(choice(["off", "tokens", "full", "on"]))),
  elevatedLevel: field(),
  execHost: field(),
  execSecurity: field(),
  execAsk: field(),
  execNode: field(),
  model: field(),
  sendPolicy: maybe(orNull(choice(["allow", "deny"]))),
  groupActivation: maybe(orNull(choice(["mention", "always"]))),
  spawnedBy: field(),
  spawnDepth: maybe(orNull(amount())),
  pinned: maybe(flag({ description: "At the top of lists." })),
  folder: maybe(orNull(filled({ maxLength: 64, description: "The folder of lists that it is in. A folder exists as long as a session is in it." }))),
  archived: maybe(flag({ description: "Hidden in lists, still found by searches. A new message unarchives it." })),
});

/** Stored conversations: find, change, reset. */
export const sessionsMethods = {
  "sessions.list": method({
    access: "operator.read",
    params: closed({
      limit: maybe(count({ default: 200, description: "At most 500." })),
      offset: maybe(amount({ description: "Number of sessions to skip: `nextOffset` of the previous page." })),
      activeMinutes: maybe(count()),
      includeGlobal: maybe(flag()),
      includeUnknown: maybe(flag()),
      includeDerivedTitles: maybe(flag()),
      includeLastMessage: maybe(flag()),
      automation: maybe(flag({ description: "True: only sessions of jobs, webhooks, sub-agents and heartbeats. False: only the others." })),
      archived: maybe(flag({ description: "True: only archived ones. False: only the others." })),
      pinned: maybe(flag({ description: "True: only pinned ones. False: only the others." })),
      filed: maybe(flag({ description: "True: only those in a folder. False: only the others." })),
      folder: maybe(filled({ description: "Only those in this folder." })),
      includeFolders: maybe(flag()),
      cursor: maybe(
        filled({ description: "`next` of the previous page. Unlike an offset it skips and repeats nothing when the list changes. Not with `search`." }),
      ),
      label: maybe(label),
      spawnedBy: maybe(filled()),
      agentId: maybe(filled()),
      search: maybe(
        text({
          description:
            "Words that all occur in the name, first message, key or session id; with `includeLastMessage` also in the last message. A word that begins with `agent:` is searched in keys.",
        }),
      ),
    }),
    result: closed({
      ts: moment(),
      path: text(),
      count: amount(),
      total: maybe(amount({ description: "Number of matches, regardless of the limit." })),
      limitApplied: maybe(count()),
      hasMore: maybe(flag()),
      nextOffset: maybe(amount({ description: "Where the next page begins, if there is one." })),
      next: maybe(filled({ description: "`cursor` of the next page, if there is one. Absent with `search`." })),
      folders: maybe(
        list(closed({ name: filled(), sessions: amount({ description: "Those that are not archived." }) }), {
          description: "With `includeFolders`: all of them, by name.",
        }),
      ),
      incomplete: maybe(flag({ description: "Transcripts of another program are still being imported, so the search is incomplete. Search again later." })),
      defaults: closed({ modelProvider: orNull(text()), model: orNull(text()), contextTokens: orNull(number()) }),
      sessions: list(SessionRowSchema),
    }),
    effect: false,
    module: "sessions",
    summary: "Returns a page of sessions, newest first. `search` covers names, first messages, keys and ids; with `includeLastMessage` also last messages.",
  }),
  "sessions.preview": method({
    access: "operator.read",
    params: closed({
      keys: list(filled(), { minItems: 1, description: "Only the first 64 are answered." }),
      limit: maybe(count({ default: 12, description: "At most 50." })),
      maxChars: maybe(count({ minimum: 20, default: 240 })),
    }),
    result: closed({
      ts: moment(),
      previews: list(
        closed({
          key: filled(),
          status: choice(["ok", "empty", "missing", "error"]),
          items: list(closed({ role: choice(["user", "assistant", "tool", "system", "other"]), text: text() })),
        }),
      ),
    }),
    effect: false,
    module: "sessions",
    summary: "Returns the last lines of several sessions.",
  }),
  "sessions.resolve": method({
    access: "operator.read",
    params: closed({
      key: maybe(filled()),
      sessionId: maybe(filled()),
      label: maybe(label),
      agentId: maybe(filled()),
      spawnedBy: maybe(filled()),
      includeGlobal: maybe(flag()),
      includeUnknown: maybe(flag()),
    }),
    result: done({ key: filled() }),
    effect: false,
    module: "sessions",
    summary: "Returns the canonical key for a key, session id or label.",
    advertised: false,
  }),
  "sessions.patch": method({
    access: "operator.admin",
    params: Patch,
    result: done({
      path: text(),
      key: filled(),
      entry: StoredEntrySchema,
      resolved: closed({ modelProvider: maybe(text()), model: maybe(text()) }),
    }),
    effect: true,
    module: "sessions",
    summary: "Changes settings of a session; `null` clears one. Creates the session if it does not exist.",
  }),
  "sessions.reset": method({
    access: "operator.admin",
    params: effect({ key: filled(), reason: maybe(choice(["new", "reset"])) }),
    result: done({ key: filled(), entry: StoredEntrySchema }),
    effect: true,
    module: "sessions",
    summary: "Resets a session: its run ends, its transcript is archived, its settings stay.",
  }),
  "sessions.delete": method({
    access: "operator.admin",
    params: effect({ key: filled(), deleteTranscript: maybe(flag({ default: true })) }),
    result: done({
      key: filled(),
      deleted: flag(),
      archived: texts(),
      undo: maybe(filled({ description: "`sessions.restore` takes it, for 30 days or until its transcript is pruned." })),
    }),
    effect: true,
    module: "sessions",
    summary: "Removes a session. The main session stays.",
  }),
  "sessions.restore": method({
    access: "operator.admin",
    params: effect({ undo: filled({ description: "`undo` of `sessions.delete`." }) }),
    result: done({ key: filled(), entry: StoredEntrySchema }),
    effect: true,
    module: "sessions",
    summary: "Brings back a session that was deleted, with its messages and settings. Refused when its key is in use again.",
  }),
  "sessions.compact": method({
    access: "operator.admin",
    params: effect({
      key: filled(),
      maxLines: maybe(count({ default: 400, description: "Keeps this many lines, without calling a model." })),
      instructions: maybe(text({ maxLength: 10_000, description: "What the summary should focus on." })),
    }),
    result: done({
      key: filled(),
      compacted: flag(),
      kept: maybe(amount()),
      archived: maybe(anything()),
      reason: maybe(text()),
      tokensBefore: maybe(amount()),
      tokensAfter: maybe(amount()),
    }),
    effect: true,
    module: "sessions",
    summary: "Summarizes the conversation so far. With `maxLines`, or without an agent: keeps the last lines of a transcript and archives the rest.",
  }),
};
