/** A piece of code with what it is. */
export interface Piece {
  readonly kind: "plain" | "comment" | "string" | "number" | "keyword" | "added" | "removed" | "mark-line";
  readonly text: string;
}

/** What goes on over the end of a line: the text that closes it. Empty: nothing. */
export type Carry = "" | { readonly kind: "comment" | "string"; readonly close: string };

interface Family {
  readonly line: readonly string[];
  readonly block: readonly (readonly [open: string, close: string])[];
  /** Strings that end with their line. */
  readonly quotes: readonly string[];
  /** Strings that may go on over lines. */
  readonly long: readonly (readonly [open: string, close: string])[];
  readonly keywords: ReadonlySet<string>;
  /** Keywords in any case. */
  readonly anyCase?: boolean;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const C_WORDS =
  "abstract as async await bool boolean break case catch char class const continue debugger declare default defer delete do double else enum export extends extern false final finally float fn for from func function go goto if impl implements import in inline instanceof int interface is let long loop match mod module mut namespace new nil null of operator override package private protected pub public readonly return self short signed sizeof static struct super switch template this throw trait true try type typedef typeof undefined union unsafe unsigned use using val var virtual void volatile when where while with yield";
const C: Family = { line: ["//"], block: [["/*", "*/"]], quotes: ['"', "'"], long: [["`", "`"]], keywords: words(C_WORDS) };
const PYTHON: Family = {
  line: ["#"],
  block: [],
  quotes: ['"', "'"],
  long: [
    ['"""', '"""'],
    ["'''", "'''"],
  ],
  keywords: words(
    "and as assert async await begin break class continue def del do elif else elsif end ensure except False finally for from global if import in is lambda module next nil None nonlocal not or pass raise require rescue return self then True try unless until while with yield",
  ),
};
const SHELL: Family = {
  line: ["#"],
  block: [],
  quotes: [],
  long: [
    ['"', '"'],
    ["'", "'"],
  ],
  keywords: words(
    "alias case cd do done echo elif else esac eval exec exit export fi for function if in local read return set shift source sudo then trap unset until while",
  ),
};
const DATA: Family = { line: ["#", "//"], block: [["/*", "*/"]], quotes: ['"', "'"], long: [], keywords: words("true false null yes no on off") };
const SQL: Family = {
  line: ["--"],
  block: [["/*", "*/"]],
  quotes: ['"'],
  long: [["'", "'"]],
  keywords: words(
    "add all alter and as asc between by case create cross default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references right select set table then union unique update values view when where with",
  ),
  anyCase: true,
};
const MARKUP: Family = { line: [], block: [["<!--", "-->"]], quotes: ['"', "'"], long: [], keywords: words("") };
const CSS: Family = { line: [], block: [["/*", "*/"]], quotes: ['"', "'"], long: [], keywords: words("important and not only from to") };

const FAMILIES: readonly (readonly [names: string, family: Family])[] = [
  ["js jsx mjs cjs javascript ts tsx typescript java c h cpp c++ cc hpp cs csharp go golang rust rs swift kotlin kt scala php dart zig proto groovy", C],
  ["py python python3 rb ruby elixir nim", PYTHON],
  ["sh bash zsh shell console fish dockerfile docker makefile make powershell ps1", SHELL],
  ["json json5 jsonc yaml yml toml ini conf properties env", DATA],
  ["sql mysql postgres postgresql sqlite plsql", SQL],
  ["html xml svg vue svelte markup", MARKUP],
  ["css scss less", CSS],
];

function familyOf(language: string): Family | undefined {
  const name = language.toLowerCase();
  return FAMILIES.find(([names]) => names.split(" ").includes(name))?.[1];
}

const WORD = /[\p{L}_$][\p{L}\p{N}_$]*/uy;
const NUMBER = /(?:0[xob][\da-f_]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)n?/iy;

const startsAt = (line: string, at: number, marks: readonly string[]): string | undefined => marks.find((mark) => line.startsWith(mark, at));

/** Where a string or comment ends, behind its close. Undefined: not in this line. */
function endOf(line: string, from: number, close: string, escapes: boolean): number | undefined {
  for (let at = from; at < line.length; at += 1) {
    if (escapes && line[at] === "\\") at += 1;
    else if (line.startsWith(close, at)) return at + close.length;
  }
  return undefined;
}

function matchAt(pattern: RegExp, line: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(line)?.[0];
}

interface Found {
  readonly kind: Piece["kind"];
  readonly end: number;
  readonly carry?: Carry;
}

/** What begins at a place of a line. */
function findAt(line: string, at: number, family: Family): Found | undefined {
  const before = line[at - 1] ?? " ";
  const remark = startsAt(line, at, family.line);
  if (remark !== undefined && (remark !== "#" || /\s/.test(before)) && before !== ":") return { kind: "comment", end: line.length };
  for (const [kind, pairs] of [
    ["comment", family.block],
    ["string", family.long],
  ] as const) {
    const pair = pairs.find(([open]) => line.startsWith(open, at));
    if (!pair) continue;
    const end = endOf(line, at + pair[0].length, pair[1], kind === "string");
    return end === undefined ? { kind, end: line.length, carry: { kind, close: pair[1] } } : { kind, end };
  }
  const quote = startsAt(line, at, family.quotes);
  if (quote !== undefined && !(quote === "'" && /[\p{L}\p{N}]/u.test(before))) {
    const end = endOf(line, at + 1, quote, true);
    if (end !== undefined) return { kind: "string", end };
  }
  const word = matchAt(WORD, line, at);
  if (word !== undefined) return { kind: family.keywords.has(family.anyCase ? word.toLowerCase() : word) ? "keyword" : "plain", end: at + word.length };
  const figure = matchAt(NUMBER, line, at);
  return figure === undefined ? undefined : { kind: "number", end: at + figure.length };
}

function diffLine(line: string): readonly Piece[] {
  if (line.startsWith("+++") || line.startsWith("---") || line.startsWith("@@")) return [{ kind: "mark-line", text: line }];
  return [{ kind: line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "plain", text: line }];
}

/** Lines longer than this are not looked into. */
const LONGEST = 2000;

/** Colours one line of code: its pieces, and what goes on in the next line. */
export function coloured(line: string, language: string, carry: Carry = ""): { readonly pieces: readonly Piece[]; readonly carry: Carry } {
  if (language === "diff" || language === "patch") return { pieces: diffLine(line), carry: "" };
  const family = familyOf(language);
  if (!family || line.length > LONGEST) return { pieces: [{ kind: "plain", text: line }], carry: "" };
  const pieces: Piece[] = [];
  let at = 0;
  if (carry !== "") {
    const end = endOf(line, 0, carry.close, carry.kind === "string");
    if (end === undefined) return { pieces: [{ kind: carry.kind, text: line }], carry };
    pieces.push({ kind: carry.kind, text: line.slice(0, end) });
    at = end;
  }
  let plain = at;
  const flush = (end: number): void => {
    if (end > plain) pieces.push({ kind: "plain", text: line.slice(plain, end) });
  };
  while (at < line.length) {
    const found = findAt(line, at, family);
    if (!found || found.kind === "plain") {
      at = found?.end ?? at + 1;
      continue;
    }
    flush(at);
    pieces.push({ kind: found.kind, text: line.slice(at, found.end) });
    at = plain = found.end;
    if (found.carry !== undefined) return { pieces, carry: found.carry };
  }
  flush(line.length);
  return { pieces, carry: "" };
}
