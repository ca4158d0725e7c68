import { BadText, decodeText } from "./decode.ts";
import { evaluate, parseTree } from "./parse.ts";
import { SyntaxProblem, type Element, type SyntaxNode, type SyntaxRemark } from "./syntax.ts";

export type PathSegment = string | number;
export type ValuePath = readonly PathSegment[];

/** A place in a text; both count from 1. A column counts UTF-16 units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** What is wrong with a text, or worth a remark. */
export interface DocumentIssue extends Position {
  readonly code: "syntax" | SyntaxRemark["code"];
  readonly severity: "error" | "warning";
  readonly path: ValuePath;
  readonly message: string;
  readonly expected?: string;
}

/** A JSON5 text, its value and where everything stands. */
export interface ConfigDocument {
  /** Name of the file, for messages; empty for a text without one. */
  readonly file: string;
  readonly text: string;
  /** Undefined when the text does not parse. */
  readonly root: SyntaxNode | undefined;
  readonly value: unknown;
  readonly issues: readonly DocumentIssue[];
  /** Where the key (or array item) at `path` stands; undefined when the path is not in this text. */
  locate(path: ValuePath, part?: "key" | "value"): Position | undefined;
}

/** Parses a text, or the bytes of a file. Never throws: what is wrong is in `issues`. */
export function parseDocument(source: string | Uint8Array, file = ""): ConfigDocument {
  let text = "";
  try {
    text = typeof source === "string" ? source : decodeText(source);
    return documentOf(text, file, parseTree(text));
  } catch (error) {
    const problem = error instanceof BadText ? error.problem : error;
    if (!(problem instanceof SyntaxProblem)) throw error;
    const position = positionOf(error instanceof BadText ? error.before : text, problem.offset);
    const message = `JSON5 parse failed: ${problem.message} at ${position.line}:${position.column}; expected ${problem.expected}`;
    const issue: DocumentIssue = { ...position, code: "syntax", severity: "error", path: [], message, expected: problem.expected };
    return { file, text, root: undefined, value: undefined, issues: [issue], locate: () => undefined };
  }
}

function documentOf(text: string, file: string, root: SyntaxNode): ConfigDocument {
  const remarks: SyntaxRemark[] = [];
  const value = evaluate(root, remarks);
  const issues = remarks.map((remark) => {
    return { ...positionOf(text, remark.offset), code: remark.code, severity: "warning" as const, path: remark.path, message: remark.message };
  });
  return {
    file,
    text,
    root,
    value,
    issues,
    locate(path, part = "key") {
      const element = elementAt(root, path);
      if (!element) return undefined;
      return positionOf(text, part === "key" ? element.start : element.node.start);
    },
  };
}

/** The element at `path`; of keys given twice the last, which is the one that holds. */
export function elementAt(root: SyntaxNode, path: ValuePath): Element | undefined {
  let element: Element | undefined = { key: undefined, start: root.start, node: root, comma: undefined };
  for (const segment of path) {
    const node: SyntaxNode = element.node;
    if (node.kind === "scalar") return undefined;
    element = node.kind === "array" ? node.elements[Number(segment)] : node.elements.findLast((member) => member.key === String(segment));
    if (!element) return undefined;
  }
  return element;
}

/** Line and column of an offset. CR LF, CR and LF each end a line. */
export function positionOf(text: string, offset: number): Position {
  let line = 1;
  let lineStart = text.charCodeAt(0) === 0xfeff && offset > 0 ? 1 : 0;
  for (let at = 0; at < offset && at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code !== 0x0a && !(code === 0x0d && text.charCodeAt(at + 1) !== 0x0a)) continue;
    line += 1;
    lineStart = at + 1;
  }
  return { line, column: offset - lineStart + 1 };
}
