/** `||hidden||`, an extension of Markdown. */
import type { MarkdownIt, Token } from "markdown-it";

const MARK = /(?<!\|)\|\|(?!\|)/g;

interface Mark {
  readonly token: number;
  readonly at: number;
}

/** Matching pairs of marks. A pair is in the same style or link; `a || b` and `a||b` are not marks. */
function pairs(tokens: readonly Token[]): { opening: Mark; closing: Mark }[] {
  const found: { opening: Mark; closing: Mark }[] = [];
  const scopes: (Mark | undefined)[] = [undefined];
  const beside = (index: number): string => {
    const token = tokens[index];
    return !token || token.type === "softbreak" || token.type === "hardbreak" ? " " : token.content || "*";
  };
  for (const [index, token] of tokens.entries()) {
    if (token.nesting === 1) scopes.push(undefined);
    if (token.nesting === -1) scopes.pop();
    if (token.type !== "text") continue;
    for (const { index: at } of token.content.matchAll(MARK)) {
      const before = token.content[at - 1] ?? beside(index - 1).at(-1)!;
      const after = token.content[at + 2] ?? beside(index + 1)[0]!;
      const opening = scopes.at(-1);
      if (opening && /\S/.test(before)) {
        found.push({ opening, closing: { token: index, at } });
        scopes[scopes.length - 1] = undefined;
      } else if (!opening && /\S/.test(after) && !/[\w)\]]/.test(before)) scopes[scopes.length - 1] = { token: index, at };
    }
  }
  return found;
}

function marked(tokens: readonly Token[], create: (type: string, nesting: -1 | 0 | 1, level: number, content: string) => Token): Token[] {
  const marks = new Map<number, { at: number; nesting: -1 | 1 }[]>();
  const add = ({ token, at }: Mark, nesting: -1 | 1): void => {
    const known = marks.get(token);
    if (known) known.push({ at, nesting });
    else marks.set(token, [{ at, nesting }]);
  };
  for (const { opening, closing } of pairs(tokens)) {
    add(opening, 1);
    add(closing, -1);
  }
  return tokens.flatMap((token, index) => {
    const cuts = marks.get(index);
    if (!cuts) return [token];
    let from = 0;
    const parts: Token[] = [];
    for (const { at, nesting } of cuts.sort((a, b) => a.at - b.at)) {
      parts.push(
        create("text", 0, token.level, token.content.slice(from, at)),
        create(nesting === 1 ? "spoiler_open" : "spoiler_close", nesting, token.level, ""),
      );
      from = at + 2;
    }
    return [...parts, create("text", 0, token.level, token.content.slice(from))].filter((part) => part.type !== "text" || part.content !== "");
  });
}

/** Adds spoilers to the parser. They are found before URLs, so that no URL includes the bars. */
export function addSpoilers(md: MarkdownIt): void {
  md.core.ruler.before("linkify", "spoiler", (state) => {
    for (const token of state.tokens) {
      if (token.type !== "inline" || !token.children || !token.content.includes("||")) continue;
      token.children = marked(token.children, (type, nesting, level, content) => {
        const made = new state.Token(type, "", nesting);
        return Object.assign(made, { level, content });
      });
    }
  });
}
