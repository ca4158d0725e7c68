/** The syntax tree of a JSON5 text: what stands where, by offset. */
export type SyntaxNode = ScalarNode | ContainerNode;

export type Scalar = string | number | boolean | null;

export interface ScalarNode {
  readonly kind: "scalar";
  readonly start: number;
  readonly end: number;
  readonly value: Scalar;
}

/** An object or an array. */
export interface ContainerNode {
  readonly kind: "object" | "array";
  readonly start: number;
  end: number;
  readonly elements: Element[];
}

/** A member of an object or an item of an array. */
export interface Element {
  /** The key; undefined in an array. */
  readonly key: string | undefined;
  /** Where the key starts, or the item in an array. */
  readonly start: number;
  readonly node: SyntaxNode;
  /** Offset of the comma behind it, if there is one. */
  comma: number | undefined;
}

/** Why a text is not JSON5, and where. */
export class SyntaxProblem extends Error {
  readonly offset: number;
  /** What would have been right there. */
  readonly expected: string;

  constructor(offset: number, message: string, expected: string) {
    super(message);
    this.offset = offset;
    this.expected = expected;
  }
}

/** A remark on a text that parses. */
export interface SyntaxRemark {
  readonly code: "duplicate_key" | "forbidden_key";
  readonly offset: number;
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Keys that never become properties of a value: assigning one would change an object's prototype. */
export const FORBIDDEN_KEY = "__proto__";
