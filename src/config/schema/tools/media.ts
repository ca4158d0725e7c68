import { Type } from "typebox";
import { advanced, choice, count, flag, group, list, map, secretMap, text, texts } from "../pieces.ts";
import { accessRules } from "../parts.ts";

const deepgram = group(
  "Older form of the Deepgram options.",
  { detectLanguage: flag("Detect the language."), punctuate: flag("Add punctuation."), smartFormat: flag("Format numbers and dates.") },
  [],
  advanced,
);

const option = Type.Unsafe<string | number | boolean>({ type: ["string", "number", "boolean"] });

/** What may be set for a kind of media and again for one of its models. */
const requestProperties = {
  maxBytes: count("Files above this size are skipped."),
  maxChars: count("Longest description kept."),
  prompt: text("What the model is asked."),
  timeoutSeconds: count("How long it may take."),
  language: text("Language of the speech."),
  providerOptions: map("Query options by provider.", map("Options.", option), advanced),
  deepgram,
  baseUrl: text("Address of the provider.", advanced),
  headers: secretMap("Extra request headers.", advanced),
};

const model = group("A model, or a program, that understands media.", {
  provider: text("Provider id."),
  model: text("Model id."),
  capabilities: list("What it understands.", choice("A kind of media.", ["image", "audio", "video"])),
  type: choice("A provider's model or a local program.", ["provider", "cli"]),
  command: text("Program, for type cli."),
  args: texts("Its arguments; {{MediaPath}}, {{Prompt}} and others are filled in."),
  ...requestProperties,
  profile: text("Auth profile to use.", advanced),
  preferredProfile: text("Auth profile to try first.", advanced),
});

const capabilityProperties = {
  enabled: flag("Describe such files; decided by available models when absent."),
  scope: accessRules("Chats in which files are described."),
  ...requestProperties,
  attachments: group("Which files of a message are taken.", {
    mode: choice("The first or all.", ["first", "all"]),
    maxAttachments: count("At most this many."),
    prefer: choice("Which come first.", ["first", "last", "path", "url"]),
  }),
  models: list("Models to try before the shared ones.", model),
};

const capability = (description: string) => group(description, capabilityProperties);

export const mediaTools = group("Understanding of images, speech and video that people send.", {
  models: list("Models for all kinds.", model),
  concurrency: count("Files at the same time."),
  image: capability("Images."),
  audio: group("Speech.", {
    ...capabilityProperties,
    echoTranscript: flag("Send the transcript back to the chat, before the answer."),
    echoFormat: text("What is sent back; {transcript} is the transcript.", advanced),
  }),
  video: capability("Video."),
});

export const linkTools = group("Summaries of links that people send.", {
  enabled: flag("Follow links."),
  scope: accessRules("Chats in which links are followed."),
  maxLinks: count("Links per message."),
  timeoutSeconds: count("How long one may take."),
  models: list(
    "Programs that read a link.",
    group(
      "One program.",
      {
        type: choice("Kind of reader.", ["cli"]),
        command: text("Program to run.", { minLength: 1 }),
        args: texts("Its arguments; {{LinkUrl}} is filled in."),
        timeoutSeconds: count("How long it may take."),
      },
      ["command"],
    ),
  ),
});
