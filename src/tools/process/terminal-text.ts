const ESC = "\x1b";
/** Sequences that begin with Escape: of a control function, of a string (title, link), of a character set, or of one character. */
const SEQUENCES =
  // eslint-disable-next-line no-control-regex -- these are what a terminal takes out of the text
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c|(?=\n))|\x1b(?:[ -/]+[0-~]|[0-OQ-WYZ\\`-~])/g;
/** The beginning of a string: it goes on until its end or that of the line, however long that takes. */
// eslint-disable-next-line no-control-regex -- as above
const STRING_START = /(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*$/;
const STRING_END = /\x07|\x1b\\|\x9c|(?=\n)/; // eslint-disable-line no-control-regex -- as above
/** A cursor-position query. */
const QUERY = /\x1b\[\??6n/g; // eslint-disable-line no-control-regex -- as above
/** What still may become a sequence is kept back up to this many characters. */
const MOST_HELD = 4096;

/** Makes readable text of what a program writes to a terminal: lines end with a line feed alone, and what moves the cursor or sets colours is gone. */
export class TerminalText {
  #held = "";
  #inString = false;
  readonly #onQuery: (() => void) | undefined;

  constructor(onQuery?: () => void) {
    this.#onQuery = onQuery;
  }

  /** The readable part; what may go on in the next piece waits for it. */
  write(piece: string): string {
    const text = this.#skipped(this.#held + piece);
    if (this.#inString) return "";
    const from = openAt(text);
    this.#held = text.slice(from);
    // Pictures and titles of any length: what they hold is not kept while their end is waited for.
    if (this.#held.length > MOST_HELD && STRING_START.test(this.#held)) {
      this.#inString = true;
      this.#held = "";
    }
    const whole = text.slice(0, from);
    for (const _ of whole.matchAll(QUERY)) this.#onQuery?.();
    return readable(whole);
  }

  end(): string {
    const rest = this.#held;
    this.#held = "";
    // A sequence that never ended is none of the text either.
    return this.#inString || rest.startsWith(ESC) ? "" : readable(rest);
  }

  /** Without the rest of a string whose end was waited for. */
  #skipped(text: string): string {
    if (!this.#inString) return text;
    const end = STRING_END.exec(text);
    if (end) {
      this.#inString = false;
      return text.slice(end.index + end[0].length);
    }
    // Half of an end may have come.
    this.#held = text.endsWith(ESC) ? ESC : "";
    return "";
  }
}

const readable = (text: string): string => text.replace(SEQUENCES, "").replace(/\r+\n/g, "\n");

/** Where an unfinished sequence or line end begins; the length when there is none. */
function openAt(text: string): number {
  const escape = text.lastIndexOf(ESC);
  // The end of a string is itself such a sequence: the one before it decides.
  const before = escape > 0 && text.slice(escape) === ESC ? text.lastIndexOf(ESC, escape - 1) : -1;
  for (const at of [before, escape]) {
    if (at === -1) continue;
    if (text.length - at > MOST_HELD && !STRING_START.test(text.slice(at))) continue;
    const rest = text.slice(at);
    if (rest.replace(SEQUENCES, "").startsWith(ESC)) return at;
  }
  return /\r+$/.exec(text)?.index ?? text.length;
}
