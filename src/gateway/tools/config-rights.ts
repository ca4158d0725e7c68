import { parseDocument } from "../../config/index.ts";

/** Parts of the configuration that change how an agent speaks and not what it may do. Everything else decides rights, or leads somewhere. */
const HARMLESS: readonly string[] = [
  "ui",
  "messages",
  ...[
    "model",
    "imageModel",
    "thinkingDefault",
    "verboseDefault",
    "userTimezone",
    "timeFormat",
    "envelopeTimezone",
    "envelopeTimestamp",
    "envelopeElapsed",
    "blockStreamingDefault",
    "blockStreamingBreak",
    "blockStreamingChunk",
    "blockStreamingCoalesce",
    "humanDelay",
    "typingMode",
    "typingIntervalSeconds",
    "contextPruning",
    "compaction",
    "bootstrapMaxChars",
    "bootstrapTotalMaxChars",
    "timeoutSeconds",
  ].map((key) => `agents.defaults.${key}`),
];

/** The places that a patch of the configuration would change and that the operator has to agree to. None when it is no patch: then it fails by itself. */
export function rightsTouched(raw: string): readonly string[] {
  const { root, value } = parseDocument(raw);
  return root ? leaves(value, "") : [];
}

function leaves(value: unknown, at: string): readonly string[] {
  if (HARMLESS.includes(at)) return [];
  const inner = typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
  if (inner.length === 0) return at === "" ? [] : [at];
  return inner.flatMap(([key, next]) => leaves(next, at === "" ? key : `${at}.${key}`));
}
