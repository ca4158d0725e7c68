import { amount, choice, count, group } from "../pieces.ts";

export const blockStreamingChunk = group("Size of the pieces that a streamed reply is sent in.", {
  minChars: count("Do not send less than this."),
  maxChars: count("Do not send more than this at once."),
  breakPreference: choice("Where to cut when there is a choice.", ["paragraph", "newline", "sentence"]),
});

export const blockStreamingCoalesce = group("Joins small streamed pieces before they are sent.", {
  minChars: count("Wait for at least this much text."),
  maxChars: count("Send when this much text is waiting."),
  idleMs: amount("Send when nothing came for this many milliseconds."),
});

export const humanDelay = group("Pause between the pieces of a reply, as a person would make.", {
  mode: choice("natural uses built-in times, custom the two below.", ["off", "natural", "custom"]),
  minMs: amount("Shortest pause in milliseconds."),
  maxMs: amount("Longest pause in milliseconds."),
});
