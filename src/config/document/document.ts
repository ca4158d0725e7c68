import { BadText, decodeText } from "./decode.ts";
import { linesOf } from "./lines.ts";
import { evaluate, parseTree } from "./parse.ts";
import { SyntaxProblem, type ContainerNode, type Element, type SyntaxNode, type SyntaxRemark } from "./syntax.ts";
import { AppError } from "../../base/errors.ts";

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
    const position = linesOf(error instanceof BadText ? error.before : text).position(problem.offset);
    const message = `JSON5 parse failed: ${problem.message} at ${position.line}:${position.column}; expected ${problem.expected}`;
    const issue: DocumentIssue = { ...position, code: "syntax", severity: "error", path: [], message, expected: problem.expected };
    return { file, text, root: undefined, value: undefined, issues: [issue], locate: () => undefined };
  }
}

function documentOf(text: string, file: string, root: SyntaxNode): ConfigDocument {
  const remarks: SyntaxRemark[] = [];
  const value = evaluate(root, remarks);
  const lines = linesOf(text);
  const members = createMemberIndex();
  const issues = remarks.map((remark) => {
    return { ...lines.position(remark.offset), code: remark.code, severity: "warning" as const, path: remark.path, message: remark.message };
  });
  return {
    file,
    text,
    root,
    value,
    issues,
    locate(path, part = "key") {
      const element = elementAt(root, path, members);
      if (!element) return undefined;
      return lines.position(part === "key" ? element.start : element.node.start);
    },
  };
}

type MemberOf = (node: ContainerNode, key: string) => Element | undefined;

/** Finds members by key; each object is gone through once. */
function createMemberIndex(): MemberOf {
  const known = new WeakMap<ContainerNode, Map<string | undefined, Element>>();
  return (node, key) => {
    let members = known.get(node);
    if (!members) known.set(node, (members = new Map(node.elements.map((element) => [element.key, element]))));
    return members.get(key);
  };
}

/** The element at `path`; of keys given twice the last, which is the one that holds. */
export function elementAt(root: SyntaxNode, path: ValuePath, memberOf: MemberOf = createMemberIndex()): Element | undefined {
  let element: Element | undefined = { key: undefined, start: root.start, node: root, comma: undefined };
  for (const segment of path) {
    const node: SyntaxNode = element.node;
    if (node.kind === "scalar") return undefined;
    element = node.kind === "array" ? node.elements[Number(segment)] : memberOf(node, String(segment));
    if (!element) return undefined;
  }
  return element;
}

/** A value as typed on a command line: JSON5, or the text itself. With `strict`, what is not JSON5 is an error. */
export function parseValueText(text: string, options: { readonly strict?: boolean } = {}): unknown {
  const document = parseDocument(text);
  if (document.root) return document.value;
  if (options.strict) throw new AppError("INVALID_INPUT", document.issues[0]?.message ?? "not JSON5");
  return text;
}
