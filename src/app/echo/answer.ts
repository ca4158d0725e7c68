/** What the echo says to a message, and how fast. */
export interface Answer {
  /** In order; joined they are the whole text. */
  readonly pieces: readonly string[];
  /** Time between two pieces. */
  readonly gapMs: number;
}

const MAX_PIECES = 10_000;
const MAX_GAP_MS = 60_000;
const SETTING = /@(chunks|gap)=(\d{1,9})(?=\s|$)/g;

/**
 * The message itself. `@chunks=N` and `@gap=MS` are taken out of it and steer the stream: the text is the first of N pieces, numbered words are the
 * others, and MS passes between two.
 */
export function answerTo(message: string): Answer {
  const settings = new Map([...message.matchAll(SETTING)].map(([, name, value]) => [name!, Number(value)]));
  const text = settings.size === 0 ? message : message.replace(SETTING, "").replaceAll(/ {2,}/g, " ").trim();
  const count = Math.min(Math.max(settings.get("chunks") ?? 1, 1), MAX_PIECES);
  const pieces = Array.from({ length: count }, (_, index) => (index === 0 ? text : ` w${index}`));
  return { pieces, gapMs: Math.min(settings.get("gap") ?? 0, MAX_GAP_MS) };
}
