import type { Static } from "typebox";
import type { Frozen } from "./method.ts";
import { anything, choice, closed, either, filled, flag, list, maybe, moment, number, open, orNull, text } from "./pieces.ts";

const threadId = maybe(either(text(), number()));

/** Where a session came from. */
const OriginSchema = closed({
  label: maybe(text()),
  provider: maybe(text()),
  surface: maybe(text()),
  chatType: maybe(text()),
  from: maybe(text()),
  to: maybe(text()),
  accountId: maybe(text()),
  threadId,
});

/** Where answers of a session go. */
const DeliveryContextSchema = closed({ channel: maybe(text()), to: maybe(text()), accountId: maybe(text()), threadId });

/** One session in a list. */
export const SessionRowSchema = open({
  key: filled(),
  kind: choice(["direct", "group", "global", "unknown"]),
  label: maybe(text()),
  displayName: maybe(text()),
  derivedTitle: maybe(text()),
  name: maybe(text({ description: "Display name, with `includeDerivedTitles`: label, name of the chat, first message, or the key in words." })),
  lastMessagePreview: maybe(text()),
  channel: maybe(text()),
  subject: maybe(text()),
  groupChannel: maybe(text()),
  space: maybe(text()),
  chatType: maybe(text()),
  origin: maybe(OriginSchema),
  updatedAt: orNull(moment()),
  sessionId: maybe(text()),
  systemSent: maybe(flag()),
  abortedLastRun: maybe(flag()),
  thinkingLevel: maybe(text()),
  verboseLevel: maybe(text()),
  reasoningLevel: maybe(text()),
  elevatedLevel: maybe(text()),
  sendPolicy: maybe(text()),
  groupActivation: maybe(text()),
  execHost: maybe(text()),
  execSecurity: maybe(text()),
  execAsk: maybe(text()),
  execNode: maybe(text()),
  inputTokens: maybe(number()),
  outputTokens: maybe(number()),
  totalTokens: maybe(number()),
  totalTokensFresh: maybe(flag()),
  responseUsage: maybe(text()),
  modelProvider: maybe(orNull(text())),
  model: maybe(orNull(text())),
  contextTokens: maybe(orNull(number())),
  deliveryContext: maybe(DeliveryContextSchema),
  lastChannel: maybe(text()),
  lastTo: maybe(text()),
  lastAccountId: maybe(text()),
  pinnedAt: maybe(number({ description: "Since when it is pinned at the top of lists." })),
  folder: maybe(text({ description: "The folder of lists that it is in." })),
  archivedAt: maybe(number({ description: "Since when lists hide it; searches find it." })),
  pluginExtensions: maybe(list(closed({ pluginId: filled(), namespace: filled(), value: anything() }))),
});

/** A stored session entry, whole. */
export const StoredEntrySchema = open({ sessionId: filled(), updatedAt: moment() });

export type SessionRow = Frozen<Static<typeof SessionRowSchema>>;
