import type { Issue } from "./issues.ts";
import type { Hints } from "./model/hints.ts";
import type { Operation } from "./model/operations.ts";
import type { ValuePath } from "./model/path.ts";
import type { SchemaNode } from "./model/shape.ts";

/** What every field of the form knows of the whole. */
export interface Form {
  readonly root: SchemaNode;
  readonly hints: Hints;
  /** As it is edited. */
  readonly value: unknown;
  /** As the file is, secrets hidden. */
  readonly base: unknown;
  /** As it is in use, defaults included: what a key that is not set means. */
  readonly used: unknown;
  readonly issues: readonly Issue[];
  readonly onlySet: boolean;
  /** The text is no JSON5, or this browser may not change it. */
  readonly readonly: boolean;
  /** Shown and focused; another object each time it is asked for. */
  readonly target: { readonly path: ValuePath } | undefined;
}

/** Tells the page of a change; it bubbles through all fields above. */
export function tellEdit(from: EventTarget, operation: Operation): void {
  from.dispatchEvent(new CustomEvent("edit", { detail: operation, bubbles: true, composed: true }));
}
