/** Conversations as a page shows them: entries by position, what waits, what runs. */
import type { Static } from "typebox";
import { amount, anything, choice, closed, count, filled, flag, list, maybe, moment, number, open, orNull, text, texts } from "./pieces.ts";

/** Tokens of one answer, and their price when it is known. */
const EntryUsage = closed({
  input: number(),
  output: number(),
  cacheRead: maybe(number()),
  cacheWrite: maybe(number()),
  cost: maybe(number({ description: "US dollars." })),
});

/** One entry of a transcript. Its `seq` never changes, so a page can be put together from parts in any order. */
export const ChatEntrySchema = closed({
  seq: amount(),
  id: maybe(text()),
  ts: moment(),
  kind: choice(["user", "assistant", "tool", "compaction", "note"]),
  content: list(anything(), {
    description:
      "Blocks: `text`, `thinking`, `toolCall` (id, name, arguments), `image` (mimeType, bytes, omitted). For a tool result: its output. For a compaction: the summary.",
  }),
  files: maybe(
    list(closed({ name: filled(), mimeType: filled({ description: "As it was stored." }) }), {
      description: "Stored files that came with a message, in order. `chat.file` returns them. Its text names them, too, in lines that begin with 📎.",
    }),
  ),
  toolCallId: maybe(text()),
  toolName: maybe(text()),
  isError: maybe(flag()),
  details: maybe(anything()),
  runId: maybe(text({ description: "Also accepted by `why`." })),
  from: maybe(text({ description: "Who sent it, unless it came from the owner's page." })),
  channel: maybe(text()),
  model: maybe(text()),
  provider: maybe(text()),
  usage: maybe(EntryUsage),
  stopReason: maybe(text()),
  error: maybe(text()),
  cut: maybe(flag({ description: "Too long to be shown in full." })),
  siblings: maybe(
    closed({
      at: count({ description: "Number of this one among them, from 1." }),
      of: count(),
      previous: maybe(filled({ description: "The `id` of the previous one, for `chat.branch`." })),
      next: maybe(filled()),
    }),
  ),
  told: maybe(texts({ description: "Lines that the gateway added for the agent. The content does not include them." })),
});
export type ChatEntry = Static<typeof ChatEntrySchema>;

/** A command that needed approval. `lost`: the gateway ended while it ran, what it did is not known. */
export const AskedCommandSchema = closed({
  id: filled({ description: "Id of the approval, as in the details of the call's result." }),
  state: choice(["asked", "running", "ended", "denied", "expired", "lost"]),
  by: maybe(text({ description: "Who decided." })),
  why: maybe(text({ description: "Why it did not run." })),
  startedAt: maybe(moment()),
  endedAt: maybe(moment()),
  exitCode: maybe(orNull(number())),
  signal: maybe(orNull(text())),
  timedOut: maybe(flag()),
  output: maybe(text({ description: "The end of its output, so far or in total." })),
});
export type AskedCommandView = Static<typeof AskedCommandSchema>;

/** A message that was accepted and is not in the transcript yet. */
export const PendingMessageSchema = closed({ runId: filled(), ts: moment(), text: text(), images: amount(), from: maybe(text()), channel: maybe(text()) });
export type PendingMessage = Static<typeof PendingMessageSchema>;

/** A run under way, with what it has said since its last entry. */
export const ShownRunSchema = open({
  runId: filled(),
  startedAt: moment(),
  text: maybe(text()),
  thinking: maybe(text()),
  tools: maybe(
    list(open({ toolCallId: filled(), name: filled(), partialResult: maybe(anything()) }), {
      description: "Calls without a result yet, with their output so far.",
    }),
  ),
});
export type ShownRun = Static<typeof ShownRunSchema>;
