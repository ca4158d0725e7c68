import { choice, count, flag, group, map, number, secretMap, text, textMap, texts, whole } from "../pieces.ts";

const output = (description: string) => choice(description, ["json", "text", "jsonl"]);

const watchdog = (description: string) =>
  group(description, {
    noOutputTimeoutMs: whole("End it after this many silent milliseconds.", { minimum: 1000 }),
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
    systemPromptMode: choice("Whether ours is added to the program's or replaces it.", ["append", "replace"]),
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

export const cliBackends = map("Local programs usable as models, by id.", backend, { "x-advanced": true });
