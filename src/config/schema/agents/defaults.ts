import { THINKING_LEVELS } from "../../../base/thinking.ts";
import { advanced, amount, choice, count, flag, group, map, number, ratio, secretMap, text, textMap, texts, whole } from "../pieces.ts";
import { anyParams, modelRef, modelWithFallbacks, typingMode } from "../parts.ts";
import { heartbeat } from "./heartbeat.ts";
import { memorySearch } from "./memory-search.ts";
import { sandbox } from "./sandbox.ts";
import { blockStreamingChunk, blockStreamingCoalesce, humanDelay } from "./streaming.ts";
import { subagentDefaults } from "./subagents.ts";

const contextPruning = group("Shortens old tool results in what the model sees; the transcript stays whole.", {
  mode: choice("cache-ttl prunes when the provider's prompt cache has expired.", ["off", "cache-ttl"]),
  ttl: text("Age of the cache after which pruning is allowed; a bare number counts minutes."),
  keepLastAssistants: amount("Leave tool results alone that follow this many last answers."),
  softTrimRatio: ratio("Share of the context window above which results are shortened."),
  hardClearRatio: ratio("Share of the context window above which results are removed."),
  minPrunableToolChars: amount("Do nothing while there is less than this to gain.", advanced),
  tools: group("Which tools' results may be pruned.", { allow: texts("Only these tools."), deny: texts("Never these tools.") }, [], advanced),
  softTrim: group(
    "How a result is shortened.",
    {
      maxChars: amount("Results up to this length stay whole."),
      headChars: amount("Characters kept from the beginning."),
      tailChars: amount("Characters kept from the end."),
    },
    [],
    advanced,
  ),
  hardClear: group("How a result is removed.", { enabled: flag("Allow removing."), placeholder: text("Text left in its place.") }, [], advanced),
});

const compaction = group("Summarises a conversation that no longer fits the context window.", {
  mode: choice("safeguard splits long histories and checks the summary.", ["default", "safeguard"]),
  reserveTokensFloor: amount("Tokens always kept free for the answer."),
  maxHistoryShare: number("Largest share of the window that history may take after compaction.", { minimum: 0.1, maximum: 0.9, ...advanced }),
  memoryFlush: group("A silent turn before compaction in which the agent writes down what matters.", {
    enabled: flag("Run that turn."),
    softThresholdTokens: amount("Tokens before the compaction limit at which it runs."),
    prompt: text("Text that replaces the built-in prompt."),
    systemPrompt: text("Text added to the system prompt for that turn."),
  }),
});

const output = (description: string) => choice(description, ["json", "text", "jsonl"]);

const watchdog = (description: string) =>
  group(description, {
    noOutputTimeoutMs: whole("End it after this many milliseconds without output.", { minimum: 1000 }),
    noOutputTimeoutRatio: number("The same as a share of the turn's timeout.", { minimum: 0.05, maximum: 0.95 }),
    minMs: whole("Never wait less than this.", { minimum: 1000 }),
    maxMs: whole("Never wait longer than this.", { minimum: 1000 }),
  });

const backend = group(
  "A local program that answers in place of a model provider.",
  {
    command: text("Program to run."),
    args: texts("Arguments for a new conversation."),
    output: output("What it prints."),
    resumeOutput: output("What it prints when it resumes a conversation."),
    input: choice("How it gets the prompt.", ["arg", "stdin"]),
    maxPromptArgChars: count("Prompts longer than this go to standard input."),
    env: secretMap("Environment variables to set."),
    clearEnv: texts("Environment variables to remove."),
    modelArg: text("Flag that names the model."),
    modelAliases: textMap("Model names that the program calls differently."),
    sessionArg: text("Flag that names the conversation."),
    sessionArgs: texts("Arguments that name the conversation, with {sessionId} in them."),
    resumeArgs: texts("Arguments to resume a conversation, with {sessionId} in them."),
    sessionMode: choice("When to pass a conversation id.", ["always", "existing", "none"]),
    sessionIdFields: texts("Fields of the output that may hold the conversation id."),
    systemPromptArg: text("Flag that passes the system prompt."),
    systemPromptMode: choice("Whether the agent's is added to the program's or replaces it.", ["append", "replace"]),
    systemPromptWhen: choice("When the system prompt is passed.", ["first", "always", "never"]),
    imageArg: text("Flag that passes an image file."),
    imageMode: choice("How several images are passed.", ["repeat", "list"]),
    serialize: flag("Run one call at a time."),
    reliability: group("What to do when it hangs.", {
      watchdog: group("Ends a program that prints nothing.", {
        fresh: watchdog("For new conversations."),
        resume: watchdog("For resumed conversations."),
      }),
    }),
  },
  ["command"],
);

const cliBackends = map("Local programs usable as models, by id.", backend, { "x-advanced": true });

const catalogEntry = group("One model of the catalog.", {
  alias: text("Short name for /model."),
  params: anyParams,
  streaming: flag("Stream answers of this model."),
});

export const agentDefaults = group("Defaults for every agent.", {
  model: modelWithFallbacks("Model of agents that set none."),
  imageModel: modelWithFallbacks("Model for images when the main one takes none."),
  imageGenerationModel: modelRef("Model that makes images, as provider/model; without it agents make none."),
  models: map("Known models by provider/model. When not empty, only these and the default may be chosen.", catalogEntry),
  workspace: text("Folder of the default agent's files."),
  repoRoot: text("Repository named in the system prompt; detected when absent.", advanced),
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
  thinkingDefault: choice("Thinking level when a session sets none.", THINKING_LEVELS),
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
