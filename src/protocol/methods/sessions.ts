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
});

/** Stored conversations: find, change, reset. */
export const sessionsMethods = {
  "sessions.list": method({
    access: "operator.read",
    params: closed({
      limit: maybe(count({ default: 200, description: "At most 500." })),
      offset: maybe(amount({ description: "So many of the newest are left out: `nextOffset` of the page before." })),
      activeMinutes: maybe(count()),
      includeGlobal: maybe(flag()),
      includeUnknown: maybe(flag()),
      includeDerivedTitles: maybe(flag()),
      includeLastMessage: maybe(flag()),
      automation: maybe(flag({ description: "True: only sessions of jobs, webhooks, sub-agents and heartbeats. False: only the others." })),
      label: maybe(label),
      spawnedBy: maybe(filled()),
      agentId: maybe(filled()),
      search: maybe(
        text({
          description:
            "Words that are all in the name, how it began, the key or the session id; with `includeLastMessage` also in what was said last. One that begins with `agent:` is looked for in keys.",
        }),
      ),
    }),
    result: closed({
      ts: moment(),
      path: text(),
      count: amount(),
      total: maybe(amount({ description: "So many fit, whatever the limit." })),
      limitApplied: maybe(count()),
      hasMore: maybe(flag()),
      nextOffset: maybe(amount({ description: "Where the next page begins, when there is more." })),
      incomplete: maybe(
        flag({ description: "Transcripts of another program are still being imported: the search has not seen all of them. Search again later." }),
      ),
      defaults: closed({ modelProvider: orNull(text()), model: orNull(text()), contextTokens: orNull(number()) }),
      sessions: list(SessionRowSchema),
    }),
    effect: false,
    module: "sessions",
    summary:
      "A page of the sessions, newest first. `search` looks through names, first messages, keys and ids; with `includeLastMessage` also through last messages.",
  }),
  "sessions.preview": method({
    access: "operator.read",
    params: closed({
      keys: list(filled(), { minItems: 1, description: "The first 64 are answered." }),
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
    summary: "The last lines of several sessions.",
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
    summary: "The canonical key for one of a key, a session id and a label.",
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
    summary: "Changes settings of a session; `null` clears one. Makes the session when it is not there.",
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
    result: done({ key: filled(), deleted: flag(), archived: texts() }),
    effect: true,
    module: "sessions",
    summary: "Removes a session. The main session stays.",
  }),
  "sessions.compact": method({
    access: "operator.admin",
    params: effect({
      key: filled(),
      maxLines: maybe(count({ default: 400, description: "Keeps so many lines and asks no model." })),
      instructions: maybe(text({ maxLength: 10_000, description: "What the summary is to look after." })),
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
    summary: "Sums up what was said so far. With `maxLines`, or where no agent can: keeps the last lines of a transcript and puts the rest away.",
  }),
};
