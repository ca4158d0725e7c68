import type { Lines } from "./lines.ts";
import type { ContainerNode, SyntaxNode } from "./syntax.ts";

/** How a text is written, so that what is added looks like it. */
export interface Style {
  readonly newline: string;
  /** One level of indentation. */
  readonly indent: string;
  readonly quote: '"' | "'";
  /** True when keys are written without quotes where they may be. */
  readonly bareKeys: boolean;
  readonly keyQuote: '"' | "'";
  readonly trailingComma: boolean;
}

interface Counts {
  bare: number;
  doubleKey: number;
  singleKey: number;
  double: number;
  single: number;
  trailing: number;
  untrailed: number;
  indent: string | undefined;
}

/** Reads the style off a text; for one without evidence: two spaces, double quotes, quoted keys, no trailing commas. */
export function styleOf(text: string, lines: Lines, root: SyntaxNode | undefined): Style {
  const counts: Counts = { bare: 0, doubleKey: 0, singleKey: 0, double: 0, single: 0, trailing: 0, untrailed: 0, indent: undefined };
  if (root) count(text, lines, root, counts);
  return {
    newline: /\r\n|\n|\r/.exec(text)?.[0] ?? "\n",
    indent: counts.indent ?? "  ",
    quote: counts.single > counts.double ? "'" : '"',
    bareKeys: counts.bare > counts.doubleKey + counts.singleKey,
    keyQuote: counts.singleKey > counts.doubleKey ? "'" : '"',
    trailingComma: counts.trailing > counts.untrailed,
  };
}

function count(text: string, lines: Lines, node: SyntaxNode, counts: Counts): void {
  if (node.kind === "scalar") {
    if (text[node.start] === "'") counts.single += 1;
    else if (text[node.start] === '"') counts.double += 1;
    return;
  }
  const [first] = node.elements;
  const last = node.elements.at(-1);
  if (first && last && isMultiline(text, node)) {
    if (last.comma === undefined) counts.untrailed += 1;
    else counts.trailing += 1;
    counts.indent ??= indentStep(lines, node.start, first.start);
  }
  for (const element of node.elements) {
    if (element.key !== undefined) {
      const quote = text[element.start];
      if (quote === '"') counts.doubleKey += 1;
      else if (quote === "'") counts.singleKey += 1;
      else counts.bare += 1;
    }
    count(text, lines, element.node, counts);
  }
}

function indentStep(lines: Lines, container: number, element: number): string | undefined {
  const outer = lines.indent(container);
  const inner = lines.indent(element);
  return inner.length > outer.length && inner.startsWith(outer) ? inner.slice(outer.length) : undefined;
}

/** True when the first element stands on a line of its own, below the opening bracket. */
export function isMultiline(text: string, node: ContainerNode): boolean {
  const first = node.elements[0];
  return /[\r\n]/.test(text.slice(node.start, first ? first.start : node.end));
}
