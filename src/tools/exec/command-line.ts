/** What stands between a segment and the one before it; the first has none. */
export type Joint = "&&" | "||" | ";" | "|";

/** One program with its arguments, as the shell would start it. */
export interface CommandSegment {
  readonly joint: Joint | null;
  /** Never empty. */
  /** The program's name and its arguments. */
  readonly argv: readonly [string, ...string[]];
  /** Text of a here-document, given as input. */
  readonly input?: string;
}

interface Word {
  readonly value: string;
  readonly quoted: boolean;
}

interface Heredoc {
  readonly segment: number;
  readonly delimiter: Word;
  readonly stripTabs: boolean;
}

/** Thrown inside the parser only: the line means something that is not known before it runs. */
class Opaque extends Error {}

const RESERVED = new Set(
  "! { } [[ ]] case coproc do done elif else esac end fi for foreach function if in namespace nocorrect noglob repeat select then time until while".split(" "),
);
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?=/;
/** Ends a word. */
const BOUNDARY = new Set([" ", "\t", "\n", ";", "&", "|", "<", ">", "(", ")"]);
/** Expands to something that is not known yet, wherever it stands outside of quotes. */
const ACTIVE = new Set(["$", "`", "*", "?", "["]);
const ESCAPED_IN_QUOTES = new Set(["$", "`", '"', "\\", "\n"]);

/**
 * Reads a POSIX command line whose whole meaning is in its text: words, quotes, `&&`, `||`, `;`, `|` and literal here-documents.
 * Undefined when there is anything else: expansion, redirection, grouping, background, assignment, keywords, comments, several lines.
 */
export function parseCommandLine(line: string): readonly CommandSegment[] | undefined {
  try {
    return new LineReader(line).segments();
  } catch (error) {
    if (error instanceof Opaque) return undefined;
    throw error;
  }
}

class LineReader {
  readonly #text: string;
  #at = 0;
  readonly #heredocs: Heredoc[] = [];
  readonly #inputs = new Map<number, string>();

  constructor(text: string) {
    if (text.includes("\0")) throw new Opaque();
    this.#text = text;
  }

  segments(): readonly CommandSegment[] {
    const found: { joint: Joint | null; argv: readonly [string, ...string[]] }[] = [];
    let joint: Joint | null = null;
    while (true) {
      const argv = this.#words(found.length);
      found.push({ joint, argv });
      const next = this.#joint();
      if (next === undefined) break;
      joint = next;
    }
    return found.map((segment, index) => {
      const input = this.#inputs.get(index);
      return input === undefined ? segment : { ...segment, input };
    });
  }

  /** The words up to the next operator or the end. */
  #words(segment: number): readonly [string, ...string[]] {
    const words: string[] = [];
    while (true) {
      this.#skip(" \t");
      const char = this.#text[this.#at];
      if (char === "<") this.#heredoc(segment);
      else if (char === undefined || BOUNDARY.has(char)) break;
      else {
        const word = this.#word();
        if (word === undefined) continue;
        if (words.length === 0 && (RESERVED.has(word.value) || ASSIGNMENT.test(word.value) || word.value === "")) throw new Opaque();
        // A number right before `<` chooses a descriptor.
        if (this.#text[this.#at] === "<") throw new Opaque();
        words.push(word.value);
      }
    }
    const [program, ...args] = words;
    if (program === undefined) throw new Opaque();
    return [program, ...args];
  }

  /** The operator that follows, or undefined at the end of the line. */
  #joint(): Joint | undefined {
    const char = this.#text[this.#at];
    const pair = this.#text.slice(this.#at, this.#at + 2);
    if (char === undefined || char === "\n") {
      this.#end();
      return undefined;
    }
    if (pair === "&&" || pair === "||") {
      this.#at += 2;
      return pair;
    }
    if ((char === ";" || char === "|") && pair !== "|&") {
      this.#at += 1;
      return char;
    }
    throw new Opaque();
  }

  /** Undefined when there were only continued lines. */
  #word(): Word | undefined {
    const from = this.#at;
    let value = "";
    let quoted = false;
    let any = false;
    for (let char = this.#text[this.#at]; char !== undefined && !BOUNDARY.has(char); char = this.#text[this.#at]) {
      this.#at += 1;
      if (char === "\\" && this.#text[this.#at] === "\n") {
        this.#at += 1;
        continue;
      }
      if (char === "'" || char === '"' || char === "\\") {
        value += char === "'" ? this.#single() : char === '"' ? this.#double() : this.#escaped();
        quoted = true;
      } else {
        this.#refuseActive(char, this.#at - 1 === from || !any, value);
        value += char;
      }
      any = true;
    }
    return any ? { value, quoted } : undefined;
  }

  #refuseActive(char: string, first: boolean, before: string): void {
    const next = this.#text[this.#at];
    if (ACTIVE.has(char)) throw new Opaque();
    if (first && (char === "#" || char === "~" || char === "=" || char === "%")) throw new Opaque();
    if (char === "~" && /[:=]$/.test(before)) throw new Opaque();
    if (char === "{" && next !== "}") throw new Opaque();
  }

  #single(): string {
    const end = this.#text.indexOf("'", this.#at);
    if (end < 0) throw new Opaque();
    const value = this.#text.slice(this.#at, end);
    this.#at = end + 1;
    return value;
  }

  #double(): string {
    let value = "";
    while (true) {
      const char = this.#text[this.#at++];
      if (char === undefined || char === "$" || char === "`") throw new Opaque();
      if (char === '"') return value;
      const next = this.#text[this.#at];
      if (char === "\\" && next !== undefined && ESCAPED_IN_QUOTES.has(next)) {
        this.#at += 1;
        if (next !== "\n") value += next;
      } else value += char;
    }
  }

  #escaped(): string {
    const char = this.#text[this.#at++];
    if (char === undefined) throw new Opaque();
    // Half of a pair would be left over.
    const low = /[\uD800-\uDBFF]/.test(char) ? (this.#text[this.#at++] ?? "") : "";
    return char + low;
  }

  #heredoc(segment: number): void {
    if (!this.#text.startsWith("<<", this.#at) || this.#text[this.#at + 2] === "<") throw new Opaque();
    this.#at += 2;
    const stripTabs = this.#text[this.#at] === "-";
    if (stripTabs) this.#at += 1;
    this.#skip(" \t");
    const delimiter = this.#word();
    if (delimiter === undefined || /[\n]/.test(delimiter.value) || this.#heredocs.some((one) => one.segment === segment)) throw new Opaque();
    this.#heredocs.push({ segment, delimiter, stripTabs });
  }

  /** Here-documents follow the line; nothing else may. */
  #end(): void {
    if (this.#heredocs.length > 0) this.#at += 1;
    for (const { segment, delimiter, stripTabs } of this.#heredocs) this.#inputs.set(segment, this.#body(delimiter, stripTabs));
    this.#skip(" \t\n");
    if (this.#at < this.#text.length) throw new Opaque();
  }

  #body(delimiter: Word, stripTabs: boolean): string {
    let body = "";
    while (this.#at < this.#text.length) {
      const end = this.#text.indexOf("\n", this.#at);
      const raw = this.#text.slice(this.#at, end < 0 ? undefined : end);
      this.#at = end < 0 ? this.#text.length : end + 1;
      const line = stripTabs ? raw.replace(/^\t+/, "") : raw;
      if (line === delimiter.value) return body;
      if (!delimiter.quoted && /[$`\\]/.test(line)) throw new Opaque();
      body += `${line}\n`;
    }
    throw new Opaque();
  }

  #skip(characters: string): void {
    while (this.#at < this.#text.length && characters.includes(this.#text.charAt(this.#at))) this.#at += 1;
  }
}
