import { advanced, choice, count, flag, group, map, number, text } from "../pieces.ts";
import { anyParams, modelWithFallbacks, thinkingLevels, typingMode } from "../parts.ts";
import { cliBackends } from "./cli-backend.ts";
import { compaction, contextPruning } from "./context.ts";
import { heartbeat } from "./heartbeat.ts";
import { memorySearch } from "./memory-search.ts";
import { sandbox } from "./sandbox.ts";
import { blockStreamingChunk, blockStreamingCoalesce, humanDelay } from "./streaming.ts";
import { subagentDefaults } from "./subagents.ts";

const catalogEntry = group("One model of the catalog.", {
  alias: text("Short name for /model."),
  params: anyParams,
  streaming: flag("Stream answers of this model."),
});

export const agentDefaults = group("What holds for every agent unless it says otherwise.", {
  model: modelWithFallbacks("Model of agents without one of their own."),
  imageModel: modelWithFallbacks("Model for images when the main one takes none."),
  models: map("Known models by provider/model. When not empty, only these and the default may be chosen.", catalogEntry),
  workspace: text("Folder of the default agent's files."),
  repoRoot: text("Repository named in the system prompt; found by itself when absent.", advanced),
  skipBootstrap: flag("Do not create the workspace's first files."),
  bootstrapMaxChars: count("Longest part of one workspace file in the prompt.", advanced),
  bootstrapTotalMaxChars: count("Longest part of all workspace files in the prompt.", advanced),
  userTimezone: text("IANA time zone of the user."),
  timeFormat: choice("Clock in the prompt.", ["auto", "12", "24"]),
  envelopeTimezone: text("Time zone of message times: utc, local, user or an IANA name."),
  envelopeTimestamp: choice("Show message times to the model.", ["on", "off"]),
  envelopeElapsed: choice("Show the time since the last message to the model.", ["on", "off"]),
  contextTokens: count("Tokens of context to use; the model's window when absent."),
  cliBackends,
  memorySearch,
  contextPruning,
  compaction,
  thinkingDefault: choice("Thinking level when a session sets none.", thinkingLevels),
  verboseDefault: choice("Whether tool calls are shown.", ["off", "on", "full"]),
  elevatedDefault: choice("Whether commands may leave the sandbox.", ["off", "on", "ask", "full"]),
  blockStreamingDefault: choice("Send a reply in pieces while it is written.", ["off", "on"]),
  blockStreamingBreak: choice("When a piece may be sent.", ["text_end", "message_end"], advanced),
  blockStreamingChunk,
  blockStreamingCoalesce,
  humanDelay,
  timeoutSeconds: count("Longest a turn may take."),
  mediaMaxMb: number("Largest file sent, in MB.", { exclusiveMinimum: 0 }),
  imageMaxDimensionPx: count("Images are scaled down to this many pixels a side.", advanced),
  typingIntervalSeconds: count("Seconds between two typing signals.", advanced),
  typingMode: typingMode("When the typing signal starts."),
  heartbeat,
  maxConcurrent: count("Turns at the same time over all sessions."),
  subagents: subagentDefaults,
  sandbox,
});
