/** One piece of source text that is neither blank nor comment. */
export interface Token {
  readonly kind: "word" | "mark" | "text" | "template" | "pattern";
  readonly start: number;
  readonly end: number;
  readonly value: string;
}

const NO_TOKEN: Token = { kind: "mark", start: 0, end: 0, value: "\n" };

/** The token at an index; one that is like no other where there is none. */
export const tokenAt = (tokens: readonly Token[], index: number): Token => tokens[index] ?? NO_TOKEN;

const SPACE = /\s+|\/\/[^\n\r]*|\/\*[\s\S]*?(?:\*\/|$)/y;
const WORD = /#?[\p{ID_Start}$_\d][\p{ID_Continue}$\u200c\u200d]*/uy;
const TEXT = /"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?/y;
const PATTERN = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[\w$]*/y;
/** Words after which a slash begins a pattern: an expression is to come. */
const BEFORE_EXPRESSION = new Set("return typeof case in of delete void throw new instanceof do else await yield".split(" "));
const BEFORE_CONDITION = new Set(["if", "while", "for", "with"]);

/**
 * Tokens of JavaScript or TypeScript, good enough to find words in code and brackets that belong together. Whether a slash divides or
 * begins a pattern is guessed from what stands before it. What stands inside of a template's `${}` comes as tokens too.
 */
export function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  /** For every open bracket, whether it is a condition's, or a template to go on with. */
  const open: ("condition" | "template" | "plain")[] = [];
  let at = 0;
  let closedCondition = false;

  const match = (expression: RegExp): number => {
    expression.lastIndex = at;
    return expression.test(source) ? expression.lastIndex : -1;
  };
  const push = (kind: Token["kind"], end: number): void => {
    tokens.push({ kind, start: at, end, value: source.slice(at, end) });
    at = end;
  };
  /** From a backtick or the brace that ends a `${}` to the next `${` or the closing backtick. */
  const template = (): void => {
    let end = at + 1;
    while (end < source.length && source[end] !== "`" && !(source[end] === "$" && source[end + 1] === "{")) end += source[end] === "\\" ? 2 : 1;
    if (source[end] === "$") {
      open.push("template");
      push("template", end + 2);
    } else push("template", Math.min(end + 1, source.length));
  };
  const patternMayStand = (): boolean => {
    const last = tokens.at(-1);
    if (!last) return true;
    if (last.kind === "word") return BEFORE_EXPRESSION.has(last.value);
    if (last.kind === "mark") return last.value === ")" ? closedCondition : last.value !== "]";
    return last.kind === "template" && last.value.endsWith("${");
  };

  while (at < source.length) {
    const blank = match(SPACE);
    if (blank >= 0) {
      at = blank;
      continue;
    }
    const char = source.charAt(at);
    const word = match(WORD);
    if (word >= 0) push("word", word);
    else if (char === '"' || char === "'") push("text", match(TEXT));
    else if (char === "`") template();
    else if (char === "/" && patternMayStand() && match(PATTERN) >= 0) push("pattern", match(PATTERN));
    else if (char === "}" && open.at(-1) === "template") {
      open.pop();
      template();
    } else {
      if (char === "(") open.push(BEFORE_CONDITION.has(tokens.at(-1)?.value ?? "") ? "condition" : "plain");
      else if (char === "{" || char === "[") open.push("plain");
      else if (char === ")" || char === "}" || char === "]") closedCondition = open.pop() === "condition";
      push("mark", at + 1);
    }
  }
  return tokens;
}

/** Index of the bracket that closes the one at `index`, or the number of tokens. A template's `${` and its end count as brackets. */
export function closing(tokens: readonly Token[], index: number): number {
  let depth = 0;
  for (let i = index; i < tokens.length; i += 1) {
    const { kind, value } = tokenAt(tokens, i);
    if (kind === "template") {
      if (value.startsWith("}")) depth -= 1;
      if (value.endsWith("${")) depth += 1;
    } else if (kind === "mark") {
      if (value === "(" || value === "{" || value === "[") depth += 1;
      else if (value === ")" || value === "}" || value === "]") depth -= 1;
    }
    if (depth === 0) return i;
  }
  return tokens.length;
}
