import { parse, type AnyNode, type DocumentNode } from "@humanwhocodes/momoa";
import { dottedPath, type ValuePath } from "./path.ts";

/** Where a value stands in the text. Lines and columns begin at 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** A text that is JSON5, with the places of its values. */
export interface LocatedText {
  readonly value: unknown;
  /** By dotted path, as messages name them. A member's place begins at its key. */
  readonly places: ReadonlyMap<string, Place>;
  /** Text values with where they stand, quotes included. */
  readonly texts: readonly { readonly path: ValuePath; readonly text: string; readonly start: number; readonly end: number }[];
}

interface Found {
  readonly places: Map<string, Place>;
  readonly texts: { path: ValuePath; text: string; start: number; end: number }[];
}

function scalar(node: AnyNode): unknown {
  if (node.type === "String" || node.type === "Number" || node.type === "Boolean") return node.value;
  if (node.type === "NaN") return NaN;
  if (node.type === "Infinity") return node.sign === "-" ? -Infinity : Infinity;
  return null;
}

function read(node: AnyNode, path: ValuePath, from: AnyNode, found: Found): unknown {
  const { start } = from.loc;
  found.places.set(dottedPath(path), { line: start.line, column: start.column });
  if (node.type === "Object") {
    const entries = node.members.map((member) => {
      const key = member.name.type === "String" ? member.name.value : member.name.name;
      return [key, read(member.value, [...path, key], member, found)] as const;
    });
    return Object.fromEntries(entries);
  }
  if (node.type === "Array") return node.elements.map((element, at) => read(element.value, [...path, at], element.value, found));
  const value = scalar(node);
  if (typeof value === "string") found.texts.push({ path, text: value, start: node.loc.start.offset, end: node.loc.end.offset });
  return value;
}

/** Reads JSON5; undefined when the text is none. What is wrong with it the gateway says. */
export function readJson5(text: string): LocatedText | undefined {
  let document: DocumentNode;
  try {
    document = parse(text, { mode: "json5", ranges: true });
  } catch {
    return undefined;
  }
  const found: Found = { places: new Map(), texts: [] };
  const value = read(document.body, [], document.body, found);
  return { value, ...found };
}
