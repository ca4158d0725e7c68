/** Texts as they are spoken: no markup, no code, no addresses. */

const FENCED = /^ {0,3}(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:\n {0,3}\1[^\n]*(?=\n|$)|$)/gm;
/** Tags of answers are no words. */
const TAG = /\[\[\/?(?:tts|audio_as_voice|reply_to)[^\]\n]{0,200}\]\]/gi;
const MOST = 100_000;

/** The words of a text in Markdown. */
export function speakable(markdown: string): string {
  return markdown
    .slice(0, MOST)
    .replaceAll(FENCED, "")
    .replaceAll(TAG, "")
    .replaceAll(/^[ \t]*MEDIA:[^\n]*$/gm, "")
    .replace(/^\s*NO_REPLY\s*$/, "")
    .replaceAll(/^ {0,3}\|?[ :|-]*-{2,}[ :|-]*$/gm, "")
    .replaceAll(/!\[([^\]\n]*)\]\([^)\n]*\)/g, "$1")
    .replaceAll(/\[([^\]\n]+)\]\([^)\n]*\)/g, "$1")
    .replaceAll(/<?\bhttps?:\/\/[^\s>)]*[^\s>).,;:!?]>?/g, "")
    .replaceAll(/`([^`\n]+)`/g, "$1")
    .replaceAll(/^ {0,3}#{1,6}[ \t]+/gm, "")
    .replaceAll(/^[ \t]{0,10}(?:[-*+]|>)[ \t]+/gm, "")
    .replaceAll(/(\*\*|__|~~)(?=\S)([^\n]*?\S)\1/g, "$2")
    .replaceAll(/(?<![\w*])\*(?=\S)([^*\n]*\S)\*(?![\w*])/g, "$1")
    .replaceAll(/(?<![\w_])_(?=\S)([^_\n]*\S)_(?![\w_])/g, "$1")
    .replaceAll(/[ \t]*\|[ \t]*/g, " ")
    .replaceAll(/\p{Extended_Pictographic}[\uFE0F\u200D\p{Extended_Pictographic}]*/gu, "")
    .replaceAll(/[ \t]+/g, " ")
    .replaceAll(/ ?\n ?/g, "\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

/** The beginning of a text with at most so many characters, cut behind a sentence or a word where there is one. */
export function cutSpeech(text: string, most: number): string {
  if (text.length <= most) return text;
  const part = text.slice(0, most);
  const sentence = Math.max(...[". ", "! ", "? ", ".\n", "。"].map((end) => part.lastIndexOf(end)));
  if (sentence > most / 2) return part.slice(0, sentence + 1);
  const word = part.lastIndexOf(" ");
  return (word > 0 ? part.slice(0, word) : part).toWellFormed();
}
