/** An answer as people see it, and the files that it names in lines of their own: `MEDIA:<path or address>`. */
export interface ShownAnswer {
  /** The answer without those lines and without tags for channels and voices. */
  readonly text: string;
  /** What follows `MEDIA:` in each, in order. */
  readonly files: readonly string[];
}

const MEDIA_LINE = /^[ \t]*MEDIA:[ \t]*(\S.*?)[ \t\r]*$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const CODE = /(^ {0,3}(`{3,}|~{3,})[^\n]*(?:\n[\s\S]*?(?:^ {0,3}\2[^\n]*$|(?![\s\S])))?|`[^`\n]+`)/m;
const EAR_WORDS = /\[\[tts:text\]\]([\s\S]*?)(?:\[\[\/tts:text\]\]|$)/gi;
/** The last one may still be coming. */
const TAG = /\[\[ *\/?(?:tts|reply_to(?:_current)?|audio_as_voice)\b[^\]\n]{0,200}(?:\]\]|\]?$)/gi;
const TAG_LINES = new RegExp(`^[ \\t]*(?:${TAG.source}[ \\t]*)+\\n`, "gim");
/** As many as one answer sends. */
const MOST = 50;

const proseOf = (text: string, ear: (words: string) => string): string =>
  text
    .replaceAll(EAR_WORDS, (_, words: string) => ear(words))
    .replaceAll(TAG_LINES, "")
    .replaceAll(TAG, "")
    .replaceAll(/^[ \t]+$/gm, "")
    .replaceAll(/\n{3,}/g, "\n\n");

/** Without tags, which are not looked for in code. Words that only a listener was to get are shown where there are no others. */
function withoutTags(text: string): string {
  if (!/\[\[ *\/?(?:tts|reply_to|audio_as_voice)/i.test(text)) return text;
  // Prose, code, and the fence of the code, in turn.
  const parts = text.split(CODE);
  const written = (ear: (words: string) => string): string =>
    parts
      .map((part, at) => (at % 3 === 0 ? proseOf(part, ear) : at % 3 === 1 ? part : ""))
      .join("")
      .trim();
  return written(() => "") || written((words) => words);
}

/** Separates the files of an answer from its words. Lines in code blocks are words. */
export function shownAnswer(answer: string): ShownAnswer {
  const text = withoutTags(answer);
  if (!text.includes("MEDIA:")) return { text, files: [] };
  const files: string[] = [];
  let fence: string | undefined;
  const words = text.split("\n").filter((line) => {
    const marker = FENCE.exec(line)?.[1];
    if (marker !== undefined && (fence === undefined || marker.startsWith(fence))) fence = fence === undefined ? marker : undefined;
    if (fence !== undefined || marker !== undefined) return true;
    const file = files.length < MOST ? MEDIA_LINE.exec(line)?.[1] : undefined;
    if (file !== undefined) files.push(file);
    return file === undefined;
  });
  return files.length === 0 ? { text, files } : { text: words.join("\n").trim(), files };
}

export const mediaLine = (file: string): string => `MEDIA:${file}`;
