import type { Random } from "../../src/base/random.ts";

/** A command line with what it means: made from the meaning, so that no parser is needed to know it. */
export interface ExecLine {
  readonly text: string;
  /** Arguments of each call that happens when every call succeeds. */
  readonly calls: readonly ExecCall[];
}

export interface ExecCall {
  /** Without the program itself. */
  readonly argv: readonly string[];
  readonly input?: string;
}

const PIECES = [
  "a",
  "Z9",
  "-n",
  "--flag=x",
  ".",
  "/",
  "..",
  "*",
  "?",
  "[a]",
  "{x,y}",
  "{",
  "}",
  "~",
  "#",
  "!",
  "$",
  "$HOME",
  "$(id)",
  "${x}",
  "`id`",
  "'",
  '"',
  "\\",
  "\\n",
  ";",
  "&&",
  "||",
  "|",
  "&",
  "<",
  ">",
  "<<E",
  "(",
  ")",
  " ",
  "  ",
  "\t",
  "\n",
  "\r",
  "=",
  "A=b",
  "%",
  "^",
  "@",
  ",",
  ":",
  "+",
  "é",
  "漢",
  "😀",
  "\u00a0",
  "\u200b",
  "if",
  "done",
  "END",
  "END_0",
  "\u0001",
  "\u007f",
];
const PLAIN = /^[A-Za-z0-9_./,:+@-]$/;
const JOINTS = ["&&", "||", ";", "|"] as const;

/** A line of one to four calls of `program`; the first two arguments number the line and the call. */
export function execLine(random: Random, program: string, number: number): ExecLine {
  const below = (limit: number): number => Math.floor(random.float() * limit);
  const pick = <T>(items: readonly T[]): T => items[below(items.length)]!;
  const blank = (): string => pick([" ", " ", "  ", "\t", " \t "]);

  function word(): string {
    let value = "";
    for (let count = below(6); count > 0; count -= 1) value += pick(PIECES);
    return value;
  }

  /** One of the many ways to write a text so that it is one word. */
  function written(value: string): string {
    if (value === "") return pick(["''", '""', "''\"\""]);
    let text = "";
    for (let rest = Array.from(value); rest.length > 0;) {
      const part = rest.splice(0, 1 + below(rest.length));
      text += pick([single, double, escaped])(part);
      if (below(12) === 0) text += pick(["''", '""', "\\\n"]);
    }
    return text;
  }

  const calls: ExecCall[] = [];
  const bodies: string[] = [];
  let text = "";
  let happens = true;
  for (let index = 0, count = 1 + below(4); index < count; index += 1) {
    const joint = index === 0 ? undefined : pick(JOINTS);
    // A pipe belongs to the call before it; the other joints start over.
    if (joint !== undefined && joint !== "|") happens = joint !== "||";
    const heredoc = below(6) === 0;
    const words = Array.from({ length: below(5) }, word);
    const argv = [String(number), String(index), heredoc ? "input" : "none", ...words];
    const glue = (): string => pick(["", blank()]);
    text += `${joint === undefined ? glue() : `${glue()}${joint}${glue()}`}${[program, ...argv].map(written).join(blank())}`;
    let input: string | undefined;
    if (heredoc) {
      const lines = Array.from({ length: below(4) }, () => word().replaceAll("\n", " ").replaceAll("\r", ""));
      const delimiter = `D${index}x`;
      input = lines.map((line) => `${line}\n`).join("");
      text += ` <<${pick([`'${delimiter}'`, `"${delimiter}"`, `\\${delimiter}`, `D'${index}'x`])}`;
      bodies.push(`${input}${delimiter}\n`);
    }
    if (happens) calls.push({ argv, ...(input === undefined ? {} : { input }) });
  }
  return { text: bodies.length > 0 ? `${text}\n${bodies.join("")}` : text, calls };
}

function single(part: readonly string[]): string {
  return `'${part.map((char) => (char === "'" ? `'\\''` : char)).join("")}'`;
}

function double(part: readonly string[]): string {
  return `"${part.map((char) => ('"\\$`'.includes(char) ? `\\${char}` : char)).join("")}"`;
}

/** A line feed cannot be escaped: it would continue the line. */
function escaped(part: readonly string[]): string {
  return part.map((char) => (PLAIN.test(char) ? char : char === "\n" ? "'\n'" : `\\${char}`)).join("");
}
