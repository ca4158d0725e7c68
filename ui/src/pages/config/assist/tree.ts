/** What stands where in a JSON5 text that need not be one: every text has a tree, in one pass over it. */
export type TreeNode = TreeScalar | TreeContainer;

export type Quote = '"' | "'" | "";

export interface TreeScalar {
  readonly kind: "scalar";
  readonly start: number;
  readonly end: number;
  /** Without its quotes. */
  readonly text: string;
  readonly quote: Quote;
}

export interface TreeContainer {
  readonly kind: "object" | "array";
  readonly start: number;
  /** Behind its bracket; where it was left when that is missing. */
  end: number;
  closed: boolean;
  readonly members: TreeMember[];
}

/** A member of an object or an item of an array, as far as it is there. */
export interface TreeMember {
  readonly key: TreeScalar | undefined;
  colon: number | undefined;
  value: TreeNode | undefined;
  comma: number | undefined;
}

export interface TextTree {
  readonly root: TreeNode | undefined;
  readonly comments: readonly { readonly start: number; readonly end: number; readonly line: boolean }[];
}

interface Token {
  readonly start: number;
  readonly end: number;
  /** A bracket, comma or colon; otherwise a quoted text or a word. */
  readonly sign: string;
  readonly quote: Quote;
  /** Columns before it; undefined when something else stands before it on its line. */
  readonly indent: number | undefined;
  readonly line: number;
}

/** The gateway refuses what is nested deeper than 200 levels; deeper brackets are counted, and what is in them is taken for one level. */
const MOST_LEVELS = 250;
const SIGNS = "{}[],:";
const END_OF_WORD = /[\s{}[\],:"']|\/[/*]/g;

/** Goes through a text token by token. */
function createScanner(text: string, comments: { start: number; end: number; line: boolean }[]) {
  let at = 0;
  let line = 0;
  let lineStart = 0;
  let isFirst = true;

  function newLine(): void {
    line += 1;
    lineStart = at + 1;
    isFirst = true;
  }

  function skipComment(): boolean {
    const isLine = text[at + 1] === "/";
    if (!isLine && text[at + 1] !== "*") return false;
    const start = at;
    const found = isLine ? text.indexOf("\n", at) : text.indexOf("*/", at + 2);
    const end = found < 0 ? text.length : isLine ? found : found + 2;
    for (; at < end; at += 1) if (text[at] === "\n") newLine();
    comments.push({ start, end, line: isLine });
    return true;
  }

  function skipBlank(): void {
    for (; at < text.length; at += 1) {
      const char = text[at]!;
      if (char === "\n") newLine();
      else if (char === "/") {
        if (!skipComment()) return;
        at -= 1;
      } else if (char > " " && char !== "\u00A0" && char !== "\uFEFF") return;
    }
  }

  /** End of a quoted text: behind its quote, or at the end of its line. */
  function stringEnd(quote: string): number {
    for (let end = at + 1; end < text.length; end += 1) {
      if (text[end] === "\\") end += 1;
      else if (text[end] === quote) return end + 1;
      else if (text[end] === "\n") return end;
    }
    return text.length;
  }

  function wordEnd(): number {
    END_OF_WORD.lastIndex = at + 1;
    return END_OF_WORD.exec(text)?.index ?? text.length;
  }

  return (): Token | undefined => {
    skipBlank();
    const char = text[at];
    if (char === undefined) return undefined;
    const start = at;
    const indent = isFirst ? start - lineStart : undefined;
    const sign = SIGNS.includes(char) ? char : "";
    const quote = char === '"' || char === "'" ? char : "";
    const end = sign === "" ? (quote === "" ? wordEnd() : stringEnd(quote)) : start + 1;
    const token = { start, end, sign, quote, indent, line } as const;
    for (; at < end; at += 1) if (text[at] === "\n") newLine();
    isFirst = false;
    return token;
  };
}

interface Open {
  readonly container: TreeContainer;
  /** Columns before the line that it was opened on. */
  readonly indent: number;
  readonly line: number;
  member: TreeMember | undefined;
}

function scalarOf(text: string, { start, end, quote }: Token): TreeScalar {
  const isClosed = quote !== "" && end - start > 1 && text[end - 1] === quote;
  const inner = quote === "" ? text.slice(start, end) : text.slice(start + 1, isClosed ? end - 1 : end);
  return { kind: "scalar", start, end, quote, text: inner.includes("\\") ? unescaped(inner) : inner };
}

/** The escapes that keys and ids have; others stay as they are. */
const unescaped = (text: string): string => text.replaceAll(/\\(["'\\/])/g, "$1");

/** Builds a tree. `byIndent`: brackets do not match, so the columns that lines begin at decide where an object ends. */
class Builder {
  root: TreeNode | undefined;
  balanced = true;
  private readonly open: Open[] = [];
  private lineIndent = 0;
  /** Brackets that are open beyond the deepest level. */
  private deeper = 0;
  private readonly text: string;
  private readonly byIndent: boolean;

  constructor(text: string, byIndent: boolean) {
    this.text = text;
    this.byIndent = byIndent;
  }

  take(token: Token, next: Token | undefined): void {
    if (token.indent !== undefined) this.lineIndent = token.indent;
    if (token.sign === "{" || token.sign === "[") this.begin(token);
    else if (token.sign === "}" || token.sign === "]") this.close(token);
    else if (token.sign === ",") this.comma(token);
    else if (token.sign === ":") this.colon(token);
    else this.word(token, next);
  }

  finish(): void {
    for (; this.open.length > 0; this.balanced = false) this.leave(this.text.length, false);
  }

  private get top(): Open | undefined {
    return this.open.at(-1);
  }

  private attach(node: TreeNode): void {
    const { top } = this;
    if (!top) {
      if (this.root) this.balanced = false;
      else this.root = node;
      return;
    }
    if (top.container.kind === "object" && top.member?.colon !== undefined && !top.member.value) top.member.value = node;
    else this.add({ key: undefined, colon: undefined, value: node, comma: undefined });
  }

  private add(member: TreeMember): void {
    const { top } = this;
    if (!top) return;
    top.container.members.push(member);
    top.member = member;
  }

  private begin({ start, sign, line }: Token): void {
    if (this.open.length >= MOST_LEVELS) {
      this.deeper += 1;
      return;
    }
    const container: TreeContainer = { kind: sign === "{" ? "object" : "array", start, end: this.text.length, closed: false, members: [] };
    this.attach(container);
    this.open.push({ container, indent: this.lineIndent, line, member: undefined });
  }

  private leave(end: number, closed: boolean): void {
    const left = this.open.pop();
    if (!left) return;
    left.container.end = end;
    left.container.closed = closed;
  }

  private close({ start, sign, indent, line }: Token): void {
    if (this.deeper > 0) {
      this.deeper -= 1;
      return;
    }
    const kind = sign === "}" ? "object" : "array";
    const at = this.open.findLastIndex(({ container }) => container.kind === kind);
    const opened = this.open[at];
    // One bracket too many: it stands deeper than what it would close.
    const isStray = this.byIndent && opened !== undefined && indent !== undefined && line > opened.line && indent > opened.indent;
    if (!opened || isStray) {
      this.balanced = false;
      return;
    }
    for (; this.open.length > at + 1; this.balanced = false) this.leave(start, false);
    this.leave(start + 1, true);
  }

  private comma({ start }: Token): void {
    const { top } = this;
    if (!top) return;
    if (top.member) top.member.comma ??= start;
    top.member = undefined;
  }

  private colon({ start }: Token): void {
    const member = this.top?.member;
    if (member?.key && !member.value) member.colon ??= start;
  }

  private word(token: Token, next: Token | undefined): void {
    const isKey = next?.sign === ":";
    if (this.byIndent && isKey && token.indent !== undefined) this.outdent(token, token.indent);
    const { top } = this;
    const scalar = scalarOf(this.text, token);
    const waits = top?.member?.colon !== undefined && !top.member.value;
    // No value is followed by a colon: this is the next key, and the value before it is missing.
    if (top?.container.kind === "object" && (!waits || isKey)) this.add({ key: scalar, colon: undefined, value: undefined, comma: undefined });
    else this.attach(scalar);
  }

  /** A key that stands no deeper than the line which opened an object does not belong to it: its bracket is missing. */
  private outdent({ start, line }: Token, indent: number): void {
    while (this.open.length > 1 && this.top && line > this.top.line && indent <= this.top.indent) {
      this.leave(start, false);
      this.balanced = false;
    }
  }
}

function build(text: string, byIndent: boolean): TextTree & { readonly balanced: boolean } {
  const comments: { start: number; end: number; line: boolean }[] = [];
  const next = createScanner(text, comments);
  const builder = new Builder(text, byIndent);
  let token = next();
  while (token) {
    const following = next();
    builder.take(token, following);
    token = following;
  }
  builder.finish();
  return { root: builder.root, comments, balanced: builder.balanced };
}

/** The tree of a text: by its brackets where they match, else by its lines as well. */
export function readTree(text: string): TextTree {
  const tree = build(text, false);
  return tree.balanced ? tree : build(text, true);
}
