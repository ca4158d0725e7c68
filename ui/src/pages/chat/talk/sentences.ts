/** An answer that is still being written, cut into sentences that can be spoken. */
export interface Sentences {
  /** The text of one message, as far as it is there. Gives what is complete now. */
  push(text: string): readonly string[];
  /** The message is complete: what is left. */
  end(): readonly string[];
}

const END = /[.!?…]["'”’)\]]*(?=\s)|[。！？]|\n/g;
/** Shorter ones wait for the next: "1." and "Dr." are no sentences. */
const LEAST = 12;
/** Longer ones are cut at a comma, or a word. */
const MOST = 300;

const words = (text: string): number => text.replaceAll(/[^\p{L}\p{N}]/gu, "").length;

/** Where the next sentence ends; undefined: not yet. */
function cut(rest: string): number | undefined {
  for (const match of rest.matchAll(END)) {
    const at = match.index + match[0].length;
    if (words(rest.slice(0, at)) >= LEAST) return at;
  }
  if (rest.length <= MOST) return undefined;
  const comma = Math.max(rest.lastIndexOf(", ", MOST), rest.lastIndexOf("; ", MOST));
  return comma > 0 ? comma + 1 : Math.max(rest.lastIndexOf(" ", MOST), 0) || MOST;
}

/** Code is passed over as a whole: nothing in it is spoken. */
function withoutCode(text: string): { readonly text: string; readonly open: boolean } {
  const parts = text.split(/^ {0,3}(?:```|~~~)[^\n]*$/m);
  return { text: parts.filter((_, at) => at % 2 === 0).join("\n"), open: parts.length % 2 === 0 };
}

export function createSentences(): Sentences {
  let given = 0;
  let known = "";
  let plain = "";

  function take(): string[] {
    const found: string[] = [];
    for (;;) {
      const rest = plain.slice(given);
      const at = cut(rest);
      if (at === undefined) return found;
      given += at;
      const sentence = rest.slice(0, at).trim();
      if (sentence !== "") found.push(sentence);
    }
  }

  function end(): readonly string[] {
    const found = take();
    const rest = plain.slice(given).trim();
    given = plain.length;
    return words(rest) > 0 ? [...found, rest] : found;
  }

  return {
    push(text) {
      // A text that does not go on is the next message of the run.
      const before = text.startsWith(known) ? [] : end();
      if (!text.startsWith(known)) given = 0;
      known = text;
      // A line that may still open code is not looked at.
      plain = withoutCode(text).text.replace(/\n {0,3}[`~]{1,3}[^\n]*$/, "\n");
      return [...before, ...take()];
    },
    end,
  };
}
