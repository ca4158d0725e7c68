import { advanced, amount, choice, count, flag, group, list, text } from "./pieces.ts";
import { accessRules } from "./parts.ts";

const qmd = group("The qmd program as memory.", {
  command: text("Program to run."),
  searchMode: choice("Its search command.", ["query", "search", "vsearch"]),
  includeDefaultMemory: flag("Also the workspace's own notes."),
  paths: list(
    "Folders to index.",
    group("One folder.", { path: text("Folder."), name: text("Name of the collection."), pattern: text("Files to take.") }, ["path"]),
  ),
  sessions: group("Past sessions.", {
    enabled: flag("Index them."),
    exportDir: text("Folder they are written to."),
    retentionDays: amount("Days they are kept."),
  }),
  update: group(
    "When its index is refreshed.",
    {
      interval: text("Time between two updates, such as 5m."),
      debounceMs: amount("Shortest time between two updates."),
      onBoot: flag("At start."),
      waitForBootSync: flag("Wait for it at start."),
      embedInterval: text("Time between two embedding runs."),
      commandTimeoutMs: amount("How long a command may take."),
      updateTimeoutMs: amount("How long an update may take."),
      embedTimeoutMs: amount("How long an embedding run may take."),
    },
    [],
    advanced,
  ),
  limits: group("Bounds of a search.", {
    maxResults: count("Results returned."),
    maxSnippetChars: count("Longest snippet."),
    maxInjectedChars: count("Longest text put into the prompt."),
    timeoutMs: amount("How long a search may take."),
  }),
  scope: accessRules("Chats in which memory is searched."),
});

export const memory = group("Long-term memory.", {
  backend: choice("Memory backend.", ["builtin", "qmd"]),
  citations: choice("Name the sources of recalled memory.", ["auto", "on", "off"]),
  qmd,
});
