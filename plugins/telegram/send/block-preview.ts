/** `streamMode: "block"`: the message that shows a growing answer grows by whole pieces, not by every word. */
import type { Preview } from "../types.ts";

export interface DraftChunk {
  readonly minChars: number;
  readonly maxChars: number;
  readonly breakPreference: "paragraph" | "newline" | "sentence";
}

const BREAKS: Readonly<Record<DraftChunk["breakPreference"], RegExp>> = {
  paragraph: /\n[ \t]*\n/g,
  newline: /\n/g,
  sentence: /[.!?…](?=\s)/g,
};
/** What is looked for where the text has no break of the preferred kind. */
const ORDER = ["paragraph", "newline", "sentence"] as const;

/** The end of the last break of a kind in `text` that is behind `minChars`. */
function lastBreak(text: string, kind: DraftChunk["breakPreference"], minChars: number): number | undefined {
  let found: number | undefined;
  for (const match of text.matchAll(BREAKS[kind])) {
    const end = match.index + (kind === "sentence" ? match[0].length : 0);
    if (end >= minChars) found = end;
  }
  return found;
}

/** How much of `pending` is a piece that can be shown: 0 while it is too short, or has no break yet and can still grow. */
export function pieceLength(pending: string, { minChars, maxChars, breakPreference }: DraftChunk): number {
  if (pending.length < minChars) return 0;
  const window = pending.slice(0, maxChars);
  const preferred = lastBreak(window, breakPreference, minChars);
  if (preferred !== undefined) return preferred;
  if (pending.length < maxChars) return 0;
  for (const kind of ORDER.slice(ORDER.indexOf(breakPreference) + 1)) {
    const other = lastBreak(window, kind, minChars);
    if (other !== undefined) return other;
  }
  const space = window.lastIndexOf(" ");
  if (space >= minChars) return space;
  return /[\uD800-\uDBFF]$/.test(window) ? window.length - 1 : window.length;
}

/** Passes on only texts that end with a piece. The end of the answer is not its business: the preview is sealed, and the whole answer replaces it. */
export function inBlocks(preview: Preview, chunk: DraftChunk): Preview {
  let shown = 0;
  let last = "";
  return {
    ...preview,
    async update(text) {
      const isVoid = !text.startsWith(last.slice(0, shown));
      if (isVoid) shown = 0;
      last = text;
      for (let length = pieceLength(text.slice(shown), chunk); length > 0; length = pieceLength(text.slice(shown), chunk)) shown += length;
      // Another text than the one that was growing: what is shown goes at once, whether or not there is a whole piece to take its place.
      if (isVoid && shown === 0) shown = text.length;
      if (shown > 0) await preview.update(text.slice(0, shown).trimEnd());
    },
  };
}
