const ESC = "\x1b";
/** Sequences that begin with Escape: of a control function, of a string (title, link), of a character set, or of one character. */
const SEQUENCES =
  // eslint-disable-next-line no-control-regex -- these are what a terminal takes out of the text
  /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]+[0-~]|[0-OQ-WYZ\\`-~])/g;
/** A cursor-position query. */
const QUERY = /\x1b\[\??6n/g; // eslint-disable-line no-control-regex -- as above
/** What still may become a sequence is kept back up to this many characters. */
const MOST_HELD = 4096;

/** Makes readable text of what a program writes to a terminal: lines end with a line feed alone, and what moves the cursor or sets colours is gone. */
export class TerminalText {
  #held = "";
  readonly #onQuery: (() => void) | undefined;

  constructor(onQuery?: () => void) {
    this.#onQuery = onQuery;
  }

  /** The readable part; what may go on in the next piece waits for it. */
  write(piece: string): string {
    const text = this.#held + piece;
    const from = openAt(text);
    this.#held = text.slice(from);
    const whole = text.slice(0, from);
    for (const _ of whole.matchAll(QUERY)) this.#onQuery?.();
    return readable(whole);
  }

  end(): string {
    const rest = this.#held;
    this.#held = "";
    return readable(rest);
  }
}

const readable = (text: string): string => text.replace(SEQUENCES, "").replace(/\r+\n/g, "\n");

/** Where an unfinished sequence or line end begins; the length when there is none. */
function openAt(text: string): number {
  const escape = text.lastIndexOf(ESC);
  // The end of a string is itself such a sequence: the one before it decides.
  const before = escape > 0 && text.slice(escape) === ESC ? text.lastIndexOf(ESC, escape - 1) : -1;
  for (const at of [before, escape]) {
    if (at === -1 || text.length - at > MOST_HELD) continue;
    const rest = text.slice(at);
    if (rest.replace(SEQUENCES, "").startsWith(ESC)) return at;
  }
  return /\r+$/.test(text) ? text.length - /\r+$/.exec(text)![0].length : text.length;
}
