import { advanced, amount, choice, count, flag, group, list, ratio, secret, secretMap, text, texts } from "../pieces.ts";

const remote = group("The embedding service.", {
  baseUrl: text("Address of a compatible service."),
  apiKey: secret("Key for the embedding service."),
  headers: secretMap("Extra request headers."),
  batch: group(
    "Embeds many pieces with the provider's batch interface.",
    {
      enabled: flag("Use batches."),
      wait: flag("Wait for a batch to end."),
      concurrency: count("Batches at the same time."),
      pollIntervalMs: amount("Milliseconds between two checks of a batch."),
      timeoutMinutes: count("Give up on a batch after this long."),
    },
    [],
    advanced,
  ),
});

const sync = group("When the index follows the files.", {
  onSessionStart: flag("Before the first turn of a session."),
  onSearch: flag("Before a search, when files changed."),
  watch: flag("Watch the files."),
  watchDebounceMs: amount("Wait for this many milliseconds of silence after a change.", advanced),
  intervalMinutes: amount("Also at this interval; 0 is never."),
  sessions: group(
    "When a running session is indexed again.",
    { deltaBytes: amount("After this many new bytes."), deltaMessages: amount("After this many new messages.") },
    [],
    advanced,
  ),
});

const query = group("How a search ranks.", {
  maxResults: count("Results returned."),
  minScore: ratio("Results below this score are dropped."),
  hybrid: group(
    "Mixes search by meaning and search by words.",
    {
      enabled: flag("Mix both."),
      vectorWeight: ratio("Weight of meaning."),
      textWeight: ratio("Weight of words."),
      candidateMultiplier: count("Candidates considered per result."),
      mmr: group("Prefers results that differ from each other.", { enabled: flag("Enable it."), lambda: ratio("1 is only relevance, 0 only variety.") }),
      temporalDecay: group("Prefers newer notes.", { enabled: flag("Enable it."), halfLifeDays: count("Age at which a note counts half.") }),
    },
    [],
    advanced,
  ),
});

export const memorySearch = group("Search over the agent's notes and past sessions.", {
  enabled: flag("Offer the memory tools."),
  sources: list("What is searched.", choice("A source.", ["memory", "sessions"])),
  extraPaths: texts("More files or folders to search, relative to the workspace."),
  recall: choice("What a turn gets from it before the model is called: nothing, where to look, or the best passages.", ["off", "hint", "inject"]),
  inGroups: choice("What a group may recall: its own conversation, or everything the agent knows.", ["own", "all"]),
  experimental: group("Experimental.", { sessionMemory: flag("Index past sessions.") }, [], advanced),
  provider: choice("Who computes embeddings; chosen by available keys when absent.", ["openai", "local", "gemini", "voyage", "mistral", "ollama"]),
  remote,
  fallback: choice("Who to use when the provider fails.", ["openai", "gemini", "local", "voyage", "mistral", "ollama", "none"]),
  model: text("Embedding model."),
  local: group(
    "Embeddings on this machine.",
    { modelPath: text("Model file or address."), modelCacheDir: text("Folder for downloaded models.") },
    [],
    advanced,
  ),
  store: group(
    "Where the index is kept.",
    {
      driver: choice("Kind of store.", ["sqlite"]),
      path: text("File; {agentId} is filled in."),
      vector: group("Vector extension of the store.", { enabled: flag("Use it."), extensionPath: text("Library to load.") }),
    },
    [],
    advanced,
  ),
  chunking: group("How notes are cut.", { tokens: count("Tokens per piece."), overlap: amount("Tokens that two pieces share.") }, [], advanced),
  sync,
  query,
  cache: group("Keeps computed embeddings.", { enabled: flag("Enable it."), maxEntries: count("Maximum number of entries.") }, [], advanced),
});
