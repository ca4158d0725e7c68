/** Which programs the shell commands of a text start. Reads them as text; nothing runs. */

export interface StartedProgram {
  /** As it is written: a name, or a path. */
  readonly program: string;
  /** Of the text, from 1. */
  readonly line: number;
}

const FENCE = /^(\s*)(`{3,}|~{3,})\s*([\w-]*)\s*$/;
const SHELLS = /^(?:sh|bash|shell|zsh|console)$/i;
/** What may stand before a command without being one. */
const KEYWORDS: ReadonlySet<string> = new Set(["if", "then", "else", "elif", "fi", "do", "done", "while", "until", "!", "{", "}", "esac"]);
/** The rest of these commands names no program. */
const HEADS: ReadonlySet<string> = new Set(["for", "case", "function", "select"]);
/** Programs that start the one behind them. */
const WRAPPERS: ReadonlySet<string> = new Set(["sudo", "env", "xargs", "time", "nohup", "command", "exec", "nice", "timeout"]);

/** Programs of the shell blocks of a Markdown text. */
export function fencedPrograms(markdown: string): readonly StartedProgram[] {
  const found: StartedProgram[] = [];
  let open: { readonly mark: string; readonly isShell: boolean; readonly from: number; readonly lines: string[] } | undefined;
  for (const [index, line] of markdown.split(/\r?\n/).entries()) {
    const fence = FENCE.exec(line);
    if (!open && fence) open = { mark: fence[2] ?? "", isShell: SHELLS.test(fence[3] ?? ""), from: index + 2, lines: [] };
    else if (open && fence && fence[3] === "" && (fence[2] ?? "").startsWith(open.mark)) {
      if (open.isShell) found.push(...shellPrograms(open.lines.join("\n"), open.from));
      open = undefined;
    } else open?.lines.push(line);
  }
  return found;
}

/** Programs that a script of a shell starts, without the functions that it declares. `from`: the number of its first line. */
export function shellPrograms(script: string, from = 1): readonly StartedProgram[] {
  const functions = new Set([...script.matchAll(/^\s*(?:function\s+)?([A-Za-z_]\w*)\s*\(\)/gm)].map(([, name]) => name));
  return segmentsOf(withoutPatterns(withoutHeredocs(script))).flatMap(({ text, line }) =>
    programsOf(text).flatMap((program) => (functions.has(program) ? [] : [{ program, line: line + from - 1 }])),
  );
}

/** Empty lines take the place of what is only data. */
function withoutHeredocs(script: string): string {
  let end: string | undefined;
  return script
    .split("\n")
    .map((line) => {
      if (end !== undefined) {
        if (line.trim() === end) end = undefined;
        return "";
      }
      end = /<<-?\s*["']?([A-Za-z_]\w*)["']?/.exec(line)?.[1];
      return line.replace(/^\s*\$ /, "");
    })
    .join("\n");
}

/** The patterns of a `case` are no commands. */
function withoutPatterns(script: string): string {
  let depth = 0;
  const bare = (part: string): string => {
    const end = part.indexOf(")");
    return end < 0 ||
      part
        .slice(0, end)
        .replace(/^\s*\(/, "")
        .includes("(")
      ? part
      : part.slice(end + 1);
  };
  return script
    .split("\n")
    .map((line) => {
      const head = /^\s*case\b.*?\sin(?:\s+|$)/.exec(line);
      if (head) depth += 1;
      const isInside = depth > 0;
      if (/\besac\b/.test(line)) depth -= 1;
      if (!isInside) return line;
      return (head ? line.slice(head[0].length) : line).split(";;").map(bare).join("; ");
    })
    .join("\n");
}

interface Segment {
  readonly text: string;
  readonly line: number;
}

/** Splits at what ends one command and begins another, outside of quotes. A command in `$(…)` is one of its own. */
function segmentsOf(script: string): readonly Segment[] {
  const segments: Segment[] = [];
  let text = "";
  let line = 1;
  let quote = "";
  const flush = (): void => {
    if (text.trim() !== "") segments.push({ text: text.trim(), line });
    text = "";
  };
  for (let at = 0; at < script.length; at += 1) {
    const char = script.charAt(at);
    const isNewline = char === "\n";
    if (char === "\\" && quote !== "'") {
      if (script[at + 1] === "\n") line += 1;
      else text += char + script.charAt(at + 1);
      at += 1;
    } else if (script.startsWith("$((", at) && quote !== "'") {
      const end = script.indexOf("))", at);
      text += "$x";
      at = end < 0 ? script.length : end + 1;
    } else if (script.startsWith("$(", at) && quote !== "'") {
      const end = closing(script, at + 2);
      const inner = script.slice(at + 2, end);
      segments.push(...segmentsOf(inner).map((one) => ({ ...one, line: one.line + line - 1 })));
      line += inner.split("\n").length - 1;
      text += "$x";
      at = end;
    } else if (quote !== "") {
      if (char === quote) quote = "";
      text += char;
      if (isNewline) line += 1;
    } else if (char === '"' || char === "'") {
      quote = char;
      text += char;
    } else if (char === "#" && /(?:^|\s)$/.test(text)) {
      while (at + 1 < script.length && script[at + 1] !== "\n") at += 1;
    } else if (
      isNewline ||
      char === ";" ||
      char === "|" ||
      (char === "&" && script[at - 1] !== ">") ||
      ((char === "(" || char === ")") && !text.includes("="))
    ) {
      flush();
      if (isNewline) line += 1;
    } else text += char;
  }
  flush();
  return segments;
}

/** The place of the parenthesis that ends a `$(`. */
function closing(script: string, from: number): number {
  let depth = 1;
  let quote = "";
  for (let at = from; at < script.length; at += 1) {
    const char = script.charAt(at);
    if (quote !== "") quote = char === quote ? "" : quote;
    else if (char === "'" || char === '"') quote = char;
    else if (char === "(") depth += 1;
    else if (char === ")" && (depth -= 1) === 0) return at;
  }
  return script.length;
}

function programsOf(segment: string): readonly string[] {
  const words = segment.match(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'])+/g) ?? [];
  const found: string[] = [];
  for (const [index, word] of words.entries()) {
    if (/^[A-Za-z_]\w*\+?=/.test(word) || KEYWORDS.has(word) || /^\d*[<>]/.test(word)) continue;
    if (HEADS.has(word)) return found;
    const name = word.replaceAll(/^["']|["']$/g, "");
    if (found.length > 0 && (name.startsWith("-") || /^\d/.test(name) || name.startsWith("$"))) continue;
    found.push(name);
    if (!WRAPPERS.has(name) || index === words.length - 1) return found;
  }
  return found;
}

/** Commands of the shell itself, and programs that every POSIX system has. */
export const BASIC_PROGRAMS: ReadonlySet<string> = new Set(
  `. : [ [[ alias awk basename bg break cat cd chgrp chmod chown cksum cmp comm command continue cp cut date dd declare df diff dirname du echo env eval exec exit export
   expr false fg file find fold getopts grep hash head hostname id jobs join kill less let link ln local locale logger ls mkdir mkfifo mktemp more mv nice nl nohup od
   paste patch pathchk pr printf ps pwd read readonly return rm rmdir sed set sh shift sleep sort source split stat strings stty tail tar tee test time timeout touch tr trap true
   tty type typeset ulimit umask unalias uname uniq unset wait wc which who xargs yes openclaw`.split(/\s+/),
);
