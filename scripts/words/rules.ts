/** The words that the code base avoids, what to write instead, and where one of them is the right word. */
export interface WordRule {
  /** Matches one lower-case part of an identifier, or one word of a text. */
  readonly word: RegExp;
  readonly instead: string;
}

export const WORDS: readonly WordRule[] = [
  { word: /^anew$/, instead: "again" },
  { word: /^whoever$/, instead: "the caller, the user, anyone who" },
  { word: /^somebodys?$/, instead: "the user, someone" },
  { word: /^turnstiles?$/, instead: "limiter" },
  { word: /^desks?$/, instead: "dispatcher, editor" },
  { word: /^fates?$/, instead: "outcome" },
  { word: /^told$/, instead: "notified, reported, shown" },
  { word: /^rooms?$/, instead: "module, space" },
];

/** Two parts of an identifier that are avoided together. */
export const PLACE_OF = { word: "placeOf", instead: "the specific noun: directory, location, chatRef, position" };

export interface Exception {
  /** A file, or a folder with everything below it. */
  readonly path: string;
  readonly words: RegExp;
  /** Only on lines that match. */
  readonly line?: RegExp;
  readonly why: string;
}

export const EXCEPTIONS: readonly Exception[] = [
  { path: "src/memory/search/question.ts", words: /^told$/, why: "a word of questions" },
  { path: "src/memory/text/languages.ts", words: /^told$/, why: "a word of texts" },
  { path: "src/memory/thread/sync-transcripts.ts", words: /^room$/, why: "a chat room" },
  {
    path: "",
    words: /^rooms?$/,
    line: /[#@!][\w-]*room\b|t\.me\/\w*room\b|\b(?:chat|Matrix|IRC|Slack|Discord|Teams|Nextcloud|Zulip|Webex) rooms?\b/i,
    why: "a chat room",
  },
  ...[
    "src/channels/access",
    "src/channels/settings.ts",
    "src/plugins/sdk/channels",
    "src/plugins/sdk/access/access.test.ts",
    "src/plugins/sdk/values/channel-entries.ts",
    "src/setup/channel-offers.test.ts",
  ].map((path) => ({ path, words: /^rooms?$/, why: "chat rooms of platforms" })),
  ...[
    "src/cli/commands/channels/resolve.ts",
    "src/plugins/runtime/conversation/message-event.ts",
    "src/plugins/sdk/messages/session-keys.ts",
    "src/routing/examples.test.ts",
  ].map((path) => ({
    path,
    words: /^room$/,
    line: /room:|\broom\|/i,
    why: "the prefix of a platform's targets",
  })),
  ...["src/agent/prompt/facts.ts", "src/sessions/entry"].map((path) => ({ path, words: /^room$/, line: /"room"/, why: "a chat type" })),
  { path: "src/protocol/vocabulary/channel/outbound.ts", words: /^room$/, line: /roomId/, why: "a field of a platform's delivery result" },
  { path: "src/protocol/chat-entry.ts", words: /^told$/, line: /^ {2}told: /, why: "a field of the protocol's `ChatEntry`" },
  { path: "docs/protocol.md", words: /^told$/, line: /told\?: /, why: "a field of the protocol's `ChatEntry`" },
  { path: "test/e2e/approval-follow-up.test.ts", words: /^told$/, why: "a field of the protocol's `ChatEntry`" },
  { path: "test/e2e/cli.test.ts", words: /^room$/, why: "the former name of a flag" },
  { path: "docs/plugins/api-report.md", words: /^room$/, why: "names of the SDK about chat rooms" },
  { path: "src/config/validate/known-names.ts", words: /^room$/, why: "the prefix of a platform's targets" },
  { path: "src/cli/commands/logs.ts", words: /^room$/, why: "the former name of a flag" },
  { path: "src/conversation/delivery/receipt.ts", words: /^room$/, line: /"roomId"/, why: "a key of a platform's receipt" },
  ...["src/gateway/methods/view/system-lines.ts", "src/gateway/methods/view/system-lines.test.ts"].map((path) => ({
    path,
    words: /^told$/,
    line: /entry\.told|told:|"told"/,
    why: "a field of the protocol's `ChatEntry`",
  })),
  { path: "src/plugins/sdk/access/group-policies.ts", words: /^room$/, line: /"room messages"/, why: "a name of the SDK about chat rooms" },
  ...["src/plugins/runtime/pending.ts", "src/plugins/sdk/unbuilt.ts"].map((path) => ({
    path,
    words: /^room$/,
    line: /room: module/,
    why: "a key in the details of an error",
  })),
  { path: "src/tools/file-access/known-places.ts", words: /^desk$/, line: /AnyDesk/, why: "the name of a program" },
  { path: "src/store/sqlite", words: /^(?:fate|told)$/, why: "the name of a column, and a key in its JSON" },
  { path: "src/cli/commands/tui/state/entry.ts", words: /^told$/, line: /entry\.told/, why: "a field of the protocol's `ChatEntry`" },
  { path: "src/models/offline/intents/memory.ts", words: /^told$/, why: "a question that users ask" },
  { path: "ui/src/pages/chat/transcript-rows.ts", words: /^told$/, line: /entry\.told/, why: "a field of the protocol's `ChatEntry`" },
  { path: "scripts/words.ts", words: /./, why: "the words are its subject" },
  { path: "scripts/words.test.ts", words: /./, why: "the words are its subject" },
  { path: "scripts/words", words: /./, why: "the words are its subject" },
];
