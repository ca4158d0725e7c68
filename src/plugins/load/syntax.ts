import { closing, tokenAt, tokensOf, type Token } from "./tokens.ts";

/** Text to put in the place of `[start, end)`. */
export interface Change {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Applies changes that do not overlap. Line breaks inside of what is taken away stay, so that lines keep their numbers. */
export function withChanges(source: string, changes: readonly Change[]): string {
  let result = "";
  let at = 0;
  for (const { start, end, text } of [...changes].sort((a, b) => a.start - b.start)) {
    result += source.slice(at, start) + text + source.slice(start, end).replace(/[^\n\r]+/g, "");
    at = end;
  }
  return result + source.slice(at);
}

/**
 * Turns the TypeScript that has a meaning at run time (parameter properties, enums, namespaces, `import x = require()`, `export =`) into
 * plain JavaScript and leaves types to the stripper. No line moves.
 */
export function withoutRuntimeTypeScript(source: string): string {
  const tokens = tokensOf(source);
  const changes: Change[] = [];
  for (const [i, token] of tokens.entries()) {
    if (token.kind !== "word" || tokens[i - 1]?.value === ".") continue;
    if (token.value === "constructor" && tokens[i + 1]?.value === "(") parameterProperties(tokens, i + 1, changes);
    else if (token.value === "enum" && tokens[i + 1]?.kind === "word" && tokens[i + 2]?.value === "{") enumeration(tokens, i, source, changes);
    else if (token.value === "namespace" && tokens[i + 1]?.kind === "word" && tokens[i + 2]?.value === "{") namespace(tokens, i, changes);
    else if (token.value === "import" && tokens[i + 2]?.value === "=") importEquals(tokens, i, changes);
    else if (token.value === "export" && tokens[i + 1]?.value === "=") changes.push({ start: token.start, end: token.end, text: "module.exports" });
  }
  return withChanges(source, changes);
}

const MODIFIERS = new Set(["private", "public", "protected", "readonly", "override"]);

function parameterProperties(tokens: readonly Token[], open: number, changes: Change[]): void {
  const close = closing(tokens, open);
  const names: string[] = [];
  let depth = 0;
  for (let i = open; i < close; i += 1) {
    const { value, kind } = tokenAt(tokens, i);
    if (kind === "mark" && "({[".includes(value)) depth += 1;
    else if (kind === "mark" && ")}]".includes(value)) depth -= 1;
    if (depth !== 1 || !(value === "(" || value === "," || (value === ")" && tokens[i + 1]?.value !== ","))) continue;
    let next = i + 1;
    while (MODIFIERS.has(tokens[next]?.value ?? "") && tokens[next + 1]?.kind === "word") next += 1;
    if (next === i + 1 || !":?=,)".includes(tokens[next + 1]?.value ?? "\n")) continue;
    const parameter = tokenAt(tokens, next);
    names.push(parameter.value);
    changes.push({ start: tokenAt(tokens, i + 1).start, end: parameter.start, text: "" });
  }
  const body = tokenAt(tokens, close + 1);
  if (names.length === 0 || body.value !== "{") return;
  const end = closing(tokens, close + 1);
  let position = body.end;
  for (let i = close + 2; i < end; i += 1) {
    if (tokens[i]?.value !== "super" || tokens[i + 1]?.value !== "(") continue;
    position = tokens[closing(tokens, i + 1)]?.end ?? position;
    break;
  }
  changes.push({ start: position, end: position, text: `;${names.map((name) => `this.${name}=${name};`).join("")}` });
}

/** Members become constants of a function, so that later initialisers may name them as TypeScript allows. */
function enumeration(tokens: readonly Token[], at: number, source: string, changes: Change[]): void {
  const isConst = tokens[at - 1]?.value === "const";
  const before = tokens[isConst ? at - 2 : at - 1]?.value;
  if (before === "declare") return;
  const name = tokenAt(tokens, at + 1).value;
  const open = at + 2;
  const close = closing(tokens, open);
  if (close >= tokens.length) return;
  const { start } = tokenAt(tokens, isConst ? at - 1 : at);
  changes.push({
    start,
    end: tokenAt(tokens, open).end,
    text: `var ${name}=(($e)=>{const $p=(k,v)=>{$e[k]=v;if(typeof v==="number")$e[v]=k;return v;};let $n=-1;`,
  });
  let i = open + 1;
  while (i < close) {
    const member = tokenAt(tokens, i);
    let end = i + 1;
    for (let token = tokenAt(tokens, end); end < close && token.value !== ","; token = tokenAt(tokens, end))
      end = "({[".includes(token.value) || isOpenTemplate(token) ? closing(tokens, end) + 1 : end + 1;
    const hasValue = tokens[i + 1]?.value === "=" && end > i + 2;
    const key = member.kind === "text" ? member.value : JSON.stringify(member.value);
    const bind = member.kind === "word" && !RESERVED.test(member.value) ? `const ${member.value}=` : "";
    const value = hasValue ? "" : "$n+1";
    changes.push({ start: member.start, end: hasValue ? tokenAt(tokens, i + 1).end : member.end, text: `${bind}$n=$p(${key},${value}` });
    const last = tokenAt(tokens, end - 1);
    const comma = end < close ? tokens[end] : undefined;
    changes.push({ start: comma ? comma.start : last.end, end: comma ? comma.end : last.end, text: ");" });
    i = end + 1;
  }
  const merged = new RegExp(`\\b(?:enum|namespace)\\s+${name.replaceAll("$", "\\$")}\\b`).test(source.slice(0, start));
  const brace = tokenAt(tokens, close);
  changes.push({ start: brace.start, end: brace.end, text: `return $e;})(${merged ? `${name}||{}` : "{}"});` });
}

const isOpenTemplate = (token: Token): boolean => token.kind === "template" && token.value.endsWith("${");
const RESERVED =
  /^(?:\d.*|break|case|catch|class|const|continue|debugger|default|delete|do|else|enum|export|extends|false|finally|for|function|if|import|in|instanceof|let|new|null|return|static|super|switch|this|throw|true|try|typeof|var|void|while|with|yield|await|async|undefined|NaN|Infinity|eval|arguments|implements|interface|package|private|protected|public)$/;

const DECLARED = new Set(["const", "let", "var", "function", "class", "enum", "namespace", "async", "abstract"]);

/** A namespace is a function's inside; what it exports are getters, so that later changes show. */
function namespace(tokens: readonly Token[], at: number, changes: Change[]): void {
  if (tokens[at - 1]?.value === "declare") return;
  const name = tokenAt(tokens, at + 1).value;
  const open = at + 2;
  const close = closing(tokens, open);
  if (close >= tokens.length) return;
  const names: string[] = [];
  for (let i = open + 1; i < close; i += 1) {
    const token = tokenAt(tokens, i);
    const { value, start, end } = token;
    if ("({[".includes(value) || isOpenTemplate(token)) i = closing(tokens, i);
    else if (value === "export") {
      changes.push({ start, end, text: "" });
      let next = i + 1;
      if (!DECLARED.has(tokens[next]?.value ?? "")) continue;
      while (DECLARED.has(tokens[next]?.value ?? "") || tokens[next]?.value === "*") next += 1;
      const declared = tokenAt(tokens, next);
      if (declared.kind === "word") names.push(declared.value);
    }
  }
  const getters = names.map((key) => `get ${key}(){return ${key};}`).join(",");
  const brace = tokenAt(tokens, close);
  changes.push({ start: tokenAt(tokens, at).start, end: tokenAt(tokens, open).end, text: `var ${name}=(()=>{const $x={${getters}};` });
  changes.push({ start: brace.start, end: brace.end, text: "return $x;})();" });
}

/** `import x = require("y")` and `import x = A.B`; with `type` it is left to the stripper. */
function importEquals(tokens: readonly Token[], at: number, changes: Change[]): void {
  if (tokens[at + 1]?.value === "type") return;
  const { start, end } = tokenAt(tokens, at);
  changes.push({ start, end, text: "const " });
}
