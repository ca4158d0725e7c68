import { advanced, amount, choice, flag, group, number, ratio, text, texts } from "../pieces.ts";

export const contextPruning = group("Shortens old tool results in what the model sees; the transcript stays whole.", {
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

export const compaction = group("Summarises a conversation that no longer fits the context window.", {
  mode: choice("safeguard splits long histories and checks the summary.", ["default", "safeguard"]),
  reserveTokensFloor: amount("Tokens always kept free for the answer."),
  maxHistoryShare: number("Largest share of the window that history may take after compaction.", { minimum: 0.1, maximum: 0.9, ...advanced }),
  memoryFlush: group("A silent turn before compaction in which the agent writes down what matters.", {
    enabled: flag("Take that turn."),
    softThresholdTokens: amount("Tokens before the compaction limit at which it runs."),
    prompt: text("Text that replaces the built-in prompt."),
    systemPrompt: text("Text added to the system prompt for that turn."),
  }),
});
